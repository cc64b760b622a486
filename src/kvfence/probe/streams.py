"""How an answer is asked for as a stream, and what is left out where an endpoint is strict. No I/O."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

_USAGE: Mapping[str, object] = {"stream_options": {"include_usage": True}}
"""Without it OpenAI, vLLM and SGLang stream no usage; an endpoint that does not know it may refuse the request."""


@dataclass(slots=True)
class StreamFields:
    """The fields of a request whose answer is streamed."""

    _with_usage: bool = field(default=True, init=False)
    _was_answered: bool = field(default=False, init=False)

    @property
    def fields(self) -> dict[str, object]:
        """As the endpoint takes them, as far as is known."""
        return {"stream": True, **(_USAGE if self._with_usage else {})}

    def learn(self, *, refused: bool) -> bool:
        """Take over how a streamed request was answered; whether it is worth sending again with fewer fields."""
        again = refused and self._with_usage and not self._was_answered
        self._with_usage = self._with_usage and not again
        self._was_answered = self._was_answered or not refused
        return again
