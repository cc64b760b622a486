"""The digest on a CPU: xxHash over the bytes where they lie in one piece, else over a copy in the cache."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import xxhash

from kvfence.engines.digest.layout import Layer
from kvfence.engines.digest.mixing import UNIT_BYTES_MIN, bound, place_of, summed

Bytes = npt.NDArray[np.uint8]
BIG_ENDIAN = np.dtype(">u8")
"""As xxHash writes a digest: the upper half first."""


def digest_pages(
    layers: Sequence[Layer[Bytes]], page_ids: Sequence[int], *, tokens: int, seed: int
) -> tuple[tuple[int, int], ...]:
    """One digest a page, lower and upper half, of the `tokens` that lie in these pages in order.

    Raises:
        ValueError: as many pages as the tokens need are not named.
    """
    return summed([_share(layer, page_ids, tokens, seed) for layer in layers])


def _share(layer: Layer[Bytes], page_ids: Sequence[int], tokens: int, seed: int) -> list[tuple[int, int]]:
    filled = layer.filled_slots(tokens, len(page_ids))
    hashed = _in_one_piece(layer, page_ids, filled, seed) or _gathered(layer, page_ids, filled, seed)
    halves = np.frombuffer(b"".join(hashed), dtype=BIG_ENDIAN).astype(np.uint64).reshape(len(filled), layer.heads, 2)
    place = place_of(
        seed,
        layer=layer.index,
        heads=np.arange(layer.first_head, layer.first_head + layer.heads, dtype=np.uint64)[None, :],
        page=np.arange(len(filled), dtype=np.uint64)[:, None],
        tokens=np.array(filled, dtype=np.uint64)[:, None],
    )
    lows, highs = bound(halves[..., 1], halves[..., 0], place)
    return list(zip(lows.sum(axis=1).tolist(), highs.sum(axis=1).tolist(), strict=True))


def _in_one_piece(layer: Layer[Bytes], page_ids: Sequence[int], filled: Sequence[int], seed: int) -> list[bytes]:
    """Nothing where a unit's bytes do not lie in one piece."""
    part = layer.parts[0]
    in_page = part.swapaxes(1, 2)
    if len(layer.parts) > 1 or not in_page.flags.c_contiguous or layer.row_bytes * min(filled) < UNIT_BYTES_MIN:
        return []
    flat, digest = in_page.reshape(-1).data, xxhash.xxh3_128_digest
    head_bytes = layer.slots * layer.row_bytes
    starts = [page * layer.heads * head_bytes for page in page_ids]
    return [
        digest(flat[start + head : start + head + count * layer.row_bytes], seed)
        for start, count in zip(starts, filled, strict=True)
        for head in range(0, layer.heads * head_bytes, head_bytes)
    ]


def _gathered(layer: Layer[Bytes], page_ids: Sequence[int], filled: Sequence[int], seed: int) -> list[bytes]:
    """Page by page through a buffer of one page, which stays in the cache."""
    rows = np.empty((layer.heads, layer.slots, layer.row_bytes), dtype=np.uint8)
    ends = np.cumsum([part.shape[3] for part in layer.parts]).tolist()
    digest, hashed = xxhash.xxh3_128_digest, []
    for page, count in zip(page_ids, filled, strict=True):
        for part, end in zip(layer.parts, ends, strict=True):
            rows[:, :count, end - part.shape[3] : end] = part[page, :count].swapaxes(0, 1)
        for head in rows:
            unit = head[:count].reshape(-1)
            short = UNIT_BYTES_MIN - unit.nbytes
            hashed.append(digest((np.pad(unit, (0, short)) if short > 0 else unit).data, seed))
    return hashed
