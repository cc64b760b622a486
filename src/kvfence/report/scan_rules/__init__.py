"""What each finding of a scan means, one a file: its docstring is its page, which `kvfence explain` prints."""
