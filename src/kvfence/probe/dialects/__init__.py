"""The kinds of endpoint that a probe can speak to, one dialect a file."""
