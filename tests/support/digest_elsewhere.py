"""Digests of random pools by torch and by Triton's interpreter, for a Python that has them: a program of its own.

    python digest_elsewhere.py SOURCE cases.npz

Prints one line a case: its digests by both.
"""

from __future__ import annotations

import json
import os
import sys
import types
from pathlib import Path

os.environ["TRITON_INTERPRET"] = "1"


def only_digest(source: Path) -> None:
    """Make `kvfence.engines.digest` importable where the rest of kvfence, and xxHash, need not be installed."""
    for name in ("kvfence", "kvfence.engines"):
        package = types.ModuleType(name)
        package.__path__ = [str(source.joinpath(*name.split(".")))]  # type: ignore[attr-defined]
        sys.modules[name] = package


def main() -> None:
    source, file = Path(sys.argv[1]), sys.argv[2]
    only_digest(source)
    import numpy as np  # noqa: PLC0415 — of that Python
    import torch  # noqa: PLC0415 — the same

    from kvfence.engines.digest import in_torch, in_triton  # noqa: PLC0415 — the same
    from kvfence.engines.digest.layout import Layer  # noqa: PLC0415 — the same

    with np.load(file, allow_pickle=False) as held:
        cases = json.loads(str(held["cases"]))
        for number, case in enumerate(cases):
            layers = []
            for index in range(case["layers"]):
                parts = [torch.from_numpy(held[f"{number}-{index}-{part}"].copy()) for part in range(case["parts"])]
                if case["heads_outside"]:
                    parts = [part.transpose(1, 2).contiguous().transpose(1, 2) for part in parts]
                layers.append(Layer(index=index, first_head=case["first_head"], parts=tuple(parts)))
            asked = {"tokens": case["tokens"], "seed": case["seed"]}
            print(json.dumps([way.digest_pages(layers, case["page_ids"], **asked) for way in (in_torch, in_triton)]))  # noqa: T201 — its answer


if __name__ == "__main__":
    main()
