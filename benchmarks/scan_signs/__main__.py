"""How often each sign of lost context is right: the scales of `kvfence scan` and the figures of docs/scan-signs.md.

    python benchmarks/scan_signs [WHEEL]

Real text of this machine is made into exchanges; a tenth of them are then answered wrongly, in the ways that were seen
where context was lost. Scales come from one half of the texts, figures from the other; the halves share no document,
no wording and no name. The counts of tokens are those of the tokenizers inside litellm's wheel, as in
`benchmarks/token_counts.py`; it is fetched where none is given. Needs `tokenizers` and `tiktoken`. Some minutes.
"""

from __future__ import annotations

import itertools
import json
import platform
import sys
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(1, str(HERE.parent))

from exchanges import LIMIT, LOST_SHARE, Labelled, Maker  # noqa: E402 — the path is set above
from measure import figures, scale_of, together  # noqa: E402 — the same
from texts import Passage, passages  # noqa: E402 — the same
from token_counts import counts_in, fetched  # noqa: E402 — the same

from kvfence.scan.signs.catalogue import looks  # noqa: E402 — the same
from kvfence.scan.signs.lengths import byte_count, tokens_least  # noqa: E402 — the same

STORED = HERE.parent.parent / "src" / "kvfence" / "scan" / "signs" / "calibration.json"
COUNT = 3_000
SEEDS = (1, 2)
"""Of the half that scales are made of, and of the half that is held out."""


def main() -> None:
    """Make both halves, measure, store."""
    texts = passages()
    counts = _counts()
    print(f"{len(texts):,} passages")
    making, held_out = (
        Maker(texts, held_out=bool(half), seed=seed).labelled(COUNT, _in_turn(counts))
        for half, seed in enumerate(SEEDS)
    )
    seen = looks(LIMIT)
    scales = {kind: scale_of(kind, look, making) for kind, look in seen.items()}
    document: dict[str, Any] = {
        "scales": {kind: asdict(scale) for kind, scale in scales.items()},
        "set": _said_of(texts) | {"exchanges_a_half": COUNT, "lost_share": LOST_SHARE, "seeds": list(SEEDS)},
        "held_out": {kind: figures(kind, look, scales[kind], held_out) for kind, look in seen.items()},
        "by_way": together(seen, scales, held_out),
        "lengths": _lengths(held_out),
        "speed": _speed(seen, held_out),
    }
    STORED.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(json.dumps(document, indent=1))


def _counts() -> dict[str, Callable[[str], int]]:
    with tempfile.TemporaryDirectory() as folder:
        wheel = Path(sys.argv[1]) if len(sys.argv) > 1 else fetched("litellm", Path(folder))
        with zipfile.ZipFile(wheel) as archive:
            return counts_in(archive)


def _in_turn(counts: dict[str, Callable[[str], int]]) -> Callable[[str], int]:
    turns = itertools.cycle(counts.values())

    def count(text: str) -> int:
        return next(turns)(text)

    return count


def _said_of(texts: list[Passage]) -> dict[str, Any]:
    by_genre = Counter((text.genre, text.language, text.is_held_out) for text in texts)
    return {
        "machine": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
        "passages": [
            {"genre": genre, "language": language, "held_out": held, "passages": count}
            for (genre, language, held), count in sorted(by_genre.items())
        ],
    }


def _lengths(labelled: list[Labelled]) -> dict[str, Any]:
    """How far the bounds of `lengths.py` are from real counts."""
    ratios = sorted(byte_count(one.told.prompt) / one.tokens for one in labelled)
    under = sum(one.tokens < tokens_least(one.told.prompt) - 1 for one in labelled)
    return {
        "prompts": len(ratios),
        "bytes_per_token": {
            "least": round(ratios[0], 2),
            "median": round(ratios[len(ratios) // 2], 2),
            "most": round(ratios[-1], 2),
        },
        "fewer_than_the_least": under,
    }


def _speed(seen: dict[str, Any], labelled: list[Labelled]) -> dict[str, float]:
    """MB of prompts and answers a second, one core, texts already in memory."""
    size = sum(byte_count(one.told.prompt) + byte_count(one.told.answer) for one in labelled) / 1e6
    found = {}
    for kind, look in seen.items():
        began = time.process_time()
        for one in labelled:
            look(one.told)
        found[kind] = round(size / (time.process_time() - began), 1)
    return found


if __name__ == "__main__":
    main()
