"""Whether any order of events leads to an answer that reads what it should not: all orders, without the other promises.

For rules with most layers off, which break many promises; of interest here is only what is read.
"""

from __future__ import annotations

from dataclasses import dataclass

from kvfence.verify.happenings import happenings
from kvfence.verify.marks import NOBODY, read, tenant_of
from kvfence.verify.tidy import tidied
from kvfence.verify.world import Answering, Setting, World, first_world


@dataclass(frozen=True, slots=True)
class Reached:
    """What can be read somewhere."""

    foreign: bool
    """A slot whose last writer was another tenant."""
    wrong: bool
    """Anything but the request's own prompt and answer, whole and in order."""
    states: int


def reached(setting: Setting) -> Reached:
    """Every world within the bound, or as far as the first foreign read."""
    first = first_world(setting, stale_limit=True)
    known, frontier, wrong = {first}, [first], False
    while frontier:
        met = []
        for world in frontier:
            for _, happen in happenings(world, setting):
                after = tidied(happen())
                if after in known:
                    continue
                known.add(after)
                met.append(after)
                foreign, other = _read_in(after)
                wrong = wrong or other
                if foreign:
                    return Reached(foreign=True, wrong=True, states=len(known))
        frontier = met
    return Reached(foreign=False, wrong=wrong, states=len(known))


def _read_in(world: World) -> tuple[bool, bool]:
    foreign = wrong = False
    for job in world.work:
        client = world.client(job.value.room) if isinstance(job.value, Answering) else None
        if isinstance(job.value, Answering) and client is not None:
            seen = read(world.decode_pages, job.value.pages, job.value.length)
            foreign = foreign or any(mark != NOBODY and tenant_of(mark) != client.tenant for mark in seen)
            wrong = wrong or seen != client.marks(0, client.shape.prompt_tokens + client.shape.new_tokens)
    return foreign, wrong
