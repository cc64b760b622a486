import asyncio
import builtins

import pytest
from tokenizers import Regex, Tokenizer, models, pre_tokenizers, trainers

from kvfence.errors import UsageError
from kvfence.probe.counting import Counter, Fitter
from kvfence.probe.prompts import Recipe, build
from kvfence.probe.tokenizer_file import tokenizer_of
from support.programs import assert_one_clear_line, run_kvfence
from support.source_tree import ROOT

RECIPE = Recipe(seed=1, tenant="a", request=1, filler_chars=0)
SWEEP = (768, 2048, 8192, 32_768)


async def nobody_counts(_text):
    return None


def fit(fitter, recipe, tokens):
    return asyncio.run(fitter.fit(recipe, tokens))


def bpe(pre_tokenizer, *, vocabulary):
    """A real tokenizer, trained here on our first decisions: they have none of a prompt's sentences, and stay."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizer
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=vocabulary, initial_alphabet=alphabet, show_progress=False)
    pages = [page.read_text(encoding="utf-8") for page in sorted((ROOT / "docs" / "decisions").glob("000*.md"))]
    tokenizer.train_from_iterator(pages, trainer)
    return tokenizer


def byte_level():
    return pre_tokenizers.ByteLevel(add_prefix_space=False)


@pytest.fixture(scope="module")
def tokenizers():
    """As GPT-2 cuts text; as Llama 3 and DeepSeek cut numbers; as Qwen does, digit by digit; as Llama 2, by no rule."""
    by_three = pre_tokenizers.Split(Regex(r"\p{N}{1,3}"), "isolated")
    return {
        "numbers whole": bpe(byte_level(), vocabulary=1500),
        "numbers by three": bpe(pre_tokenizers.Sequence([by_three, byte_level()]), vocabulary=800),
        "digit by digit": bpe(
            pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), byte_level()]), vocabulary=3000
        ),
        "spaces in tokens": bpe(pre_tokenizers.Metaspace(), vocabulary=1000),
    }


KINDS = ("numbers whole", "numbers by three", "digit by digit", "spaces in tokens")


def sizes(tokenizer):
    """How many tokens an endpoint with this tokenizer and a chat template counts."""
    return lambda text: len(tokenizer.encode(text).ids) + 11


@pytest.mark.parametrize("kind", KINDS)
def test_a_tokenizer_file_makes_lengths_exact(tokenizers, tmp_path, kind):
    """Counted on this machine; the template that the endpoint adds is learnt from the first usage."""
    path = tmp_path / "tokenizer.json"
    tokenizers[kind].save(str(path))
    fitter = Fitter(b"k", tokenizer_of(path))
    for tokens in SWEEP:
        fitted = fit(fitter, RECIPE, tokens)
        counted = sizes(tokenizers[kind])(fitted.prompt.text)
        assert fitter.learn(fitted, counted) == counted
        assert counted == tokens + 11 * (tokens == SWEEP[0])
    assert "tokenizer.json on this machine, exact, with 11 more" in fitter.method


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("depths", "sweep"), [(5, SWEEP), (64, (8192, 32_768, 65_536))])
def test_without_a_counter_lengths_are_within_half_a_percent(tokenizers, kind, depths, sweep):
    """From the fourth prompt of a sweep on at the latest; and the error that is stated is the one there was."""
    count = sizes(tokenizers[kind])
    fitter = Fitter(b"k", Counter(nobody_counts))
    seen = []
    for request, tokens in enumerate(sweep):
        fitted = fit(fitter, Recipe(seed=2, tenant="a", request=request, filler_chars=0, depths=depths), tokens)
        counted = count(fitted.prompt.text)
        assert fitter.learn(fitted, counted) == counted
        seen.append(abs(counted - tokens) / counted)
    assert seen[-1] < 0.005
    assert f"off, the last {seen[-1]:.2%}" in fitter.method


@pytest.mark.parametrize("chars_a_token", [1, 3.7])
@pytest.mark.parametrize("wanted", [800, 5000, 40_000])
def test_prompts_are_fitted_to_an_exact_length(chars_a_token, wanted):
    """Whatever a token is, the endpoint's own count leads to the length in a few tries."""
    asked = []

    async def count(text):
        asked.append(text)
        return round(len(text) / chars_a_token)

    fitted = fit(Fitter(b"k", Counter(count)), RECIPE, wanted)
    assert fitted.tokens == wanted == round(len(fitted.prompt.text) / chars_a_token)
    assert build(fitted.recipe, b"k") == fitted.prompt
    assert fitted.exact


@pytest.mark.parametrize("vocabulary", [300, 400, 550, 700, 1000, 1500])
def test_where_one_letter_more_makes_no_token_or_two_the_length_is_met(vocabulary):
    """Words merge across their borders: a padding a token short is lengthened or shortened by what makes one token."""
    tokenizer = bpe(pre_tokenizers.Metaspace(), vocabulary=vocabulary)

    async def count(text):
        return sizes(tokenizer)(text)

    fitter = Fitter(b"k", Counter(count))
    for request, tokens in enumerate((768, 1000, 1500, 2048, 4096, 8192)):
        fitted = fit(fitter, Recipe(seed=1, tenant="a", request=request, filler_chars=0), tokens)
        assert fitted.tokens == tokens


@pytest.mark.parametrize("kind", KINDS)
def test_a_long_prompt_is_counted_two_or_three_times(tokenizers, kind):
    """The endpoint does not have to read a million tokens for each try."""
    asked = []

    async def count(text):
        asked.append(len(text))
        return sizes(tokenizers[kind])(text)

    fitter = Fitter(b"k", Counter(count))
    for request in range(3):
        fitted = fit(fitter, Recipe(seed=1, tenant="a", request=request, filler_chars=0), 30_000)
        assert fitted.tokens == 30_000 == sizes(tokenizers[kind])(fitted.prompt.text)
    assert sum(chars > 30_000 for chars in asked) <= 3 * 3


def test_a_usage_that_cannot_be_of_this_prompt_is_not_learnt():
    """An engine that dropped a prompt and counts 1 token, or counts a third, does not change the prompts after it."""
    fitter = Fitter(b"k", Counter(nobody_counts))
    first = fit(fitter, RECIPE, 1000)
    assert fitter.learn(first, 1) == 1000
    assert fitter.learn(first, len(first.prompt.text)) == len(first.prompt.text)
    long = fit(fitter, RECIPE, 5000)
    assert fitter.learn(long, len(long.prompt.text)) == len(long.prompt.text)
    dropped = fit(fitter, RECIPE, 9000)
    for usage in (1, 3000, 7000, 12_000):
        assert fitter.learn(dropped, usage) == 9000
    assert fit(fitter, RECIPE, 9000).prompt == dropped.prompt


def test_without_a_counter_a_length_below_the_markers_is_foretold_as_long_as_it_is():
    """What is set aside for it is never less than what it takes."""
    fitter = Fitter(b"key", Counter(nobody_counts))
    for wanted in (768, 4096):
        fitted = fit(fitter, RECIPE, wanted)
        fitter.learn(fitted, len(fitted.prompt.text))
    fitted = fit(fitter, RECIPE, 5)
    assert (fitted.tokens, fitted.exact) == (len(fitted.prompt.text), False)
    assert fitter.tokens_max(fitted) >= len(fitted.prompt.text)


def test_without_a_counter_lengths_are_learnt_from_usage():
    """The first prompt is a guess; what the endpoint says of it makes the next one right, and this is said."""
    fitter = Fitter(b"k", Counter(nobody_counts))
    first = fit(fitter, RECIPE, 1000)
    fitter.learn(first, len(first.prompt.text))
    again = fit(fitter, RECIPE, 1000)
    assert abs(len(again.prompt.text) - 1000) <= 5
    assert not again.exact
    assert "usage.prompt_tokens" in fitter.method


@pytest.mark.parametrize("content", [None, "", "{}", "not json", '{"model": {"type": "BPE"}}'])
def test_what_is_no_tokenizer_file_is_one_clear_line(tmp_path, content):
    """Missing, empty, something else: what it is and which option it was."""
    path = tmp_path / "tokenizer.json"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    ran = run_kvfence("probe", "http://127.0.0.1:9/v1", "--tokenizer", str(path))
    assert_one_clear_line(ran, "--tokenizer", "not a tokenizer.json")


def test_without_the_package_it_is_said_what_to_install(tmp_path, monkeypatch):
    """The extra is named."""
    real = builtins.__import__

    def without(name, *args):
        if name == "tokenizers":
            raise ImportError(name)
        return real(name, *args)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(UsageError, match=r"kvfence\[tokenizer\]"):
        tokenizer_of(tmp_path / "tokenizer.json")


@pytest.mark.parametrize(
    "answers", [lambda _: 1, lambda _: 700, lambda text: 100 * len(text), lambda text: 2 * len(text) % 977]
)
def test_a_counter_that_cannot_be_right_is_left_alone(answers):
    """One that says always the same, or what no tokenizer makes: memory is bounded, and nothing is called exact."""

    async def count(text):
        return answers(text)

    fitter = Fitter(b"k", Counter(count))
    for tokens in (1000, 20_000):
        fitted = fit(fitter, RECIPE, tokens)
        assert len(fitted.prompt.text) < 20 * tokens
        assert not fitted.exact or fitted.tokens == answers(fitted.prompt.text)
