"""The digest as a kernel for GPUs: one program a page and head, which reads each byte of it once.

With `TRITON_INTERPRET=1` it runs without a GPU, slowly; that is how it is compared with `on_cpu` where there is none.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
import triton
import triton.language as tl

from kvfence.engines.digest import xxh3
from kvfence.engines.digest.layout import WORD_BYTES, Layer
from kvfence.engines.digest.mixing import HIGH, MIX_1, MIX_2, UNIT_BYTES_MIN, summed

_STRIPE = tl.constexpr(xxh3.STRIPE_WORDS)
_STRIPES = tl.constexpr(xxh3.BLOCK_STRIPES)
_SCRAMBLE_AT = tl.constexpr(xxh3.SCRAMBLE_AT)
_LAST_AT, _LOW_AT, _HIGH_AT = (tl.constexpr(at) for at in (xxh3.LAST_AT, xxh3.LOW_AT, xxh3.HIGH_AT))
_START_AT = 48
_STARTS_AT = tl.constexpr(_START_AT)
# Words of a table, as Triton takes an integer over 2**63 for one of another type.
_PRIME_32, _AVALANCHE, _MIX_1, _MIX_2, _HIGH, _PRIME_1, _PRIME_2, _SEED, _ONES = (
    tl.constexpr(56 + at) for at in range(9)
)


def digest_pages(
    layers: Sequence[Layer[torch.Tensor]], page_ids: Sequence[int], *, tokens: int, seed: int
) -> tuple[tuple[int, int], ...]:
    """As `on_cpu.digest_pages`; nothing waits for the device before all layers are under way."""
    device = layers[0].parts[0].device
    pages = torch.tensor(list(page_ids), dtype=torch.int64, device=device)
    table = _table(seed).to(device)
    shares = [_launched(layer, pages, tokens, table) for layer in layers]
    return summed([[(low & xxh3.MASK, high & xxh3.MASK) for low, high in share.sum(1).tolist()] for share in shares])


def _table(seed: int) -> torch.Tensor:
    words = [*xxh3.key_words(seed), *xxh3.START]
    words += [xxh3.PRIME_32, xxh3.AVALANCHE, MIX_1, MIX_2, HIGH, xxh3.PRIME_1, xxh3.PRIME_2, seed, xxh3.MASK]
    return torch.tensor([word - 2**64 if word >= 2**63 else word for word in words])


def _launched(layer: Layer[torch.Tensor], pages: torch.Tensor, tokens: int, table: torch.Tensor) -> torch.Tensor:
    layer.filled_slots(tokens, len(pages))
    first, last = (part.view(torch.int64) for part in (layer.parts[0], layer.parts[-1]))
    words = first.shape[3]
    out = torch.empty((len(pages), layer.heads, 2), dtype=torch.int64, device=pages.device)
    _unit[(len(pages), layer.heads)](
        first, last, pages, table, out,
        *first.stride()[:3], *last.stride()[:3],
        layer.index, layer.first_head, tokens, layer.slots,
        FIRST_WORDS=words, ROW_WORDS=layer.row_bytes // WORD_BYTES, WORDS_MIN=UNIT_BYTES_MIN // WORD_BYTES,
    )  # fmt: skip
    return out


@triton.jit
def _words(table, at):
    return tl.load(table + at).to(tl.uint64, bitcast=True)


@triton.jit
def _mixed(word, table):
    word = (word ^ (word >> 30)) * _words(table, _MIX_1)
    word = (word ^ (word >> 27)) * _words(table, _MIX_2)
    return word ^ (word >> 31)


@triton.jit
def _accumulated(data, keys):
    keyed = data ^ keys
    products = tl.sum((keyed & 0xFFFFFFFF) * (keyed >> 32), 0)
    even, odd = tl.split(tl.reshape(tl.sum(data, 0), (_STRIPE // 2, 2)))
    return products + tl.reshape(tl.join(odd, even), (_STRIPE,))


@triton.jit
def _merged(acc, keys, start, table):
    one, other = tl.split(tl.reshape(acc ^ keys, (_STRIPE // 2, 2)))
    result = start + tl.sum((one * other) ^ tl.umulhi(one, other), 0)
    result = (result ^ (result >> 37)) * _words(table, _AVALANCHE)
    return result ^ (result >> 32)


@triton.jit
def _read(first, last, word, words, f_slot, l_slot, FIRST_WORDS: tl.constexpr, ROW_WORDS: tl.constexpr):
    slot, at = word // ROW_WORDS, word % ROW_WORDS
    of_first = tl.load(first + slot * f_slot + at, mask=(word < words) & (at < FIRST_WORDS), other=0)
    of_last = tl.load(last + slot * l_slot + at - FIRST_WORDS, mask=(word < words) & (at >= FIRST_WORDS), other=0)
    return (of_first | of_last).to(tl.uint64, bitcast=True)


@triton.jit
def _unit(
    first, last, pages, table, out,
    f_page, f_slot, f_head, l_page, l_slot, l_head,
    layer, first_head, tokens, slots,
    FIRST_WORDS: tl.constexpr, ROW_WORDS: tl.constexpr, WORDS_MIN: tl.constexpr,
):  # fmt: skip
    page, head = tl.program_id(0), tl.program_id(1)
    at = tl.load(pages + page)
    first += at * f_page + head * f_head
    last += at * l_page + head * l_head
    count = tl.minimum(slots, tokens - page * slots)
    words = count * ROW_WORDS
    total = tl.maximum(words, WORDS_MIN)
    lane, stripe = tl.arange(0, _STRIPE), tl.arange(0, _STRIPES)
    tile = stripe[:, None] * _STRIPE + lane[None, :]
    keys = _words(table, stripe[:, None] + lane[None, :])
    acc = _words(table, _STARTS_AT + lane)
    blocks = (total - 1) // (_STRIPES * _STRIPE)
    for block in range(blocks):
        data = _read(first, last, block * _STRIPES * _STRIPE + tile, words, f_slot, l_slot, FIRST_WORDS, ROW_WORDS)
        acc += _accumulated(data, keys)
        acc = (acc ^ (acc >> 47) ^ _words(table, _SCRAMBLE_AT + lane)) * _words(table, _PRIME_32)
    left = (total * 8 - 1) % (_STRIPES * _STRIPE * 8) // (_STRIPE * 8)
    data = _read(first, last, blocks * _STRIPES * _STRIPE + tile, words, f_slot, l_slot, FIRST_WORDS, ROW_WORDS)
    within = stripe[:, None] < left
    acc += _accumulated(tl.where(within, data, 0), tl.where(within, keys, 0))
    data = _read(first, last, total - _STRIPE + lane[None, :], words, f_slot, l_slot, FIRST_WORDS, ROW_WORDS)
    acc += _accumulated(data, _words(table, _LAST_AT + lane)[None, :])
    size = (total * 8).to(tl.uint64)
    low = _merged(acc, _words(table, _LOW_AT + lane), size * _words(table, _PRIME_1), table)
    high = _merged(acc, _words(table, _HIGH_AT + lane), (size * _words(table, _PRIME_2)) ^ _words(table, _ONES), table)
    place = _mixed(_words(table, _SEED) ^ layer.to(tl.uint64), table)
    place = _mixed(place ^ (first_head + head).to(tl.uint64), table)
    place = _mixed(_mixed(place ^ page.to(tl.uint64), table) ^ count.to(tl.uint64), table)
    to = out + (page * tl.num_programs(1) + head) * 2
    tl.store(to, _mixed(low ^ place, table).to(tl.int64, bitcast=True))
    tl.store(to + 1, _mixed((high ^ place) + _words(table, _HIGH), table).to(tl.int64, bitcast=True))
