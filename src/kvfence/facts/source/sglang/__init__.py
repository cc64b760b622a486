"""Questions to SGLang's code, one a file."""
