"""One rule a file, named like its id; its docstring is its page."""
