"""Text that stands nowhere else: drawn word by word from large vocabularies, quickly."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import islice

import numpy as np
import numpy.typing as npt

from support.scan_corpus.shelf import chunks, sentences

TABLE = 1 << 16
"""Entries of a vocabulary: common words stand in it often, so that drawing evenly draws them as often as they are."""
_WORDS, _MADE = 12_000, 4_000
_RANK_OFFSET = 12
_LETTERS = {
    "ru": "абвгдежзиклмнопрстуфхцчшщыьэюя",
    "uk": "абвгґдеєжзиіїклмнопрстуфхцчшщьюя",
    "zh_CN": "".join(map(chr, range(0x4E00, 0x4E00 + 2400))),
    "ja": "".join(map(chr, [*range(0x3042, 0x3094), *range(0x30A2, 0x30F4)])),
    "ko": "".join(map(chr, range(0xAC00, 0xAC00 + 1800))),
}
_UNSPACED = {"zh_CN", "ja"}
_SYLLABLES = [a + b for a in ("b", "br", "d", "f", "g", "k", "l", "m", "n", "p", "r", "s", "st", "t", "tr", "v", "z")
              for b in ("a", "ai", "e", "ei", "i", "o", "ou", "u", "an", "er", "is", "on")]  # fmt: skip
_CODE = (
    "    {} = {}.{}({}, {})\n",
    "    if {} > {}.{} and not {}:\n        return {}\n",
    "def {}({}: {}, {}: int = 0) -> {}:\n",
    "        self.{} = {}({}, key={}[{}])\n",
    "    # {} {} {} before {} {}\n",
    "    for {} in {}.{}({}.{}):\n",
    "        raise {}(f'{} {} {{{}}} {}')\n",
    "    assert {}({}) == {}.{}.{}\n",
)
_RECORDS = (
    "{:06d} INFO {} accepted {} from {} for {}\n",
    "{:06d};{};{};{};{}\n",
    '{{"line": {}, "account": "{}", "note": "{} {}", "by": "{}"}}\n',
    "[{:06d}] {} {}: {} -> {}\n",
)


class Words:
    """Fresh text of several kinds from one stream of chance."""

    def __init__(self, seed: int, public_bytes: int) -> None:
        self._drawn = np.random.default_rng(seed)
        self._english = _english(public_bytes)
        self._names = _names(public_bytes)

    def prose(self, size: int) -> str:
        """English sentences of so many characters, about."""
        return " ".join(self._some(self._english, size // 6 + 1))

    def foreign(self, language: str, size: int) -> str:
        """Sentences in another language."""
        unspaced = language in _UNSPACED
        return ("" if unspaced else " ").join(self._some(_foreign(language), size // (3 if unspaced else 7) + 1))

    def code(self, size: int) -> str:
        """Lines of a program."""
        names = iter(self._some(self._names, size // 8 + 5))
        shapes = self._some(_CODE, size // 40 + 1)
        return "".join([shape.format(*islice(names, 5)) for shape in shapes])

    def records(self, size: int) -> str:
        """Lines of a log or a table."""
        count = size // 45 + 1
        names, shapes = iter(self._some(self._names, count * 4)), self._some(_RECORDS, count)
        first = int(self._drawn.integers(1_000_000))
        return "".join([shape.format(first + at, *islice(names, 4)) for at, shape in enumerate(shapes)])

    def fresh(self, kind: str, size: int) -> str:
        """By the name of the kind: `prose`, `code`, `records` or a language."""
        match kind:
            case "prose":
                return self.prose(size)
            case "code":
                return self.code(size)
            case "records":
                return self.records(size)
            case _:
                return self.foreign(kind, size)

    def translated(self, text: str) -> str:
        """Each word as another language's word, always the same one; numbers and signs stay."""
        table = _foreign("de")
        return re.sub(r"[^\W\d_]{2,}", lambda word: table[_number(word[0]) % TABLE].strip(",.\n"), text)

    def _some(self, table: Sequence[str], count: int) -> list[str]:
        return [table[at] for at in self._drawn.integers(0, len(table), count, np.uint32).tolist()]


@cache
def _english(public_bytes: int) -> list[str]:
    counted = Counter(word for text in chunks(public_bytes)[:800] for word in re.findall(r"[A-Za-z]{2,14}", text))
    known = [word for word, _ in counted.most_common(_WORDS - _MADE)]
    return _table([*known, *_made("en", _MADE)], "en")


@cache
def _names(public_bytes: int) -> list[str]:
    parts = [word.lower().strip(",.\n") for word in _english(public_bytes)]
    second = np.random.default_rng(TABLE).permutation(TABLE).tolist()
    return [f"{one}_{parts[at]}" for one, at in zip(parts, second, strict=True)]


@cache
def _foreign(language: str) -> list[str]:
    return _table(_words_of(language), language)


def _number(word: str) -> int:
    return int.from_bytes(word.encode()[:8], "little") * 2_654_435_761 >> 7


def _words_of(language: str) -> list[str]:
    said = sentences(language)
    if language in _UNSPACED:
        found = [text[at : at + 2] for text in said for at in range(0, len(text) - 1, 2) if ord(text[at]) > 0x2FFF]
    else:
        found = re.findall(r"[^\W\d_]{2,}", " ".join(said))
    known = [word for word, _ in Counter(found).most_common(_WORDS - _MADE)]
    return [*known, *_made(language, _MADE)]


def _made(language: str, count: int) -> list[str]:
    chance = random.Random(language)
    letters = _LETTERS.get(language)
    if letters is None:
        return ["".join(chance.choices(_SYLLABLES, k=chance.randint(1, 4))) for _ in range(count)]
    few = (1, 2) if language in _UNSPACED | {"ko"} else (2, 9)
    return ["".join(chance.choices(letters, k=chance.randint(*few))) for _ in range(count)]


def _table(words: list[str], language: str) -> list[str]:
    """As often as words are: the n-th one as 1/(n + 12); every ninth ends a clause or a sentence."""
    chance = np.random.default_rng(len(language))
    weights: npt.NDArray[np.float64] = 1 / (np.arange(len(words)) + _RANK_OFFSET)
    drawn = chance.choice(len(words), TABLE, p=weights / weights.sum()).tolist()
    comma, stop = ("，", "。\n") if language in _UNSPACED else (",", ".\n")  # noqa: RUF001 — it is Chinese
    marks = [comma if at % 11 == 0 else stop if at % 23 == 0 else "" for at in range(TABLE)]
    return [words[number] + mark for number, mark in zip(drawn, marks, strict=True)]
