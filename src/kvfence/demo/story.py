"""The whole demo: the incident under the old rules, the same under the fence, and every layer alone."""

from __future__ import annotations

import random
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from kvfence.cell.ablation import Trial, run_ablation
from kvfence.core.rules import FENCED, PLACEHOLDER
from kvfence.demo.incident import Act, Say, run_act
from kvfence.demo.sizes import LENGTHS, Lengths, Size
from kvfence.errors import UsageError

CLIENT_ERRORS = range(400, 500)


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """All that was seen."""

    size: Size
    lengths: Lengths
    placeholder: Act
    fenced: Act
    ablation: tuple[Trial, ...]
    seconds: float

    @property
    def as_promised(self) -> bool:
        """Whether this run showed what the demo promises to show; a test and the exit code ask."""
        return (
            self.placeholder.leaked
            and self.placeholder.asker.status == 200  # noqa: PLR2004 — HTTP's success
            and self.placeholder.probe.verdict == "leak"
            and not self.fenced.leaked
            and self.fenced.asker.status in CLIENT_ERRORS
            and self.fenced.probe.verdict == "clean"
        )


def checked_size(text: str) -> Size:
    """The size of that name. Raises `UsageError`."""
    try:
        return Size(text)
    except ValueError:
        raise UsageError(f"--size '{text}' is unknown; there are: {', '.join(Size)}") from None


def tell(size: Size, seed: int, say: Say) -> Story:
    """Run all of it. `seed` decides secrets and documents; nothing else here is left to chance."""
    started = time.perf_counter()
    rng = random.Random(seed)  # noqa: S311 — invented secrets, and a run that can be repeated
    lengths = LENGTHS[size]
    with tempfile.TemporaryDirectory(prefix="kvfence-demo-") as folder:
        say("act one, rules 'placeholder': what engines did until it was found")
        placeholder = run_act(PLACEHOLDER, lengths, rng, Path(folder), say)
        say("act two, rules 'fenced': the same cell, the same customers")
        fenced = run_act(FENCED, lengths, rng, Path(folder), say)
    say("act three: every fault with every layer alone")
    ablation = tuple(run_ablation(rng))
    return Story(
        size=size,
        lengths=lengths,
        placeholder=placeholder,
        fenced=fenced,
        ablation=ablation,
        seconds=time.perf_counter() - started,
    )
