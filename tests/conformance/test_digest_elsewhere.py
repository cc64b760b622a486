"""The digest by PyTorch, and by the GPU's kernel in Triton's interpreter, beside xxHash: bit for bit.

Needs a Python with torch and Triton, named by KVFENCE_VLLM_PYTHON; vLLM's has both.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from kvfence.engines.digest.layout import Layer
from kvfence.engines.digest.on_cpu import digest_pages

PYTHON = os.environ.get("KVFENCE_VLLM_PYTHON")
ROOT = Path(__file__).parents[2]
PROGRAM = ROOT / "tests" / "support" / "digest_elsewhere.py"

pytestmark = [
    pytest.mark.conformance,
    pytest.mark.skipif(not PYTHON, reason="KVFENCE_VLLM_PYTHON names no Python with torch and Triton"),
]

SHAPES = [
    # slots, heads, bytes of the rows of each part, tokens
    (16, 2, (256, 256), 40),  # bf16, 128 wide, keys and values apart
    (16, 8, (128,), 33),  # fp8, 64 and 64 wide, side by side
    (64, 1, (1152,), 100),  # latent attention, bf16, 512 and 64 wide
    (64, 1, (656,), 65),  # latent attention in fp8 with its scales
    (1, 4, (64, 64), 5),  # a page a token: units shorter than the shortest
    (128, 2, (128,), 129),  # a last page with one token
    (8, 1, (8,), 8),
    (32, 1, (200, 56), 31),  # rows that are no whole stripes
]


def test_torch_and_triton_give_the_same_digests_as_xxhash(tmp_path):
    """Over bf16, fp8 and byte pages of separate, joint and latent shapes, in pages in any order."""
    cases, arrays, want = [], {}, []
    random = np.random.default_rng(7)
    for number, (slots, heads, widths, tokens) in enumerate(SHAPES * 4):
        count = -(-tokens // slots)
        page_ids = random.permutation(count + 2)[:count].tolist()
        seed, first_head = int(random.integers(0, 2**64, dtype=np.uint64)), number % 5
        layers = []
        for index in range(2):
            shapes = [(count + 2, slots, heads, width) for width in widths]
            parts = tuple(random.integers(0, 256, shape, dtype=np.uint8) for shape in shapes)
            arrays |= {f"{number}-{index}-{part}": values for part, values in enumerate(parts)}
            layers.append(Layer(index=index, first_head=first_head, parts=parts))
        want.append([list(page) for page in digest_pages(layers, page_ids, tokens=tokens, seed=seed)])
        cases.append({"layers": 2, "parts": len(widths), "first_head": first_head, "tokens": tokens, "seed": seed,
                      "page_ids": page_ids, "heads_outside": number % 2 == 1})  # fmt: skip
    np.savez(tmp_path / "cases.npz", cases=json.dumps(cases), **arrays)
    command = [str(PYTHON), str(PROGRAM), str(ROOT / "src"), str(tmp_path / "cases.npz")]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr[-2000:]
    got = [json.loads(line) for line in ran.stdout.splitlines()]
    assert [by_torch for by_torch, _ in got] == want
    assert [by_triton for _, by_triton in got] == want
