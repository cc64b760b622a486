"""Whether an answer is about what was asked, beside its markers. Pure; markers are no business of this file.

Half a stale context often shows as drift into another language, paths or topics before a marker does. Every prompt is
the same kind of plain English, so what is about it can be told from what is not without a language model: by script, by
paths, and by words that stand in no prompt and are no polite frame around a list. What is met is never quoted, for it
may be somebody's text.
"""

from __future__ import annotations

import re
from functools import cache

from kvfence.probe.prompts import Recipe, build

_FRAME = frozenset(
    re.findall(
        r"\w+",
        "able above access actual again align also another answer appear appeared apologies apologize asked assist "
        "below canary cannot certainly code codes complete contain contained contains content copied copy correct "
        "could couldn course didn does doesn each exact exactly extracted finally find first follow following "
        "follows format found four five from full given happy have hello help here hold holds hope include included "
        "including instructed just know label labeled labels language like list listed match model more must need "
        "note once only order ordered original output please position present previous produce provide provided "
        "question repeat repeated repeating request requested require response rest result retrieve second "
        "semicolon semicolons separate separated sequence should show shown sorry stop such sure text thank thanks "
        "that their them then there these they this those three through unable understand unfortunately user using "
        "want were what when where which will with within without word words would write written your",
    )
)
"""What a right answer may be wrapped in, and what a model says that does not find the codes."""
_WORD = re.compile(r"[^\W\d_]{4,}")
_PATH = re.compile(r"(?:\b[A-Za-z]:\\|\w+://|(?<![\w/.])[~.]{0,2}/)[\w.-]+[/\\.]\w")
STRAY_WORDS_MAX = 11
"""Different words that are in no prompt; the frames of right answers that were met have three at most."""
STRAY_WORDS_IF_MOST = 4
"""So many are enough where they are most of what is said."""
OTHER_SCRIPT_LETTERS_MAX = 3
_LATIN_END = "\u024f"


def drift(text: str) -> str:
    """How a text leaves the topic of every prompt, in words; empty where it does not."""
    letters = sum(letter.isalpha() and letter > _LATIN_END for letter in text)
    if letters > OTHER_SCRIPT_LETTERS_MAX:
        return f"{letters} letters of another script than the prompt's"
    if paths := len(_PATH.findall(text)):
        return f"{paths} paths or addresses, of which the prompt has none"
    words = {word.lower() for word in _WORD.findall(text)}
    stray = len(words - _FRAME - _vocabulary())
    if stray > STRAY_WORDS_MAX or (stray >= STRAY_WORDS_IF_MOST and 2 * stray > len(words)):
        return f"{stray} words that are nowhere in the prompt"
    return ""


@cache
def _vocabulary() -> frozenset[str]:
    """The words of every prompt: one with some filler has them all."""
    prompt = build(Recipe(seed=0, tenant="", request=0, filler_chars=8000, depths=1), b"")
    return frozenset(word.lower() for word in _WORD.findall(prompt.text))
