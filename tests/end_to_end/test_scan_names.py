"""Some gateways name a tenant, or a request, by a key. A report names it so that it stays one, and shows no key."""

from __future__ import annotations

import json
import random

import pytest

from support.planted_secrets import with_crc
from support.programs import run_kvfence

FORMATS = ["json", "csv", "html", "markdown"]
SECRET_TEXT = "The harbour pilots of Vardo count every lantern twice, and the ninth is not lit before the ice has gone."


@pytest.fixture(scope="module")
def keys():
    chance = random.Random(11)
    return [with_crc(chance, "ghp" + "_") for _ in range(3)]


@pytest.fixture(scope="module")
def log(tmp_path_factory, keys):
    """One answers with another's text; both tenants and the source are named by a key of their own."""
    path = tmp_path_factory.mktemp("named") / "log.jsonl"
    victim, reader, request = keys
    asked = {"created": 1_788_000_000, "user": victim, "request": {"prompt": SECRET_TEXT}, "response": "yes"}
    answered = {"created": 1_788_000_100, "user": reader, "request": {"prompt": "Hello?"}, "response": SECRET_TEXT}
    lines = [{"id": request, **asked}, {"id": "r2", **answered}]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.mark.parametrize("form", FORMATS)
def test_no_key_that_names_somebody_is_shown(log, tmp_path, keys, form):
    """Whole or to more than half, in no output."""
    trail, rotation, out = tmp_path / "trail", tmp_path / "rotation.csv", tmp_path / "out"
    words = ("--trail", str(trail), "--rotation", str(rotation), "--output", str(out))
    ran = run_kvfence("scan", str(log), "--format", form, *words)
    assert ran.code == 1
    said = "".join([ran.out, ran.err, *(path.read_text() for path in (trail, rotation, out) if path.exists())])
    for key in keys:
        assert not [key[at : at + 20] for at in range(len(key) - 19) if key[at : at + 20] in said]


def test_two_keys_stay_two_tenants(log):
    """The pair is told, across tenants, and each of the three by a name of its own."""
    (match,) = json.loads(run_kvfence("scan", str(log), "--format", "json").out)["matches"]
    assert match["across_tenants"]
    names = {match["source"]["tenant"], match["response"]["tenant"], match["source_id"]}
    assert len(names) == 3
    assert all(name.startswith("ghp_") for name in names)
