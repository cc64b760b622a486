"""What traffic is full of and is no leak; and leaks among it, which must be found all the same."""

from __future__ import annotations

import pytest

from kvfence.scan.foreign.index import COMMON_OWNERS
from kvfence.scan.foreign.owners import Isolation
from support.foreign_texts import asked, found, pairs, prose

SECRET = prose("a secret", 400)
LEAK = f"As you said: {SECRET[100:300]}."
SYSTEM = prose("a system prompt", 1500)


def conversation(tenant, turns, *, at=0, answers=None, first="", **more):
    """An agent's turns, each with all that was said before."""
    said, records = first, []
    for turn in range(turns):
        said += f"\nuser: {prose((tenant, turn, 'asks'), 150)}"
        answer = (answers or {}).get(turn, prose((tenant, turn, "is told"), 300))
        records.append(
            asked(
                f"{tenant}{turn}", prompt=said, answer=answer, **({} if at is None else {"at": at + 10 * turn}), **more
            )
        )
        said += f"\nassistant: {answer}"
    return records


def test_an_agent_that_sends_everything_again_is_no_leak():
    """Its later prompts have its earlier answers, and other tenants do the same beside it."""
    logs = [*conversation("a", 6, user="a"), *conversation("b", 6, user="b", at=3)]
    assert found(logs) == ()


@pytest.mark.parametrize("fields", [{"user": "t"}, {"session": "s"}, {}], ids=["tenant", "session", "neither"])
@pytest.mark.parametrize("at", [0, None], ids=["times", "no times"])
def test_a_leak_within_a_conversation_is_told_once_and_its_repetitions_are_not(fields, at):
    """The leak is in its own next prompts, which must not count for it, nor as leaks of their own."""
    named = [{name: f"{value}{number}" for name, value in fields.items()} for number in range(2)]
    victims = conversation("v", 4, first=SECRET, at=at, **named[0])
    others = conversation("b", 5, answers={2: LEAK}, at=None if at is None else 100, **named[1])
    assert [response for response, _ in pairs(found([*victims, *others]))] == ["b2"]


def test_a_request_that_was_sent_twice_leaks_twice():
    """The two are one owner's, so neither explains the other."""
    victim = asked("v", prompt=SECRET, answer="ok", at=0, user="v")
    retries = [asked(f"b{turn}", prompt="What now?", answer=LEAK, at=10 + turn, user="b") for turn in range(3)]
    assert pairs(found([victim, *retries])) == [("b0", "v"), ("b1", "v"), ("b2", "v")]


def test_a_leak_of_an_answer_is_found_though_its_owner_gets_the_answer_again_at_once():
    """Of the owner's two answers that have it, the one is taken that was there before the leak."""
    question = "Once more, please: " + prose("question", 300)
    answers = [(0, SECRET), (80.9, SECRET + prose("retried", 200))]
    logs = [asked(f"v{at}", user="v", prompt=question, answer=answer, at=at) for at, answer in answers]
    leaked = asked("leak", user="b", prompt=prose("other", 300), answer=LEAK, at=80)
    assert ("leak", "v0") in pairs(found([logs[0], leaked, logs[1]]))


@pytest.mark.parametrize("fields", [{"user": True}, {}], ids=["tenants", "no tenants"])
def test_a_system_prompt_of_many_is_no_leak_and_a_leak_beside_it_is_one(fields):
    """An answer recites what forty others are sent as well; and then what one of them alone was sent."""
    many = [
        asked(f"t{number}", prompt=f"{SYSTEM}\n{prose(number, 200)}", answer="ok", at=number)
        | ({"user": f"t{number}"} if fields else {})
        for number in range(90)
    ]
    leak = prose(7, 200)[20:150]
    reciting = asked("b", prompt="Who are you?", answer=f"{SYSTEM[200:900]} {leak}", at=200) | (
        {"user": "b"} if fields else {}
    )
    matches = found([*many, reciting])
    assert pairs(matches) == [("b", "t7")]
    assert matches[0].response_char > 650
    assert matches[0].candidates == 1


def test_a_document_that_its_own_tenant_sent_before_is_no_leak():
    """Another tenant has it as well, and a store in between gave it to the model."""
    logs = [
        asked("v", prompt=SECRET, answer="ok", at=0, user="v"),
        asked("a", prompt=f"Keep this: {SECRET}", answer="kept", at=5, user="b"),
        asked("b", prompt="What did I give you?", answer=LEAK, at=10, user="b"),
    ]
    assert found(logs) == ()
    assert pairs(found([logs[0], logs[2]])) == [("b", "v")]


def test_two_that_have_the_text_are_candidates_and_the_last_before_is_taken():
    """Whose it is cannot be told, and that is said."""
    logs = [
        asked("v1", prompt=f"{prose(1, 99)} {SECRET}", answer="ok", at=0, user="v1"),
        asked("v2", prompt=f"{prose(2, 98)} {SECRET}", answer="ok", at=5, user="v2"),
        asked("b", prompt="?", answer=LEAK, at=10, user="b", ended=1_788_000_011),
        asked("v3", prompt=f"{prose(3, 97)} {SECRET}", answer="ok", at=20, user="v3"),
        *(asked(f"t{number}", prompt=prose(number, 90), answer="ok", at=30, user=f"t{number}") for number in range(8)),
    ]
    (match,) = found(logs)
    assert (match.source.id, match.candidates) == ("v2", 2)


def test_sessions_of_one_tenant_are_kept_apart():
    """Where all logs are of one tenant, whose it is goes by the session."""
    victim = conversation("v", 2, first=SECRET, user="us", session="one")
    other = conversation("b", 3, answers={1: LEAK}, at=50, user="us", session="two")
    (match,) = found([*victim, *other])
    assert (match.response.id, match.across_tenants) == ("b1", False)


def test_two_pieces_of_two_victims_are_two_matches():
    """Each with its own source, in the order of the answer."""
    one, two = prose("one", 300), prose("two", 300)
    logs = [
        asked("v1", prompt=one, answer="ok", at=0, user="v1"),
        asked("v2", prompt=two, answer="ok", at=1, user="v2"),
        asked("b", prompt="?", answer=f"{two[40:140]} but {one[100:250]}", at=9, user="b"),
    ]
    assert pairs(found(logs)) == [("b", "v2"), ("b", "v1")]


def test_a_phrase_that_models_say_is_no_leak_though_one_prompt_has_it():
    """Three others were answered it before somebody sent it: it is not from that prompt."""
    phrase = f"Certainly! {prose('phrase', 100)}"
    logs = [
        asked(f"t{number}", prompt=f"{number}?", answer=phrase, at=number, user=f"t{number}") for number in range(3)
    ]
    logs.append(asked("p", prompt=f"You said: {phrase}", answer="ok", at=5, user="p"))
    logs.append(asked("b", prompt="And now?", answer=f"{phrase} Yes.", at=9, user="b"))
    assert found(logs) == ()
    assert [source for _, source in pairs(found(logs[3:]))] == ["p"]


@pytest.mark.parametrize("shared", [1, 2, 8])
def test_a_stretch_is_told_though_its_end_stands_in_the_own_prompt_by_chance(shared):
    """What goes on behind it is the asker's own, and begins like its last bytes."""
    own = prose("own", 300)
    stolen = f"{prose('stolen', 120)[: 64 - shared]}{own[:shared]}"
    logs = [
        asked("v", prompt=f"> {stolen} and so on", answer="ok", at=0, user="v"),
        asked("b", prompt=f"Read: {own}", answer=f"{stolen}{own[shared:100]}", at=5, user="b"),
    ]
    assert pairs(found(logs)) == [("b", "v")]


@pytest.mark.parametrize("tenants", [COMMON_OWNERS - 2, COMMON_OWNERS + 2])
def test_a_phrase_that_very_many_are_answered_is_no_leak_though_two_go_on_alike(tenants):
    """Where so many have it that its windows are not kept, what two say after it is not told with it."""
    phrase, behind = prose("phrase", 130), prose("behind it", 40)
    logs = [
        asked(f"t{number}", prompt=f"{number}?", answer=f"{phrase} {prose(number, 200)}", at=number, user=f"t{number}")
        for number in range(tenants)
    ]
    logs += [
        asked(name, prompt=f"{name}?", answer=f"{phrase}{behind} {prose(name, 200)}", at=at, user=name)
        for at, name in ((100, "a"), (200, "b"))
    ]
    assert found(logs) == ()
    leaked = asked("c", prompt="?", answer=f"{phrase}{behind} {prose('a', 200)}", at=300, user="c")
    assert [response for response, _ in pairs(found([*logs, leaked]))] == ["c"]


@pytest.mark.parametrize("bits", [4, 8])
def test_windows_that_are_hashed_alike_make_no_match(bits):
    """All lines meet all others by their hashes then, and none of the texts is the same."""
    logs = [
        asked(f"t{number}", prompt=prose(number, 400), answer=prose(-number - 1, 300), at=number, user=f"t{number}")
        for number in range(8)
    ]
    assert found(logs, bits=bits) == ()


def test_sessions_of_one_tenant_among_several_are_kept_apart_where_that_is_asked_for():
    """Two tenants that name their sessions alike have no session in common."""
    records = [
        asked("v", prompt=f"Look. {SECRET}", answer="ok", at=0, user="us", session="one"),
        asked("b", prompt=prose("b asks", 300), answer=f"Well. {SECRET[50:250]}", at=60, user="us", session="two"),
        asked("c", prompt=prose("c asks", 300), answer=f"Look: {SECRET[20:250]}", at=90, user="them", session="one"),
    ]
    assert pairs(found(records)) == [("c", "v")]
    kept_apart = found(records, isolation=Isolation.SESSION)
    assert pairs(kept_apart) == [("b", "v"), ("c", "v")]
    assert [match.across_tenants for match in kept_apart] == [False, True]
