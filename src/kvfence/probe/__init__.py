"""Content canaries against any OpenAI-compatible endpoint: my text and only mine, at every length claimed."""
