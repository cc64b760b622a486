"""What each finding of a probe means, one a file: its docstring is its page, which `kvfence explain` prints."""
