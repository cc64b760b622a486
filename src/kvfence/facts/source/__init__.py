"""An installed engine's source tree: which fixes are in it, by what its code does. Read, never imported or run."""
