"""Leaks: a stretch that one request alone has, put into the answer to another one."""

from __future__ import annotations

import random
import re
import string
from collections import deque
from dataclasses import dataclass

from support.scan_corpus import garbling
from support.scan_corpus.draft import Draft
from support.scan_corpus.plan import Garbling, Kind, Plan, Truth
from support.scan_corpus.words import Words

VICTIMS = 400
TEXT_CHARS_MAX = 40_000
"""Of each text that may be taken from: the victims are what a corpus holds in memory."""
SPAN_BYTES_MIN, SPAN_BYTES_MAX = 20, 20_000
RUN_BYTES = 64
"""A run of so many bytes that the victim alone has must be found."""
_SPANS = ((35, 60, 70), (15, 20, 59), (30, 71, 1_000), (20, 1_000, 20_000))
"""Weight, and the bounds in bytes."""
_OWN_TENANT = 0.12
_OF_ANSWER = 0.3
_CREDENTIAL = re.compile(r"^export [A-Z_]+=", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _Victim:
    id: str
    tenant: str
    session: str
    part: str
    text: str


class Planting:
    """Remembers what may be taken, and puts it into answers."""

    def __init__(self, plan: Plan, words: Words, chance: random.Random) -> None:
        self._plan = plan
        self._words = words
        self._chance = chance
        self._victims: deque[_Victim] = deque(maxlen=VICTIMS)

    def remember(self, draft: Draft) -> None:
        """What of this exchange nobody else has may be taken from now on."""
        if draft.status != 200:
            return
        if draft.private:
            text = max(draft.private, key=len)
            at = self._chance.randrange(max(1, len(text) - TEXT_CHARS_MAX))
            self._add(draft, "prompt", text[at : at + TEXT_CHARS_MAX])
        if draft.own_answer and self._chance.random() < _OF_ANSWER:
            self._add(draft, "answer", draft.answer[:TEXT_CHARS_MAX])

    def plant(self, draft: Draft) -> Truth | None:
        """Perhaps put something into this answer; what is known of it then."""
        if not draft.may_leak or draft.status != 200 or self._chance.random() >= self._plan.leaks:
            return None
        wants_own = self._chance.random() < _OWN_TENANT
        victims = [one for one in self._victims if _is_other(one, draft, wants_own=wants_own)]
        if not victims:
            return None
        victim = self._chance.choice(victims)
        self._victims.remove(victim)  # what was taken once, two have
        is_bare = self._chance.random() < self._plan.bare
        stretch = self._stretch(victim.text, RUN_BYTES if is_bare else SPAN_BYTES_MIN)
        how = Garbling.VERBATIM if is_bare else garbling.drawn(self._chance)
        told = garbling.garbled(stretch, how, self._chance, self._words)
        draft.answer = self._around(draft.answer, told)
        draft.own_answer = False
        return Truth(
            kind=Kind.LEAK,
            response_id=draft.id,
            tenant=draft.tenant,
            source_id=victim.id,
            source_tenant=victim.tenant,
            source_part=victim.part,
            garbling=how,
            span_bytes=len(stretch.encode()),
            run_bytes=garbling.longest_shared(stretch, told),
            secrets=len(_CREDENTIAL.findall(stretch)),
        )

    def _add(self, draft: Draft, part: str, text: str) -> None:
        if len(text.encode()) >= 2 * SPAN_BYTES_MIN:
            self._victims.append(_Victim(draft.id, draft.tenant, draft.session, part, text))

    def _stretch(self, text: str, least: int) -> str:
        """Of so many bytes, or as many as there are; it begins and ends with a character that is seen."""
        weights = [weight if high >= least else 0 for weight, _, high in _SPANS]
        _, low, high = self._chance.choices(_SPANS, weights)[0]
        size = self._chance.randint(max(low, least), high)
        octets = text.encode()
        at = self._chance.randrange(max(1, len(octets) - size))
        while at and octets[at] & 0xC0 == 0x80:
            at -= 1
        end = min(len(octets), at + size)
        while end < len(octets) and octets[end] & 0xC0 == 0x80:
            end += 1
        return octets[at:end].decode()

    def _around(self, answer: str, told: str) -> str:
        """In the middle of the answer, in place of it, or at its end."""
        place = self._chance.random()
        if place < 0.25:
            return told
        if place < 0.5:
            return f"{answer}\n{told}"
        at = self._chance.randrange(len(answer) + 1)
        joint = "" if place < 0.75 else "\n\n"
        return answer[:at] + joint + told + joint + answer[at:]


def _is_other(victim: _Victim, draft: Draft, *, wants_own: bool) -> bool:
    if victim.tenant != draft.tenant:
        return not wants_own
    return wants_own and victim.session != draft.session


def credential(chance: random.Random) -> str:
    """A line that sets one, made up."""
    letters = "".join(chance.choices(string.ascii_letters + string.digits, k=40))
    name, value = chance.choice(
        [
            ("AWS_ACCESS_KEY_ID", "AK" + "IA" + letters[:16].upper()),
            ("GITHUB_TOKEN", "gh" + "p_" + letters[:36]),
            ("DATABASE_URL", f"postgres://svc:{letters[:18]}@db-{letters[20:24].lower()}.internal:5432/main"),
            ("SLACK_TOKEN", "xo" + f"xb-{chance.randrange(10**12):012d}-{letters[:24]}"),
        ]
    )
    return f"export {name}={value}\n"
