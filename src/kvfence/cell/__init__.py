"""A real disaggregated server: router, prefill and decode workers, a paged pool, an OpenAI-compatible face."""
