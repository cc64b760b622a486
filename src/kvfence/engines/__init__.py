"""The fence inside engines that people run, and what it is made of: docs/spec/ has what another engine needs of it."""
