"""Start-up lines of engines, turned into facts; one file an engine."""
