"""Which past requests a scan is asked about. What is inside it is told by `scan`."""

from __future__ import annotations

from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """The requests that are asked about; all of them where nothing is set."""

    longer_than: int | None = None
    """Tokens of the prompt."""
    from_ms: int | None = None
    to_ms: int | None = None
    """Milliseconds since 1970, UTC; the end is outside."""
    model: str | None = None
    """A part of the model's name, in any case."""

    def filled_from(self, other: Window) -> Window:
        """This one, with the other's parts where it has none."""
        own = asdict(self)
        return Window(**{name: getattr(other, name) if value is None else value for name, value in own.items()})
