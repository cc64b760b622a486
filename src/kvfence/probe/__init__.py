"""Content canaries against any OpenAI-compatible endpoint: my text and only mine, at every length claimed."""

from kvfence.probe.drive import run
from kvfence.probe.options import Options
from kvfence.probe.target import Bounds, Target, Tenant

__all__ = ["Bounds", "Options", "Target", "Tenant", "run"]
