"""Traffic of many tenants with leaks whose truth is known. The same seed on the same machine gives the same bytes."""
