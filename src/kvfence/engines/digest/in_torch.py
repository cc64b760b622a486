"""The digest in PyTorch's own operations, on whatever device the pool is: for devices without a kernel, and to compare.

It reads and writes several times what `in_triton` reads once.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from kvfence.engines.digest import xxh3
from kvfence.engines.digest.layout import Layer
from kvfence.engines.digest.mixing import HIGH, MIX_1, MIX_2, UNIT_BYTES_MIN, summed

Halves = tuple[torch.Tensor, torch.Tensor]


def digest_pages(
    layers: Sequence[Layer[torch.Tensor]], page_ids: Sequence[int], *, tokens: int, seed: int
) -> tuple[tuple[int, int], ...]:
    """As `on_cpu.digest_pages`."""
    return summed([_share(layer, page_ids, tokens, seed) for layer in layers])


def _share(layer: Layer[torch.Tensor], page_ids: Sequence[int], tokens: int, seed: int) -> list[tuple[int, int]]:
    filled = layer.filled_slots(tokens, len(page_ids))
    whole = tokens // layer.slots
    shares = _pages(layer, page_ids[:whole], seed, count=layer.slots, first=0) if whole else []
    return shares + (
        _pages(layer, page_ids[whole:], seed, count=filled[-1], first=whole) if whole < len(filled) else []
    )


def _pages(
    layer: Layer[torch.Tensor], page_ids: Sequence[int], seed: int, *, count: int, first: int
) -> list[tuple[int, int]]:
    """Pages that have the same number of tokens; the first of them is page `first` of the prompt."""
    rows = torch.cat([part[list(page_ids), :count] for part in layer.parts], dim=-1).transpose(1, 2)
    units = rows.reshape(len(page_ids) * layer.heads, -1)
    padded = torch.nn.functional.pad(units, (0, max(0, UNIT_BYTES_MIN - units.shape[1])))
    low, high = (half.view(len(page_ids), layer.heads) for half in hashed(padded.view(torch.int64), seed))
    place = _place(layer, seed, range(first, first + len(page_ids)), count, low.device)
    lows, highs = _mixed(low ^ place).sum(1), _mixed((high ^ place) + _signed(HIGH)).sum(1)
    return [(low & xxh3.MASK, high & xxh3.MASK) for low, high in zip(lows.tolist(), highs.tolist(), strict=True)]


def _place(layer: Layer[torch.Tensor], seed: int, pages: range, tokens: int, device: torch.device) -> torch.Tensor:
    place = _mixed(torch.full((1, 1), _signed(seed), device=device) ^ layer.index)
    place = _mixed(place ^ torch.arange(layer.first_head, layer.first_head + layer.heads, device=device)[None, :])
    return _mixed(_mixed(place ^ torch.arange(pages.start, pages.stop, device=device)[:, None]) ^ tokens)


def hashed(words: torch.Tensor, seed: int) -> Halves:
    """XXH3 with 128 bits of each row of 32 words and more: the lower and the upper halves, all as signed words."""
    keys = torch.tensor([_signed(word) for word in xxh3.key_words(seed)], device=words.device)
    stripes = words.view(words.shape[0], -1, xxh3.STRIPE_WORDS) if words.shape[1] % xxh3.STRIPE_WORDS == 0 else None
    total = words.shape[1] * 8
    full, in_last = (total - 1) // 1024, (total - 1) % 1024 // 64
    acc = torch.tensor([_signed(word) for word in xxh3.START], device=words.device).expand(words.shape[0], -1)
    for block in range(full + 1):
        count = xxh3.BLOCK_STRIPES if block < full else in_last
        at = block * xxh3.BLOCK_STRIPES
        some = (
            stripes[:, at : at + count]
            if stripes is not None
            else words[:, at * 8 : (at + count) * 8].reshape(words.shape[0], count, xxh3.STRIPE_WORDS)
        )
        acc = acc + _accumulated(
            some, torch.stack([keys[n : n + 8] for n in range(count)]) if count else keys[:0].view(0, 8)
        )
        if block < full:
            acc = (acc ^ _right(acc, 47) ^ keys[xxh3.SCRAMBLE_AT : xxh3.SCRAMBLE_AT + 8]) * xxh3.PRIME_32
    acc = acc + _accumulated(words[:, None, -8:], keys[None, xxh3.LAST_AT : xxh3.LAST_AT + 8])
    low, high = xxh3.starts_of(total)
    return _merged(acc, keys[xxh3.LOW_AT :][:8], low), _merged(acc, keys[xxh3.HIGH_AT :][:8], high)


def _accumulated(stripes: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
    keyed = stripes ^ keys
    products = (keyed & 0xFFFFFFFF) * _right(keyed, 32)
    swapped = stripes.unflatten(-1, (4, 2)).flip(-1).flatten(-2)
    return (products + swapped).sum(1)


def _merged(acc: torch.Tensor, keys: torch.Tensor, start: int) -> torch.Tensor:
    keyed = acc ^ keys
    result = _folded(keyed[:, 0::2], keyed[:, 1::2]).sum(1) + _signed(start)
    result = (result ^ _right(result, 37)) * xxh3.AVALANCHE
    return result ^ _right(result, 32)


def _folded(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """The halves of the product of 128 bits, one upon the other."""
    a, b = one & 0xFFFFFFFF, _right(one, 32)
    c, d = other & 0xFFFFFFFF, _right(other, 32)
    middle = _right(a * c, 32) + (a * d & 0xFFFFFFFF) + (b * c & 0xFFFFFFFF)
    upper = b * d + _right(a * d, 32) + _right(b * c, 32) + _right(middle, 32)
    return (one * other) ^ upper


def _mixed(words: torch.Tensor) -> torch.Tensor:
    words = (words ^ _right(words, 30)) * _signed(MIX_1)
    words = (words ^ _right(words, 27)) * _signed(MIX_2)
    return words ^ _right(words, 31)


def _right(words: torch.Tensor, bits: int) -> torch.Tensor:
    """A logical shift; torch's own keeps the sign."""
    return (words >> bits) & ((1 << (64 - bits)) - 1)


def _signed(word: int) -> int:
    return word - 2**64 if word >= 2**63 else word
