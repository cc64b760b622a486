"""What stands in a text is found whatever it stands in, and what looks like it is not."""

from __future__ import annotations

import base64
import random
import time
import uuid
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvfence.scan.credentials.finding import Finder, Kinds, database
from kvfence.scan.credentials.stretches import MARGIN_BYTES, NARROW_BYTES, WIDE_BYTES, stretches
from support.planted_secrets import CARRIERS, KINDS, planted, some


@cache
def rules():
    return database(Kinds())


@cache
def finder(*, more=False):
    kinds = Kinds(personal=more, generic=more)
    return Finder(kinds, database(kinds))


def found(text, *, more=False):
    return finder(more=more).find(memoryview(text.encode()))


@pytest.mark.parametrize("carrier", CARRIERS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_found_in_every_carrier(kind, carrier):
    """Three of four at least: rules of some kinds leave out values that look too much like words."""
    rng = random.Random(f"{kind} {carrier}")
    hits = 0
    for _ in range(4):
        one = planted(rng, kind)
        text = CARRIERS[carrier](one.written)
        at = text.find(one.value[:20])
        hits += any(each.at - 1 <= at < each.at + each.length for each in found(text))
    assert hits >= 3


def test_what_is_shown_is_a_quarter_at_most():
    """And never more than the public beginning and four characters."""
    rng = random.Random(7)
    for kind in KINDS:
        one = planted(rng, kind)
        for each in found(one.written):
            begins = each.redacted.partition("…")[0]
            assert len(begins) <= len(one.value) // 4 or not one.value.startswith(begins)


def test_one_value_has_one_name_however_it_is_written():
    """A private key with real line ends and with escaped ones; a connection string to another path."""
    rng = random.Random(1)
    key = planted(rng, "private-key-rsa").written
    (plain,), (escaped,) = found(key), found(key.replace("\n", "\\n"))
    assert plain.named == escaped.named
    one = planted(rng, "postgres").written
    assert found(one)[0].named == found(one.replace("/app", "/other") + "?sslmode=require")[0].named


@pytest.mark.parametrize(
    "text",
    [
        "postgres://postgres:postgres@localhost/app",
        "postgres://user:password@host/db and redis://:${REDIS_PASSWORD}@cache/0",
        "mysql://app:<password>@db.internal/app or mysql://app:****@db.internal/app",
        "see https://example.com:8080/a@b and mailto:a@b.example",
        "AKIA" + "IOSFODNN7EXAMPLE is the one of the manual",
        "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
        "Authorization: Basic <credentials>, Authorization: Basic dXNlcjpwYXNzd29yZA==",
    ],
)
def test_placeholders_are_none(text):
    """Words that everybody writes, templates, the examples of manuals."""
    assert found(text) == []


def test_identifiers_and_blobs_are_none():
    """UUIDs, hashes of git and of content, images in base 64, long hexadecimal."""
    rng = random.Random(11)
    lines = []
    for _ in range(300):
        lines += [
            f"request {uuid.UUID(int=rng.getrandbits(128), version=4)} done",
            f"commit {some(rng, '0123456789abcdef', 40)}\n    sha256:{some(rng, '0123456789abcdef', 64)}",
            f"![x](data:image/png;base64,{base64.b64encode(rng.randbytes(300)).decode()})",
        ]
    assert found("\n".join(lines)) == []


def test_a_cut_private_key_is_one_and_words_behind_its_first_line_are_none():
    """A store that cuts long texts cuts keys; a manual says where the key belongs."""
    key = planted(random.Random(1), "private-key-rsa").written
    assert [one.kind for one in found(key[:700])] == ["private-key"]
    assert found("-----BEGIN PRIVATE KEY-----\n" + "paste the lines of your key between these two " * 9) == []


@pytest.mark.parametrize(
    "part",
    [
        "-----BEGIN PRIVATE KEY-----\n",
        "postgres://a:",
        "server=a;",
        "jdbc:x1:?",
        "?sv=&",
        "a@b.",
        "+1 ",
        "AKIA",
        "\\n",
        "ey",
    ],
)
def test_no_text_takes_long(part):
    """A megabyte of what a rule begins with and does not end with: under a few seconds, whatever the rule."""
    began = time.process_time()
    found(part * (1_000_000 // len(part)), more=True)
    assert time.process_time() - began < 5


def test_very_many_in_one_text_are_all_found():
    """Thirty thousand addresses."""
    assert len(found(" ".join(f"u{at}@corp.io" for at in range(30_000)), more=True)) == 30_000


def test_personal_data_and_generic_secrets_are_looked_for_on_request():
    """Checked where they can be; not otherwise."""
    text = (
        "write to jo.doe@acme.io or +49 170 1234567; DE89 3704 0044 0532 0130 00 not DE88 3704 0044 0532 0130 00; "
        "card 4539 1488 0343 6467 not 4539 1488 0343 6468; pwd: 'zX9#kLm2Qw!'; me@example.com"
    )
    assert found(text) == []
    kinds = [one.kind for one in found(text, more=True)]
    assert kinds == ["personal-email", "personal-phone", "personal-iban", "personal-card", "generic-secret"]


@given(st.integers(0, 3 * WIDE_BYTES), st.sampled_from([WIDE_BYTES, NARROW_BYTES]))
def test_stretches_cover_each_byte_once_with_a_margin(length, size):
    """So that what begins anywhere is somebody's, and is seen with what stands around it."""
    found_ones = list(stretches(0, length, length, size))
    assert [one.start for one in found_ones] == [0, *(one.end for one in found_ones)][: len(found_ones)]
    assert sum(one.end - one.start for one in found_ones) == length
    for one in found_ones:
        assert one.low == max(0, one.start - MARGIN_BYTES)
        assert one.high == min(length, one.end + MARGIN_BYTES)


@pytest.mark.parametrize("border", [NARROW_BYTES, WIDE_BYTES])
@pytest.mark.parametrize("shift", range(-64, 65, 16))
def test_a_secret_across_a_border_is_found_once(border, shift):
    """Wherever the border falls."""
    rng = random.Random(shift)
    for kind in ("github-pat", "private-key-rsa", "postgres", "aws-access-key-id"):
        one = planted(rng, kind)
        before = ("lorem ipsum " * (border // 12 + 1))[: border - len(one.written) // 2 + shift] + "\n"
        text = (before + one.written + "\n" + "dolor sit " * 2000).encode()
        (each,) = finder().find(memoryview(text))
        assert one.value.encode() in text[each.at : each.at + each.length] or each.kind == "connection-string"


class EveryRule:
    """In place of the first look: it points everywhere."""

    def __init__(self, count):
        self._all = list(range(count))

    def hits(self, _text):
        return self._all


GLUE = st.sampled_from(["\n", " ", ", ", "; ", ".\n", '"', "\\n", "(", " curl -u a:b https://x/ ", "word " * 900])
WRITTEN = st.builds(
    lambda seed, kind, carrier: CARRIERS[carrier](planted(random.Random(seed), kind).written),
    st.integers(0, 99),
    st.sampled_from(list(KINDS)),
    st.sampled_from(list(CARRIERS)),
)


@given(st.lists(st.tuples(GLUE, WRITTEN), min_size=1, max_size=8), GLUE)
def test_the_first_look_misses_nothing_that_the_second_would_find(parts, end):
    """Whatever stands around secrets: with every stretch looked at twice, the same is found."""
    text = "".join(part for pair in parts for part in pair) + end
    thorough = Finder(Kinds(), rules())
    thorough._prefilter = EveryRule(1000)
    thorough._kingfisher = finder()._kingfisher
    assert found(text) == thorough.find(memoryview(text.encode()))


def test_letters_inside_an_image_are_no_key():
    """Base 64 has every beginning of three letters somewhere."""
    image = "iVBORw0KGgo" + "BSA" + "Kd83kdLqWm3kXz71bQpR5tYvN2s" * 3
    assert found(f"![x](data:image/png;base64,{image})") == []


def test_a_long_token_is_named_by_all_of_it_wherever_it_stands():
    """Claims may be many; a margin does not cut them."""
    rng = random.Random(4)
    header, claims, signature = planted(rng, "jwt").value.split(".")
    token = ".".join([header, claims + some(rng, "abcDEF0123456789", 9000), signature])
    places = [found("x " * at + token + " end. " + "y " * 9000) for at in (0, 2000, 4000, 5000)]
    assert {one.named for each in places for one in each} == {token.encode()}
    assert [len(each) for each in places] == [1, 1, 1, 1]


@given(st.binary(max_size=400))
def test_any_bytes_are_looked_at(raw):
    """Nothing is raised, and what is found lies inside."""
    assert all(one.at >= 0 and one.at + one.length <= len(raw) for one in finder(more=True).find(memoryview(raw)))
