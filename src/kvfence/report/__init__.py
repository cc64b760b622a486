"""The only package that knows formats: terminal, JSON, HTML."""
