"""How exact are lengths for real tokenizers, and what does a prompt of a million tokens cost to build?

Tokenizers are those inside litellm's wheel (44 MB) and one of mistral_common's (7 MB), which are fetched and not
installed.

    python benchmarks/token_counts.py [LITELLM_WHEEL MISTRAL_WHEEL]
    python benchmarks/token_counts.py --build

Needs `tokenizers` and `tiktoken`, but for the last. For each tokenizer: what a marker has in tokens, on the average and
at most; a sweep of lengths without a counter, by usage alone, with the error at each; and a million tokens with a
counter: whole counts that it took, and how far off it was, nearly all of its time being the tokenizer's. `--build`,
which the first form runs too, each time in a fresh process without any tokenizer: a prompt of 1,048,576 tokens with 64
markers, at so many characters a token; seconds, and the most memory that the whole process ever had.
"""

from __future__ import annotations

import asyncio
import base64
import io
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kvfence.probe.counting import Counter, Fitter
from kvfence.probe.markers import Place, make_marker
from kvfence.probe.prompts import Recipe

FOLDER = "litellm/litellm_core_utils/tokenizers/"
TEKKEN = "mistral_common/data/tekken_240911.json"
WHEELS = ("litellm", "mistral_common")
GPT_2 = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"
GPT_4 = r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s"
RANKS = {  # name in tiktoken: file in the wheel (tiktoken's cache names it by the SHA-1 of its address), pattern
    "p50k": ("ec7223a39ce59f226a68acc30dc1af2788490e15", GPT_2),
    "cl100k": ("9b5ad71b2ce5302211f9c61530b329a4922fc6a4", GPT_4),
    "o200k": ("fb374d419588a4632f3f557e76b4b70aebbca790", GPT_4),
}
SWEEP = (768, 2048, 8192, 32_768, 131_072, 524_288, 1_048_576)
CHARS_A_TOKEN = (1.0, 4.0, 5.5)
"""A token a byte, as the cell has it; English in common tokenizers; and in those that join most."""
TEMPLATE_TOKENS = 11
MILLION = 2**20

Tokens = Callable[[str], int]


def main() -> None:
    """Print the tables."""
    if sys.argv[1:2] == ["--build"]:
        print(_built(float(sys.argv[2])) if len(sys.argv) > 2 else _each_built())  # noqa: PLR2004 — a figure or all
        return
    print(_each_built(), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        wheels = [Path(name) for name in sys.argv[1:]] or [fetched(name, Path(folder)) for name in WHEELS]
        with zipfile.ZipFile(wheels[0]) as archive, zipfile.ZipFile(wheels[1]) as mistral:
            counts = {**counts_in(archive), "tekken": _tekken(json.loads(mistral.read(TEKKEN)))}
    print(f"{'tokenizer':<12}{'a marker, at most':>18}  error by usage alone, at {', '.join(f'{t:,}' for t in SWEEP)}")
    for name, count in counts.items():
        errors = "  ".join(f"{error:+.3%}" for error in _by_usage(count))
        mean, most = _marker_tokens(count)
        print(f"{name:<12}{mean:>14.1f} {most:>3}  {errors}", flush=True)
    print(f"\n{'tokenizer':<12}with a counter, at {MILLION:,}: tokens off, whole counts, seconds")
    for name, count in counts.items():
        off, whole, seconds = asyncio.run(_counted(count))
        print(f"{name:<12}{off:>6} {whole:>6} {seconds:>8.1f}", flush=True)


def _each_built() -> str:
    """A fresh process for each."""
    command = [sys.executable, __file__, "--build"]
    ran = [
        subprocess.run([*command, str(chars)], check=True, capture_output=True, text=True) for chars in CHARS_A_TOKEN
    ]
    return "".join(one.stdout for one in ran)


def _built(chars_a_token: float) -> str:
    """One prompt, fitted by usage of two short ones."""

    async def nobody(_text: str) -> None:
        return None

    fitter = Fitter(b"k", Counter(nobody))
    for request, tokens in enumerate(SWEEP[:3]):
        fitted = asyncio.run(fitter.fit(_recipe(request), tokens))
        fitter.learn(fitted, round(len(fitted.prompt.text) / chars_a_token))
    began, began_work = time.perf_counter(), time.process_time()
    prompt = asyncio.run(fitter.fit(_recipe(3), MILLION)).prompt
    seconds, work = time.perf_counter() - began, time.process_time() - began_work
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    off = len(prompt.text) / chars_a_token / MILLION - 1
    return (
        f"built: {len(prompt.text):,} characters at {chars_a_token:g} a token, {len(prompt.markers)} markers, "
        f"{off:+.3%} off: {seconds:.2f} s ({work:.2f} s of a core), peak {peak:.0f} MiB"
    )


def _recipe(request: int) -> Recipe:
    return Recipe(seed=2, tenant="a", request=request, filler_chars=0, depths=64)


def _by_usage(count: Tokens) -> list[float]:
    async def nobody(_text: str) -> None:
        return None

    fitter, errors = Fitter(b"k", Counter(nobody)), []
    for request, tokens in enumerate(SWEEP):
        fitted = asyncio.run(fitter.fit(Recipe(seed=2, tenant="a", request=request, filler_chars=0), tokens))
        usage = count(fitted.prompt.text) + TEMPLATE_TOKENS
        fitter.learn(fitted, usage)
        errors.append(usage / tokens - 1)
    return errors


async def _counted(count: Tokens) -> tuple[int, int, float]:
    asked: list[int] = []

    async def counter(text: str) -> int:
        asked.append(len(text))
        return count(text)

    began = time.perf_counter()
    recipe = Recipe(seed=3, tenant="a", request=0, filler_chars=0, depths=64)
    fitted = await Fitter(b"k", Counter(counter)).fit(recipe, MILLION)
    seconds = time.perf_counter() - began
    return count(fitted.prompt.text) - MILLION, sum(chars > MILLION for chars in asked), seconds


def _marker_tokens(count: Tokens) -> tuple[float, int]:
    rng = random.Random(1)
    tokens = [count(make_marker(rng, b"k", Place("a", 0, depth)).text) for depth in range(1000)]
    return sum(tokens) / len(tokens), max(tokens)


def counts_in(archive: zipfile.ZipFile) -> dict[str, Tokens]:
    """How each tokenizer of litellm's wheel counts, by its name."""
    import tiktoken  # noqa: PLC0415 — not in the process that shows what building alone takes
    from tokenizers import Tokenizer  # noqa: PLC0415 — as above

    counts: dict[str, Tokens] = {}
    for name, (file, pattern) in RANKS.items():
        lines = (line.split() for line in io.BytesIO(archive.read(FOLDER + file)))
        ranks = {base64.b64decode(line[0]): int(line[1]) for line in lines if line}
        encoding = tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
        counts[name] = lambda text, encoding=encoding: len(encoding.encode_ordinary(text))  # type: ignore[misc]
    for name in ("anthropic", "deepseek"):
        tokenizer = Tokenizer.from_str(archive.read(f"{FOLDER}{name}_tokenizer.json").decode())
        counts[name] = lambda text, tokenizer=tokenizer: len(tokenizer.encode(text).ids)  # type: ignore[misc]
    return counts


def _tekken(said: dict[str, Any]) -> Tokens:
    """Mistral's own file: as many of its ranks as its vocabulary has beside the special tokens."""
    import tiktoken  # noqa: PLC0415 — as above

    kept = said["config"]["default_vocab_size"] - said["config"]["default_num_special_tokens"]
    ranks = {base64.b64decode(one["token_bytes"]): one["rank"] for one in said["vocab"][:kept]}
    encoding = tiktoken.Encoding("tekken", pat_str=said["config"]["pattern"], mergeable_ranks=ranks, special_tokens={})
    return lambda text: len(encoding.encode_ordinary(text))


def fetched(name: str, folder: Path) -> Path:
    """The wheel of this name, in this folder."""
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(folder), name]
    subprocess.run(command, check=True)
    return next(folder.glob(f"{name}-*.whl"))


if __name__ == "__main__":
    main()
