import random

import pytest

from kvfence.cell.asks import Ask
from kvfence.cell.config import CellConfig
from kvfence.cell.documents import QUESTION, make_document
from kvfence.cell.stepped import SteppedCell
from kvfence.cell.taint import Oracle, TaintError
from kvfence.core import events as on
from kvfence.core.ids import Role
from kvfence.core.leasing import forget_prefixes
from kvfence.core.pool import Reuse, check_conservation
from kvfence.core.rules import FENCED, NO_DRAIN, PLACEHOLDER, RETIRE_AFTER_FORWARD, Layer, Wire, only

PAGE = 16


def new_cell(rules=FENCED, wire=Wire.PUSH, *, oracle=Oracle.RAISE, reuse=Reuse.LIFO, prefill=64, decode=256):
    config = CellConfig(
        prefill_pool_tokens=prefill * PAGE,
        decode_pool_tokens=decode * PAGE,
        context_tokens=128 * PAGE,
        page_size=PAGE,
        rules=rules,
        wire=wire,
        reuse=reuse,
        chunk_tokens=8 * PAGE,
        oracle=oracle,
    )
    return SteppedCell(config)


def ask_for(seed, tenant="A", tokens=600, new=40):
    document = make_document(random.Random(seed), tokens, question=QUESTION)
    return document, Ask(tenant=tenant, prompt=document.text.encode(), max_new_tokens=new)


def assert_empty(cell):
    for role, driver in cell.drivers.items():
        worker = forget_prefixes(driver.worker)
        check_conservation(worker.pool)
        assert worker.pool.free_pages == len(worker.pool.states), (role, worker.pool)
        assert len(worker.rooms) == 0


@pytest.mark.parametrize("wire", Wire)
@pytest.mark.parametrize("reuse", Reuse)
@pytest.mark.parametrize("rules", [FENCED, only(), PLACEHOLDER], ids=lambda rules: rules.name)
def test_requests_that_fit_are_answered_rightly_over_every_wire(wire, reuse, rules):
    """Each tenant gets its own secret back, under every rule set, wire and reuse order, and every page comes back."""
    cell = new_cell(rules, wire, reuse=reuse)
    asked = [ask_for(seed, tenant=f"tenant {seed % 3}", tokens=200 + 70 * seed) for seed in range(9)]
    rooms = [cell.ask(ask) for _, ask in asked]
    cell.settle()
    for room, (document, ask) in zip(rooms, asked, strict=True):
        answer = cell.answers[room]
        assert answer.end == on.AnswerEnded(
            room=room,
            reason="length",
            prompt_tokens=len(ask.prompt),
            completion_tokens=40,
            cached_tokens=answer.end.cached_tokens,
        )
        assert document.secrets_in(answer.text.decode())
    assert_empty(cell)


def test_a_prompt_over_the_limit_is_refused_with_both_figures_and_nothing_reserved():
    """I1 and I7: the first gate refuses, names both figures, and no worker ever hears of the request."""
    cell = new_cell()
    _, ask = ask_for(1, tokens=64 * PAGE)
    room = cell.ask(ask)
    assert cell.answers[room].end.refusal.asked_tokens == 64 * PAGE + 40
    assert cell.answers[room].end.refusal.usable_tokens == 64 * PAGE
    assert all(not driver.turn() for driver in cell.drivers.values())


def test_the_same_prompt_leaks_under_the_rule_placeholder():
    """The incident: status 200, and A's secret in B's answer."""
    cell = new_cell(PLACEHOLDER, oracle=Oracle.RECORD)
    victim, ask_a = ask_for(1, "A")
    cell.ask(ask_a)
    cell.settle()
    own, ask_b = ask_for(2, "B", tokens=80 * PAGE, new=80)
    room = cell.ask(ask_b)
    cell.settle()
    text = cell.answers[room].text.decode()
    assert cell.answers[room].finished
    assert victim.secrets_in(text)
    assert not own.secrets_in(text)
    assert cell.stores[Role.DECODE].foreign_reads


def test_the_oracle_raises_at_the_first_foreign_read():
    """With the oracle on, the incident stops the worker before a token is out."""
    cell = new_cell(PLACEHOLDER)
    cell.ask(ask_for(1, "A")[1])
    cell.settle()
    cell.ask(ask_for(2, "B", tokens=80 * PAGE)[1])
    with pytest.raises(TaintError, match="of another tenant"):
        cell.settle()


def test_an_abort_while_pages_are_in_flight_drains_them_until_prefill_is_quiet():
    """I3: the pages are not free before the held write has landed, and free after."""
    cell = new_cell()
    room = cell.ask(ask_for(1)[1], held=True)
    cell.settle()
    cell.hang_up(room)
    cell.settle()
    counts = cell.drivers[Role.DECODE].worker.pool.counts()
    assert counts["draining"] == -(-600 // PAGE)
    cell.let_go()
    cell.settle()
    assert_empty(cell)


def test_without_the_writer_fence_the_same_pages_are_free_at_once():
    """The rule no-drain frees pages under a write that is still in flight."""
    cell = new_cell(NO_DRAIN)
    room = cell.ask(ask_for(1)[1], held=True)
    cell.settle()
    cell.hang_up(room)
    cell.settle()
    assert cell.drivers[Role.DECODE].worker.pool.free_pages == 256


def test_retire_after_forward_leaves_decode_holding_pages_until_its_timeout():
    """SGLang 0.5.20: the client gets its refusal, decode is not told, and only the time-out frees its pages."""
    cell = new_cell(RETIRE_AFTER_FORWARD)
    room = cell.ask(ask_for(1, tokens=80 * PAGE)[1])
    cell.settle()
    assert isinstance(cell.answers[room].end, on.RequestRefused)
    assert cell.drivers[Role.DECODE].worker.pool.counts()["filling"] == 80
    cell.wait(cell.config.handoff_timeout_s + 1)
    cell.settle()
    assert_empty(cell)


@pytest.mark.parametrize("wire", Wire)
@pytest.mark.parametrize("turns", range(12))
def test_a_client_that_hangs_up_at_any_turn_leaves_every_page_free(wire, turns):
    """Whenever a client goes away, both pools end empty and the next tenant's answer is right."""
    cell = new_cell(wire=wire)
    room = cell.ask(ask_for(1, "A")[1])
    for turn in range(turns):
        cell.turn(Role.DECODE if turn % 2 else Role.PREFILL)
    cell.hang_up(room)
    cell.settle()
    document, ask = ask_for(2, "B")
    after = cell.ask(ask)
    cell.settle()
    assert document.secrets_in(cell.answers[after].text.decode())
    assert_empty(cell)


def test_a_large_request_that_waits_is_not_overtaken_by_small_ones():
    """A room that fits but not now gets its turn before every room that came after it."""
    cell = new_cell(decode=64)
    running = cell.ask(ask_for(1, tokens=600, new=60)[1])
    cell.turn(Role.DECODE)
    large = cell.ask(ask_for(2, tokens=900, new=60)[1])
    small = [cell.ask(ask_for(seed, tokens=120, new=60)[1]) for seed in range(3, 9)]
    order = []
    while len(order) < 8:
        cell.turn(Role.PREFILL)
        cell.turn(Role.DECODE)
        order += [room for room, answer in cell.answers.items() if answer.finished and room not in order]
    assert order[:2] == [running, large]
    assert sorted(order[2:]) == small


def test_prefix_reuse_stays_inside_the_tenant():
    """I6: the same prompt again is reused by its tenant and computed anew for another."""
    cell = new_cell()
    _, ask = ask_for(1, "A")
    rooms = [cell.ask(ask)]
    cell.settle()
    rooms.append(cell.ask(ask))
    cell.settle()
    rooms.append(cell.ask(Ask(tenant="B", prompt=ask.prompt, max_new_tokens=40)))
    cell.settle()
    assert [cell.answers[room].end.cached_tokens for room in rooms] == [0, 600 // PAGE * PAGE, 0]
    assert len({cell.answers[room].text for room in rooms}) == 1


def test_a_flipped_bit_in_a_received_page_ends_the_request_without_text_and_quarantines_its_pages():
    """I2, I8, I7: the digest is of what is in the pool now; no text; the limit promised is what is left."""
    cell = new_cell(decode=64)
    room = cell.ask(ask_for(1)[1])
    cell.turn(Role.DECODE)
    while cell.turn(Role.PREFILL):
        pass
    page = cell.stores[Role.DECODE]._store.pages[3]
    page[5, 7] = -page[5, 7]
    cell.settle()
    assert cell.answers[room].end.check == "I2-digest"
    assert cell.answers[room].text == b""
    decode = cell.drivers[Role.DECODE]
    assert decode.worker.pool.counts()["quarantined"] == -(-600 // PAGE)
    assert decode.counts["checks_failed_total", (("check", "I2-digest"),)] == 1
    assert cell._router.advertised_tokens == (64 - -(-600 // PAGE)) * PAGE


def test_a_stop_text_ends_the_answer_before_it():
    """The matched text is not part of the answer, however tokens fall."""
    cell = new_cell()
    ask = Ask(tenant="A", prompt=b"one two three; one two ", max_new_tokens=40, stop=(b"ee; o", b"nothing"))
    room = cell.ask(ask)
    cell.settle()
    assert cell.answers[room].text == b"thr"
    assert cell.answers[room].end.reason == "stop"


def test_a_page_given_back_unsealed_counts_as_foreign_to_everyone():
    """I5: a page that was leased, not cleared and given back before it was overwritten is cleared for the next."""
    cell = new_cell(only(Layer.CLEAN_PAGES), prefill=44)
    for seed in (1, 2):
        cell.ask(ask_for(seed, "A", tokens=640)[1])
        cell.settle()
    prefill = cell.drivers[Role.PREFILL]
    room = cell.ask(ask_for(3, "B", tokens=640)[1])
    cell.turn(Role.DECODE)
    cell.turn(Role.PREFILL)  # B's pages are leased and one chunk of them is computed
    cell.hang_up(room)
    cell.settle()
    states = {type(state).__name__: state for state in prefill.worker.pool.states}
    assert states["Free"].last_tenant in (None, "\0several")
