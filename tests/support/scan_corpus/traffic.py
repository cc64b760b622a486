"""The traffic itself: what tenants ask and what they are answered, in the order of time, without an end."""

from __future__ import annotations

import random
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from support.scan_corpus.bodies import SHAPE_WEIGHTS, SHAPES
from support.scan_corpus.draft import Draft
from support.scan_corpus.phrases import MODELS, OPENINGS, PHRASES
from support.scan_corpus.plan import Kind, Plan, Truth
from support.scan_corpus.planting import Planting, credential
from support.scan_corpus.shelf import LANGUAGES, chunks
from support.scan_corpus.words import Words

BEGAN_S = 1_787_800_000.0
SYSTEMS, FAMOUS, QUESTIONS = 8, 40, 40
MANY_TENANTS = 12
"""A text that so many have quoted so far is known to be public by the log alone."""
PROMPT_MAX, TRANSCRIPT_MAX = 44, 33
"""Times the middle size of a prompt: so long are the longest ones."""
PIECE_OF_PROMPT = 1100
LONG_CHARS = 2_900_000
LONG_FROM_BYTES = 64 << 20
"""A corpus of this size has prompts past the incident's limit too."""
ANSWER_CHARS, ANSWER_CHARS_MAX = 700, 16_000
SESSIONS, TURNS_MAX = 24, 14
_NOT_AGAIN = {Kind.PHRASE, Kind.RECITED, Kind.RECITED_RARE, Kind.SAME_QUESTION, Kind.RESENT}
"""What no retry repeats, so that of a retry nothing but its own is told."""
_KINDS = ("prose", "prose", "code", "code", "records")


@dataclass(slots=True)
class _Tenant:
    name: str
    model: str
    system: str
    kinds: tuple[str, ...]
    last: Draft | None = None
    asked: int = 0


@dataclass(slots=True)
class _Session:
    tenant: _Tenant
    name: str
    turns: list[tuple[str, str]]
    last: Draft | None = None
    """Whose answer the next turn repeats, also where somebody else's text was put into it."""


class Traffic:
    """A stream of exchanges and of what is known of them."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._chance = random.Random(plan.seed)
        self._words = Words(plan.seed, plan.public_bytes)
        self._public = chunks(plan.public_bytes)
        self._planting = Planting(plan, self._words, self._chance)
        self._at_s = BEGAN_S
        self._count = 0
        systems = [self._words.prose(400 + 300 * number) for number in range(SYSTEMS)]
        self._tenants = [self._tenant(number, systems) for number in range(plan.tenants)]
        self._by_name = {tenant.name: tenant for tenant in self._tenants}
        self._questions = [(self._words.prose(120), self._words.prose(500)) for _ in range(QUESTIONS)]
        self._quoted_by: dict[int, set[str]] = defaultdict(set)
        self._sessions: deque[_Session] = deque()
        self._rare: deque[tuple[str, str]] = deque(maxlen=30)

    def exchanges(self) -> Iterator[tuple[Draft, list[Truth]]]:
        """One after the other."""
        makes: dict[Callable[[_Tenant], tuple[Draft, Kind | None]], int] = {
            self._chat: 30,
            self._document: 18,
            self._agent: 14,
            self._quoting: 5,
            self._retry: 4,
            self._earlier: 4,
            self._rare_document: 4,
            self._same_question: 4,
            self._refused: 2,
            self._recited: 2,
        }
        each, weights = [*makes], [*makes.values()]
        while True:
            tenant = self._tenants[int(len(self._tenants) * self._chance.random() ** 1.7)]
            self._at_s += self._chance.expovariate(2.0)
            self._count += 1
            draft, kind = self._chance.choices(each, weights)[0](tenant)
            leak = self._planting.plant(draft)
            self._planting.remember(draft)
            if draft.status == 200 and leak is None and kind not in _NOT_AGAIN:
                self._by_name[draft.tenant].last = draft  # an agent's next turn may be another tenant's
            innocent = [Truth(kind=kind, response_id=draft.id, tenant=draft.tenant)] if kind else []
            yield draft, [*([leak] if leak else []), *innocent]

    def _tenant(self, number: int, systems: list[str]) -> _Tenant:
        language = LANGUAGES[number % len(LANGUAGES)]
        kinds = (*_KINDS, language, language) if number % 3 == 0 else _KINDS
        system = systems[int(SYSTEMS * self._chance.random() ** 2)]
        if number % 4 == 0:
            system += "\n" + self._words.prose(300)
        return _Tenant(f"tenant-{number:04d}", MODELS[number % len(MODELS)], system, kinds)

    def _draft(self, tenant: _Tenant, asked: str, answer: str, *private: str) -> Draft:
        tenant.asked += 1
        one_in = self._chance.random()
        return Draft(
            id=f"r{self._count:08d}",
            at_s=self._at_s,
            tenant=tenant.name,
            session=f"{tenant.name}/{tenant.asked}",
            model=tenant.model,
            turns=[("system", tenant.system), ("user", asked)],
            answer=answer,
            shape=self._chance.choices(SHAPES, SHAPE_WEIGHTS)[0],
            counted_as_one=one_in < 0.01,
            private=[*private],
        )

    def _private(self, tenant: _Tenant) -> str:
        """A text of the tenant's own; one in a thousand is longer than any pool, where the corpus is large enough."""
        if self._plan.size_bytes >= LONG_FROM_BYTES and self._chance.random() < 0.001:
            size = LONG_CHARS
        else:
            size = int(self._plan.prompt_bytes * min(PROMPT_MAX, self._chance.lognormvariate(0, 1.2)))
        text = self._words.fresh(self._chance.choice(tenant.kinds), size)
        return credential(self._chance) + text if self._chance.random() < 0.05 else text

    def _answered(self, tenant: _Tenant) -> str:
        size = min(ANSWER_CHARS_MAX, int(ANSWER_CHARS * self._chance.lognormvariate(0, 1)) + 40)
        return self._words.fresh(self._chance.choice(tenant.kinds), size)

    def _opening(self) -> str:
        return self._chance.choice(OPENINGS)

    def _chat(self, tenant: _Tenant) -> tuple[Draft, Kind | None]:
        private = self._private(tenant)
        answer, kind = self._answered(tenant), None
        if self._chance.random() < 0.5:
            answer, kind = f"{self._chance.choice(PHRASES)}\n\n{answer}", Kind.PHRASE
        draft = self._draft(tenant, f"{self._opening()}\n\n{private}", answer, private)
        draft.own_answer = kind is None
        return draft, kind

    def _document(self, tenant: _Tenant) -> tuple[Draft, Kind | None]:
        """Retrieved pieces of public texts, the famous ones often; the answer quotes one of them."""
        most = max(1, min(8, self._plan.prompt_bytes // PIECE_OF_PROMPT))
        found = [self._piece(tenant) for _ in range(self._chance.randint(1, most))]
        private = self._words.fresh("prose", 300)
        answer = self._answered(tenant)
        quoted = self._quote(self._chance.choice(found))
        asked = "\n---\n".join([*found, f"{self._opening()} {private}"])
        draft = self._draft(tenant, asked, f"{answer}\n> {quoted}\n", private)
        draft.own_answer = False
        return draft, Kind.OWN_PROMPT

    def _quoting(self, tenant: _Tenant) -> tuple[Draft, Kind | None]:
        private = self._private(tenant)
        answer = self._answered(tenant)
        draft = self._draft(tenant, f"{self._opening()}\n{private}", answer + self._quote(private), private)
        return draft, Kind.OWN_PROMPT

    def _agent(self, tenant: _Tenant) -> tuple[Draft, Kind | None]:
        """A turn of a session: the whole transcript again, with the answers so far."""
        if len(self._sessions) < min(SESSIONS, len(self._tenants) // 3):
            begun = self._draft(tenant, "", "")
            self._sessions.append(_Session(tenant, begun.session, begun.turns[:1]))
        session = self._sessions[self._chance.randrange(len(self._sessions))]
        tenant = session.tenant
        is_first = session.last is None
        if session.last:
            session.turns.append(("assistant", session.last.answer))
        private = self._private(tenant)
        session.turns.append(("user" if is_first else "tool", private))
        answer = self._answered(tenant)
        answer += self._quote(self._chance.choice(session.turns[1:])[1]) if self._chance.random() < 0.5 else ""
        draft = self._draft(tenant, "", answer, private)
        draft.turns, draft.session, draft.may_leak = [*session.turns], session.name, is_first
        session.last = draft
        size = sum(len(text) for _, text in session.turns)
        if len(session.turns) > TURNS_MAX or size > TRANSCRIPT_MAX * self._plan.prompt_bytes:
            self._sessions.remove(session)
        return draft, None if is_first else Kind.RESENT

    def _retry(self, tenant: _Tenant) -> tuple[Draft, Kind | None]:
        if tenant.last is None:
            return self._chat(tenant)
        answer = self._answered(tenant)
        draft = self._draft(tenant, "", tenant.last.answer[: self._chance.randrange(2000)] + answer)
        draft.turns, draft.session, draft.own_answer = [*tenant.last.turns], tenant.last.session, False
        return draft, Kind.RETRY

    def _earlier(self, tenant: _Tenant) -> tuple[Draft, Kind | None]:
        if tenant.last is None:
            return self._chat(tenant)
        answer = self._answered(tenant)
        quoted = self._quote(tenant.last.turns[-1][1])
        draft = self._draft(tenant, self._words.prose(200), f"{answer}\n{quoted}")
        draft.own_answer = False
        return draft, Kind.EARLIER_REQUEST

    def _rare_document(self, tenant: _Tenant) -> tuple[Draft, Kind | None]:
        """The first of two tenants brings it, the second has it too; both answers quote it."""
        others = [one for one in self._rare if one[0] != tenant.name]
        if others and self._chance.random() < 0.6:
            other = self._chance.choice(others)
            self._rare.remove(other)
            text = other[1]
        else:
            text = self._words.fresh("prose", self._chance.randint(1500, 9000))
            self._rare.append((tenant.name, text))
        answer = self._answered(tenant)
        draft = self._draft(tenant, f"{text}\n\n{self._opening()}", f"{answer}\n{self._quote(text)}")
        draft.own_answer = False
        return draft, Kind.RARE_DOCUMENT

    def _same_question(self, tenant: _Tenant) -> tuple[Draft, Kind | None]:
        asked, answer = self._chance.choice(self._questions)
        draft = self._draft(tenant, asked, answer)
        draft.own_answer, draft.may_leak = False, False
        return draft, Kind.SAME_QUESTION

    def _refused(self, tenant: _Tenant) -> tuple[Draft, Kind | None]:
        draft = self._draft(tenant, self._private(tenant), "")
        draft.status, draft.shape = 400, "chat"
        return draft, None

    def _recited(self, tenant: _Tenant) -> tuple[Draft, Kind | None]:
        """What a model knows by heart, asked for in a word."""
        number = self._chance.randrange(min(FAMOUS, len(self._public)))
        draft = self._draft(tenant, "Give me the full text of the licence, please.", self._public[number])
        draft.own_answer = False
        return draft, Kind.RECITED if len(self._quoted_by[number]) >= MANY_TENANTS else Kind.RECITED_RARE

    def _piece(self, tenant: _Tenant) -> str:
        number = self._chance.randrange(min(FAMOUS, len(self._public)))
        if self._chance.random() < 0.4:
            self._quoted_by[number].add(tenant.name)
            return self._public[number]
        return self._public[self._chance.randrange(len(self._public))]

    def _quote(self, text: str) -> str:
        size = self._chance.randint(40, 1200)
        at = self._chance.randrange(max(1, len(text) - size))
        return text[at : at + size]
