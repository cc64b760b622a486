"""Where in a block of bytes a stem may stand: a search for many stems at once, at about the speed of memory.

Every stem has at least eleven bytes, so wherever it stands it covers two whole words of four bytes at multiples of
four. Which words these are depends on where the stem begins, modulo four: so each stem gives four pairs, its
*anchors*, one for each beginning. A block is looked at as numbers of four bytes, a quarter as many as bytes. All of
them are looked up in one table of first words, the few that are left in one table of pairs, and where a pair is an
anchor, the bytes around it are compared with the stems that have it. Of the pairs that a stem could give, those are
chosen that do not occur in the lines that servers print all the time, nor in the text that prompts hold.

NumPy does the looking up. Python's own ways were measured on the same block: `bytes.find` for each of 31 stems
43 MB/s, one regular expression for all 14 MB/s.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

WORD = 4
STEM_BYTES_MIN = 3 * WORD - 1
_SHORT = 16_384
"""Below this many bytes NumPy's own overhead is the larger part."""
_AT_ONCE = 16_384
"""Words that are hashed together: what is made of them is small enough to be kept by the processor and by malloc."""
_HASH_BITS = 16
_COMPARED = 20
"""How many times more a comparison costs than a look-up."""
_FIRST, _SECOND = 2_654_435_761, 2_246_822_519
"""Knuth's multiplier and one of xxHash's: the upper bits of the product depend on every bit of the word."""
_USUAL = b"""
[2026-12-01 13:18:55] INFO:     127.0.0.1:41738 - "POST /v1/chat/completions HTTP/1.1" 200 OK
[2026-12-01 13:18:55] INFO:     127.0.0.1:41738 - "POST /generate HTTP/1.1" 200 OK
[2026-12-01 13:18:55] INFO:     127.0.0.1:41738 - "GET /metrics HTTP/1.1" 200 OK
[2026-12-01 13:18:55 DP0 TP0 EP0] Prefill batch, #new-seq: 1, #new-token: 512, #cached-token: 0, token usage: 0.42, \
#running-req: 3, #queue-req: 0, #prealloc-req: 0, #inflight-req: 1, input throughput (token/s): 512.42,
[2026-12-01 13:18:55 TP0] Decode batch, #running-req: 12, #token: 512, token usage: 0.42, cuda graph: True, \
gen throughput (token/s): 512.42, #queue-req: 0, #transfer-req: 0, #retracted-req: 0, accept len: 2.1,
[2026-12-01 13:18:55] Receive: obj=GenerateReqInput(rid='8f07dfc0', text='', input_ids=None, sampling_params={})
(APIServer pid=1) INFO 12-01 13:18:55 [loggers.py:259] Engine 000: Avg prompt throughput: 512.4 tokens/s, Avg \
generation throughput: 98.1 tokens/s, Running: 3 reqs, Waiting: 0 reqs, GPU KV cache usage: 4.2%, Prefix cache hit \
rate: 61.0%, External prefix cache hit rate: 0.0%
(APIServer pid=1) INFO 12-01 13:18:55 [logger.py:40] Received request cmpl-8f07dfc0: prompt: '', params: \
SamplingParams(n=1, temperature=0.0, max_tokens=16), prompt_token_ids: None, lora_request: None.
(EngineCore_DP0 pid=9) INFO 12-01 13:18:55 [async_llm.py:261] Added request chatcmpl-8f07dfc0.
Please read the report below and explain with a few words what the customers asked for, which version of the service \
they were talking about, how long it took, how much it cost, and whether there were other problems with the model, the \
server or the system; then write a short letter to them in the same language, with a list of the next steps for each \
of the requests and the number of days that are left before the release of the next version is to be launched.
{"log":"","stream":"stderr","time":"2026-12-01T13:18:55.123456789Z","level":"INFO","message":""}
2026-12-01T13:18:55.123456789Z stdout F INFO: 127.0.0.1:41738 - "GET /health HTTP/1.1" 200 OK
"""
"""The kinds of lines that make up nearly all of a server's log, and the kind of text that its prompts hold."""


@dataclass(frozen=True, slots=True)
class Anchors:
    """The stems of a search, ready to be looked for in any number of blocks."""

    stems: tuple[bytes, ...]
    firsts: NDArray[np.bool_]
    """By hash: whether some anchor begins with a word of that hash."""
    pairs: NDArray[np.bool_]
    """By hash: whether some anchor has it."""
    stems_of: Mapping[bytes, tuple[tuple[bytes, int], ...]]
    """By anchor: the stems that have it, and how far behind the stem's first byte."""

    @classmethod
    def of(cls, stems: Sequence[bytes]) -> Anchors:
        """The anchors of these stems, each of at least eleven bytes."""
        import numpy as np  # noqa: PLC0415 — slow to import, and not needed for `--help`

        stems_of: dict[bytes, tuple[tuple[bytes, int], ...]] = {}
        for stem in stems:
            for place in _places(stem):
                pair = stem[place : place + 2 * WORD]
                stems_of[pair] = (*stems_of.get(pair, ()), (stem, place))
        first, second = np.frombuffer(b"".join(stems_of), dtype="<u4").reshape(-1, 2).T
        firsts, pairs = (np.zeros(1 << _HASH_BITS, dtype=bool) for _ in range(2))
        firsts[_hash(first)] = True
        pairs[_hash(first, second)] = True
        return cls(tuple(stems), firsts, pairs, stems_of)

    def stands_in(self, line: bytes) -> bool:
        """Whether any stem stands in these bytes."""
        return any(stem in line for stem in self.stems)

    def is_hit(self, body: bytes, at: int) -> bool:
        """Whether the suspect at that place is part of a stem."""
        anchor = self.stems_of.get(body[at : at + 2 * WORD], ())
        return any(at >= place and body.startswith(stem, at - place) for stem, place in anchor)

    def suspects(self, body: bytes) -> Iterator[int]:
        """Where an anchor may stand, in order; a few of these are none. Every stem in the body has one."""
        import numpy as np  # noqa: PLC0415 — the same

        words = np.frombuffer(body, dtype="<u4", count=len(body) // WORD)
        for start in range(0, len(words) - 1, _AT_ONCE):
            # The last word of a portion is the first of the next: a pair needs both.
            portion = words[start : start + _AT_ONCE + 1]
            places = np.flatnonzero(self.firsts.take(_hash(portion[:-1])))
            if len(places):
                places = places[self.pairs.take(_hash(portion[places], portion[places + 1]))]
            for place in places.tolist():
                yield (start + place) * WORD


def newlines(body: bytes, start: int, end: int) -> int:
    """How many lines end between two places; `bytes.count` is a sixth as fast on lines of usual length."""
    import numpy as np  # noqa: PLC0415 — the same

    if end - start < _SHORT:
        return body.count(b"\n", start, end)
    return int(np.count_nonzero(np.frombuffer(body, dtype=np.uint8, count=end - start, offset=start) == ord("\n")))


def _hash(first: NDArray[np.uint32], second: NDArray[np.uint32] | None = None) -> NDArray[np.uint32]:
    of = first.dtype.type
    product = first * of(_FIRST)
    if second is not None:
        product ^= second * of(_SECOND)
    return product >> of(32 - _HASH_BITS)


def _places(stem: bytes) -> Iterator[int]:
    """Where in a stem its four anchors are, one for each place modulo four at which the stem can begin."""
    if len(stem) < STEM_BYTES_MIN:
        raise ValueError(f"a stem of {len(stem)} bytes is too short to have an anchor everywhere: {stem!r}")
    for skipped in range(WORD):
        yield min(range(skipped, len(stem) - 2 * WORD + 1, WORD), key=partial(_usualness, stem))


def _usualness(stem: bytes, place: int) -> int:
    """What looking at the pair at that place costs: its first word is looked up, both of them are compared."""
    first, both = stem[place : place + WORD], stem[place : place + 2 * WORD]
    return _USUAL.count(first) + _COMPARED * _USUAL.count(both)
