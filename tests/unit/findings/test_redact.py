import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvfence.findings.redact import EVIDENCE_CHARS_MAX, as_evidence, masked, without_secrets

SECRET = "hunter2hunter2hunter2"


@pytest.mark.parametrize(
    "line",
    [
        f"server_args={{'api_key': '{SECRET}', 'port': 3}}",
        f"ServerArgs(api_key='{SECRET}', port=3)",
        f"--api-key {SECRET} --port 3",
        f"--admin-api-key={SECRET}",
        f"Authorization: Bearer {SECRET}",
        f"HF_TOKEN={SECRET} python -m x",
        f"password: {SECRET}",
        f"ssl_keyfile_password={SECRET}",
        f"postgres://user:{SECRET}@host/db",
        f"curl -H 'authorization: bearer {SECRET}'",
    ],
)
def test_no_secret_is_shown_whole(line):
    """Settings named like secrets, bearer tokens and passwords in URLs are masked; their start tells which it was."""
    assert SECRET not in without_secrets(line)
    assert SECRET not in as_evidence(line)
    assert "hunt" in without_secrets(line)


@pytest.mark.parametrize(
    "line",
    [
        "max_total_num_tokens=2086558, chunked_prefill_size=8192, context_len=256000",
        "'tokenizer_path': '/models/x', 'skip_tokenizer_init': True, 'api_key': None",
        "GPU KV cache size: 2,042,016 tokens",
        "Input length (140 tokens) exceeds the maximum allowed length (122 tokens).",
        "POST http://127.0.0.1:8000/v1",
    ],
)
def test_figures_that_rules_need_stay(line):
    """Token counts are not tokens of the secret kind."""
    assert without_secrets(line) == line


@given(st.text(min_size=5))
def test_a_masked_text_shows_its_start_only(text):
    """Four characters and a count."""
    assert masked(text) == f"{text[:4]}… ({len(text) - 4} more)"


@given(st.text(), st.integers(0, 2000))
def test_evidence_is_one_printable_line_of_bounded_length(text, around):
    """Whatever stands in a log, evidence fits into a table and a terminal."""
    shown = as_evidence(text * 5, around=around)
    assert len(shown) <= EVIDENCE_CHARS_MAX + 2
    assert shown.isprintable()
