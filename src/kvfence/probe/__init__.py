"""Content canaries against any OpenAI-compatible endpoint: my text and only mine, at every length claimed."""

from kvfence.probe.drive import Options, run
from kvfence.probe.target import Bounds, Target, Tenant

__all__ = ["Bounds", "Options", "Target", "Tenant", "run"]
