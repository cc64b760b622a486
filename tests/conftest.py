"""How properties are tried everywhere: without a deadline, since a busy machine is not a failure."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("kvfence", deadline=None)
settings.load_profile("kvfence")
