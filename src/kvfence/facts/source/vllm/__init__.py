"""Questions to the code of vLLM's NIXL connector, one a file."""
