"""Questions to the code of vLLM's NIXL connector, one a file.

vLLM's words are used here: a block is a page, and the side that reads is decode's.
"""
