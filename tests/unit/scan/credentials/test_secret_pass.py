"""A batch of exchanges becomes rows of places, kinds and hashes, and of nothing that a text says."""

from __future__ import annotations

import dataclasses
import pickle
import random
from functools import cache

from kvfence.scan.batches import batch_of
from kvfence.scan.credentials.finding import Kinds, database
from kvfence.scan.credentials.secret_pass import SECRETS, SecretPass
from kvfence.scan.exchange import Coverage, Exchange, Place
from kvfence.scan.window import Window
from support.planted_secrets import planted

VALUE = planted(random.Random(1), "github-pat").value
EVERYTHING = Window()
ONE = Exchange(
    place=Place(source=0, offset=0, line=1),
    id="r0",
    tenant="acme",
    session=None,
    model="m",
    provider=None,
    began_ms=5,
    ended_ms=None,
    status=200,
    finish=None,
    prompt="",
    prompt_coverage=Coverage.WHOLE,
    answer="",
    answer_coverage=Coverage.WHOLE,
    prompt_tokens=None,
    answer_tokens=None,
)


@cache
def rules():
    return database(Kinds())


def rows(*exchanges, window=EVERYTHING, sliced=0):
    made = SecretPass(key=b"k" * 32, window=window, prefilter=rules())
    return pickle.loads(pickle.dumps(made)).ready()(batch_of(exchanges).slice(sliced))


def exchange(offset, prompt="", answer="", **changes):
    place = Place(source=0, offset=offset, line=1)
    return dataclasses.replace(ONE, place=place, prompt=prompt, answer=answer, **changes)


def test_a_row_says_where_a_secret_stands_and_not_what_it_says():
    """Bytes of UTF-8, also behind other letters; the same value has the same fingerprint."""
    found = rows(exchange(7, prompt=f"schlüssel: {VALUE}", answer=f"ja, {VALUE}."), exchange(9, answer=VALUE))
    assert found.schema == SECRETS
    assert found["offset"].to_pylist() == [7, 7, 9]
    assert found["at"].to_pylist() == [12, 4, 0]
    assert found["in_prompt"].to_pylist() == [True, False, False]
    assert found["in_own_prompt"].to_pylist() == [True, True, False]
    assert len(set(found["fingerprint"].to_pylist())) == 1
    assert VALUE[9:30] not in repr(found.to_pylist())


def test_the_window_marks_rows_and_loses_none():
    """An answer outside it may still hold another's."""
    texts = [exchange(1, prompt=VALUE, began_ms=5), exchange(2, prompt=VALUE, began_ms=50)]
    assert rows(*texts, window=Window(from_ms=10))["exposed"].to_pylist() == [False, True]


def test_a_tenant_that_is_named_by_its_key_is_not_told():
    """Some stores name users by the key that they came with."""
    found = rows(exchange(1, prompt=VALUE, tenant=VALUE, id=f"key:{VALUE}"))
    assert VALUE[9:30] not in repr(found.to_pylist())
    assert found["tenant"][0].as_py().startswith("ghp_")


def test_a_slice_of_a_batch_is_read_as_one():
    """Arrow's offsets are taken into account; no text is an empty batch."""
    texts = [exchange(1, prompt=VALUE), exchange(2, prompt="nothing"), exchange(3, prompt=VALUE)]
    assert rows(*texts, sliced=1)["offset"].to_pylist() == [3]
    assert rows(*texts, sliced=3).num_rows == 0
