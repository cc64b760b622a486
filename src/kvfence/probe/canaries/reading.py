"""Reading one answer on its way to the caller, whole or in chunks, and taking the marker out of it.

What arrives are the client's own objects, so nothing of the client is imported.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any

from kvfence.probe.canaries.stripping import Stripper, stripped
from kvfence.probe.canaries.watching import Call, Watch

READ_CHARS_MAX = 2**20
"""Of a stream; what comes behind it is passed on and not looked at."""


def read_whole(response: Any, call: Call, watch: Watch) -> None:
    """Judge a whole answer, and take the marker out of it."""
    try:
        choice = response.choices[0]
        content = choice.message.content
        text = content if isinstance(content, str) else ""
        if call.marker and text:
            choice.message.content = stripped(text, call.marker)  # even where telling of it fails
        watch.end(call, text, cut=choice.finish_reason != "stop", response_id=str(response.id or ""))
    except Exception as error:  # noqa: BLE001 — the answer is as it was
        watch.fault(error)


@dataclass(slots=True)
class Reading:
    """One stream."""

    call: Call
    watch: Watch
    _stripper: Stripper = field(init=False)
    _texts: list[str] = field(default_factory=list, init=False)
    _chars: int = field(default=0, init=False)
    _last: Any = field(default=None, init=False)
    """The last chunk with text, from which one for held-back text is made."""
    _id: str = field(default="", init=False)
    _finish: str | None = field(default=None, init=False)
    _ended: bool = field(default=False, init=False)
    _broken: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self._stripper = Stripper(self.call.marker)

    def chunk(self, chunk: Any) -> list[Any]:
        """What the caller gets for one chunk."""
        if self._broken:
            return [chunk]
        held = self._stripper.held
        delta, text = None, None
        try:
            if not chunk.choices:
                return [chunk]
            choice = chunk.choices[0]
            delta, text = choice.delta, choice.delta.content
            return self._of_choice(chunk, choice, text if isinstance(text, str) else None)
        except Exception as error:  # noqa: BLE001 — from here on nothing is touched
            self._broken = True
            self.watch.fault(error)
            if delta is not None and (held or text):
                delta.content = held + (text or "")
            return [chunk]

    def _of_choice(self, chunk: Any, choice: Any, text: str | None) -> list[Any]:
        self._finish = choice.finish_reason or self._finish
        self._id = self._id or str(chunk.id or "")
        if text is not None and self._chars < READ_CHARS_MAX:
            self._texts.append(text)
            self._chars += len(text)
        if not self.call.marker:
            return [chunk]
        before: list[Any] = []
        if text is not None:
            choice.delta.content = self._stripper.feed(text)
            self._last = chunk
        if choice.finish_reason and (rest := self._stripper.close()):
            if text is not None:
                choice.delta.content += rest
            else:
                before = [self._with(rest)]
        return [*before, chunk]

    def end(self, *, stopped: bool = False) -> list[Any]:
        """When nothing more comes, or the caller stopped: what is still held back."""
        if self._ended or self._broken:
            return []
        self._ended = True
        rest: list[Any] = []
        try:
            # Nothing of a broken stream is dropped but a whole carrier.
            if self.call.marker and (text := self._stripper.close()):
                rest = [self._with(text)]
            cut = stopped or self._finish != "stop"
            self.watch.end(self.call, "".join(self._texts), cut=cut, response_id=self._id)
        except Exception as error:  # noqa: BLE001 — the answer is as it was
            self.watch.fault(error)
        return rest

    def _with(self, text: str) -> Any:
        """A chunk like the last one, with this text."""
        made = copy.deepcopy(self._last)
        made.choices[0].delta.content = text
        made.choices[0].finish_reason = None
        return made
