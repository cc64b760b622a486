"""How an answer is asked for as a stream, and what is left out where an endpoint is strict. No I/O."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(slots=True)
class StreamFields:
    """The fields of a request whose answer is streamed."""

    usage: Mapping[str, object]
    """What asks for usage at the stream's end, as the dialect has it; empty where it comes anyway."""
    _with_usage: bool = field(default=True, init=False)
    _was_answered: bool = field(default=False, init=False)

    @property
    def fields(self) -> dict[str, object]:
        """As the endpoint takes them, as far as is known."""
        return {"stream": True, **(self.usage if self._with_usage else {})}

    def learn(self, *, refused: bool) -> bool:
        """Take over how a streamed request was answered; whether it is worth sending again with fewer fields."""
        again = refused and bool(self.usage) and self._with_usage and not self._was_answered
        self._with_usage = self._with_usage and not again
        self._was_answered = self._was_answered or not refused
        return again
