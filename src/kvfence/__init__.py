"""kvfence keeps one tenant's KV cache out of another tenant's answer."""

__version__ = "0.1.0"
