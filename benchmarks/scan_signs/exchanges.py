"""Labelled exchanges: right answers, and answers that lost their context in the ways that were seen."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass, replace

import wordings as of
from texts import Passage

from kvfence.scan.signs.told import Told

LIMIT = 8192
"""Tokens: what the made deployment holds. Only the ratio to a prompt matters, so it is small."""
LOST_SHARE = 0.1
SENTENCES = re.compile("(?<=[.!?\u3002\uff01\uff1f\u061f])\\s*")
"""Ends of sentences, of Chinese, Japanese and Arabic as well."""


@dataclass(frozen=True, slots=True)
class Made:
    """A right exchange."""

    language: str
    prompt: str
    answer: str
    carries: frozenset[str] = frozenset()
    """Kinds of strangers that its answer would bring to somebody else."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """An exchange and what is true of it."""

    told: Told
    lost: str
    """The way in which its context was lost; empty where the answer is right."""
    about: frozenset[str]
    """The signs that its answer gives cause for."""
    tokens: int
    """Of the prompt, by a real tokenizer."""

    def is_right(self, kind: str) -> bool:
        """Whether a sign of this kind is right here."""
        if kind == "usage-disagrees":
            return self.told.prompt_tokens != self.tokens
        if kind == "past-limit":
            return self.tokens > LIMIT
        return bool(self.lost)

    def is_cause_for(self, kind: str) -> bool:
        """Whether a sign of this kind should be seen."""
        return self.is_right(kind) if kind in {"usage-disagrees", "past-limit"} else kind in self.about


class Maker:
    """Makes exchanges of one half of the texts and wordings."""

    def __init__(self, texts: list[Passage], *, held_out: bool, seed: int) -> None:
        self._half = int(held_out)
        self._random = random.Random(seed)
        mine = [text for text in texts if text.is_held_out == held_out]
        self._prose: dict[str, list[Passage]] = {}
        for text in mine:
            if text.language != "code":
                self._prose.setdefault(text.language, []).append(text)
        self._code = [text for text in mine if text.language == "code"]
        self._parallel = [text for text in mine if text.english]
        self._languages = [*sorted(self._prose), "en", "en", "en"]

    def labelled(self, count: int, tokens_of: Callable[[str], int]) -> list[Labelled]:
        """So many, a tenth of them lost."""
        return [self._one(tokens_of) for _ in range(count)]

    def _one(self, tokens_of: Callable[[str], int]) -> Labelled:
        made = self._made()
        lost, about, answer = "", frozenset[str](), made.answer
        if self._random.random() < LOST_SHARE:
            lost, about, answer = self._lost(made)
        tokens = max(1, tokens_of(made.prompt))
        told = Told(prompt=made.prompt, prompt_is_whole=True, answer=answer, prompt_tokens=tokens)
        if lost and self._random.random() < 0.5:  # noqa: PLR2004 — in half of them the count is wrong as well
            wrong = 1 if self._random.random() < 0.5 else max(1, tokens_of(self._made().prompt))  # noqa: PLR2004
            told = replace(told, prompt_tokens=wrong)
        return Labelled(told, lost, about, tokens)

    def _made(self) -> Made:
        ways = (self._asked, self._on_document, self._edit, self._agent, self._mail, self._translated, self._short)
        weights = (30, 24, 12, 16, 8, 5, 5)
        if self._random.random() < 0.02:  # noqa: PLR2004 — few ask for anything at all
            return self._open()
        return self._random.choices(ways, weights)[0]()

    def _lost(self, made: Made) -> tuple[str, frozenset[str], str]:
        way = self._random.choice(("continues", "other answer", "other language", "session", "half way", "blank"))
        if way == "blank":
            return way, frozenset(), self._random.choice(of.BLANK)
        other = self._agent() if way == "session" else self._made()
        while way == "other language" and other.language == made.language:
            other = self._made()
        text = other.answer
        if way == "continues":
            rest = other.prompt[self._random.randrange(len(other.prompt)) :]
            text = f"{rest[-1500:]}\n{other.answer}"
        elif way == "half way":
            text = f"{made.answer[: len(made.answer) // 3]}{text}"
        about = set(other.carries) if other.prompt != made.prompt else set()
        if way != "half way":
            about.add("off-topic")
            if other.language != made.language:
                about.add("language")
        return way, frozenset(about), text

    def _system(self) -> str:
        return self._random.choice(of.SYSTEMS[self._half])

    def _passage(self) -> Passage:
        return self._random.choice(self._prose[self._random.choice(self._languages)])

    def _asked(self) -> Made:
        passage = self._passage()
        question = self._random.choice(of.QUESTIONS[self._half][passage.language]).format(t=passage.title)
        return Made(passage.language, f"{self._system()}\n{question}".strip(), passage.text)

    def _on_document(self) -> Made:
        first = self._passage()
        others = self._prose[first.language]
        pieces = [first, *self._random.choices(others, k=int(2 ** self._random.uniform(1, 6.5)))]
        asked = self._random.choice(pieces)
        document = "\n\n".join(f"{piece.title}\n{piece.text}" for piece in pieces)
        question = of.ON_DOCUMENT[self._half][first.language].format(t=asked.title)
        sentences = [one for one in SENTENCES.split(asked.text) if one]
        some = self._random.sample(sentences, min(len(sentences), self._random.randint(1, 4)))
        return Made(first.language, f"{self._system()}\n{document}\n{question}".strip(), " ".join(some))

    def _edit(self) -> Made:
        code = self._random.choice(self._code)
        question = self._random.choice(of.EDITS[self._half]).format(t=code.title.split(".")[-1])
        answer = f"```python\n{code.text}\n```\nThe function keeps its arguments."
        return Made("en", f"{self._system()}\n{question}\n\n{code.text}".strip(), answer)

    def _agent(self) -> Made:
        person, machine = self._random.choice(of.PEOPLE[self._half]), self._random.choice(of.MACHINES[self._half])
        team, code = self._random.choice(of.TEAMS[self._half]), self._random.choice(self._code)
        module, name = code.title.split(".", 1)
        root = self._random.choice(
            (
                f"/home/{person}/src",
                f"/Users/{person}/code",
                f"/mnt/{team}/jobs",
                f"C:\\Users\\{person}\\repos",
                "/workspace/app",
            )
        )
        file = "\\".join((root, module, f"{name}.py")) if "\\" in root else f"{root}/{module}/{name}.py"
        task = self._random.choice(of.EDITS[self._half]).format(t=name)
        shell = f"{person}@{machine}:~$ " if root.startswith("/home") else "$ "
        seen = f"{shell}cat {file}\n{code.text}"
        prompt = f"You are a coding agent.\nWorking directory: {root}\n{task}\n{seen}"
        said = (f"I read `{file}` and changed it.", f"Edited {file}:", f"The change is in `{name}`.")
        answer = f"{self._random.choice(said)}\n```python\n{code.text[:800]}\n```"
        if self._random.random() < 0.3:  # noqa: PLR2004 — some repeat what they ran
            answer += f"\n{shell}python -m pytest {file}"
        carries = {"stranger-paths"} if file in answer and not root.startswith("/workspace") else set()
        return Made(
            "en",
            prompt,
            answer,
            frozenset(carries | ({"stranger-paths"} if "@" in shell and shell in answer else set())),
        )

    def _mail(self) -> Made:
        passage = self._random.choice(self._prose[self._random.choice(("en", "de", "fr", "es"))])
        person, company = self._random.choice(of.PEOPLE[self._half]), self._random.choice(of.COMPANIES[self._half])
        street, address = self._random.choice(of.STREETS[self._half]), f"{person}@{company}"
        question = self._random.choice(of.QUESTIONS[self._half][passage.language]).format(t=passage.title)
        prompt = f"{self._system()}\nFrom: {address}\nhttps://portal.{company}/t/{self._random.randrange(9999)}\n{street}\n\n{question}"
        tail = self._random.choice((f"\nTo: {address}", f"\n{street}", f"\nhttps://portal.{company}", ""))
        return Made(
            passage.language, prompt.strip(), passage.text + tail, frozenset({"stranger-addresses"} if tail else ())
        )

    def _translated(self) -> Made:
        passage = self._random.choice(self._parallel)
        asked = of.TRANSLATE[self._half][passage.language]
        return Made(passage.language, f"{self._system()}\n{asked}\n{passage.english}".strip(), passage.text)

    def _short(self) -> Made:
        question, answer = self._random.choice(of.SHORT[self._half])
        return Made("en", f"{self._system()}\n{question.format(t=self._passage().title)}".strip(), answer)

    def _open(self) -> Made:
        question = self._random.choice(of.OPEN[self._half])
        return Made("en", f"{self._system()}\n{question}".strip(), self._random.choice(self._prose["en"]).text)
