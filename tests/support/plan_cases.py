"""Plans against logs of real servers: the cases, what is predicted for each, and the page made from them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

from kvfence.findings.forecast import Spread
from kvfence.plan.gpus import gpu_of
from kvfence.plan.predict import Model, predict
from kvfence.plan.setting import Engine, KvDtype, Measured, Setting
from kvfence.plan.vllm_pool import tokens_logged_before_021
from support.plan_models import config_of
from support.source_tree import ROOT

CASES = ROOT / "tests" / "corpus" / "plan" / "cases.json"
CONFIGS = ROOT / "tests" / "corpus" / "plan" / "models.json"
FROM_LOG = "with the log's memory figures"
FROM_FREE = "from the config and the free memory before the weights"
FROM_CONFIG = "from the config alone"
HEAD = """# Plans against logs

Written by `make docs` from `tests/corpus/plan`: what `kvfence plan` says of servers whose logs are public, beside what
they logged. No figure is tuned to a case. Three ways, which must not be taken for one another:

- *with the log's memory figures*: free memory before and after the weights, or the size of the pools or of the cache,
  is given. This tests what a token, a page, a window, a state and a draft cost, and how an engine shares memory between
  them. It does not test how much memory is left: small errors here are what arithmetic should have.
- *from the config and the free memory before the weights*: one figure of the log, SGLang's `Load weight begin. avail
  mem=`, is given (`--free-before-gib`). The weights are counted.
- *from the config alone*: a GPU's name and the command's flags are given. Nothing of the log is used.

## What the error without the log is made of

- **Weights.** Counting numbers is not enough: PyTorch's allocator takes whole segments (`plan/allocator.py`), and an
  engine makes tables that no checkpoint has (`plan/tensors.py`). With both, two logs' `mem usage` (15.54 and 15.50
  GiB) come out to the last digit; without, the first was 0.28 GiB short, which is 10 % of its pool.
- **The context and the communicators.** No engine computes them and no data sheet has them. They are read from other
  servers' logs (`plan/reserves.py`), none of which is predicted without its memory figures; a test holds that. What
  remains is this, and `--free-before-gib` is the one figure that gives the rest: the A10G's row goes from 8 % to 0.1 %
  with it. Any earlier launch of the engine on such GPUs with the same `--tp` has logged it, whatever its model was.
- **What the driver hides.** CUDA reports some hundred MiB less than `nvidia-smi`, and it differs by driver (79.11 and
  79.18 GiB on H100s). `plan/gpus.json` has what was read, and where.
- **The base of the fraction.** SGLang keeps back `1 - fraction` of the *free* memory before the weights, vLLM allows a
  fraction of *all* of it; both are in the formulas.
- **What vLLM keeps back** is measured by it in a profile run. Of that run layers are counted by a rule of thumb, and
  the spread is wide for that reason. What differs by version is read in its source (`plan/vllm_profile.py`): up to
  0.16 it sorts the logits of all requests, 38 bytes each (5.5 GiB for 1,024 requests of Qwen3's vocabulary), and before
  0.11 what NCCL takes is charged. `--engine-version` says which one it is. The row of Qwen3-235B on vLLM was 64 % high
  while a version of 2025 was planned with the formula of 2026. Nothing was fitted to it, but its figure was known by
  then. A check that had no part in it: vllm-project/vllm#13594 puts such a sort into the run of `basic.py` (OPT-125m)
  on an H100, with one more tensor of 8 bytes for each logit, and logs 58,928 tokens less, which are 2.02 GiB. If that
  ran for 1,024 requests, as later versions do there, 1,024 times 50,272 words times 46 bytes are 2.21 GiB, less what
  the run took before.

Small pools on small GPUs are the hard case: where the pool is an eighth of the memory, an error of 1 % in what is
free is one of 8 % in tokens. That is why a plan has a low and a high figure. Every log below but one lies between them.

## Drafts

A built-in draft (MTP, NEXTN) keeps tokens as one of the model's layers does, and SGLang sizes the pool while the draft
still holds an embedding and a head that it gives back afterwards. A thread has both at once (sgl-project/sglang#32468,
Qwen3.8-27B as Qwen3.6-27B, two RTX 3090, an 8-bit cache, as many states in both runs): without the two copies the pool
is 146,251 tokens larger. The copies are 2.37 GiB on each GPU, a token is 17,408 bytes there, draft included: 146,071.
vLLM's row with a draft is that of noonghunna/club-3090#642.

## Six rows that came last

They were looked for when the formulas stood, to have latent attention, sparse attention and windows without a log's
memory. What the formulas said then, before anything was mended for them: Kimi-K2.5 2,603,989 tokens from the config
(6.1 % high, which was outside its own spread) and 2,585,127 with the free memory; gpt-oss-20b 37.71 GiB (3.1 % high);
gpt-oss-120b 6.83 GiB, four times what it had. The logged figure had been seen in all three, since it stood in what the
search gave; the formulas had not. Then two things were mended that config and source say, and no number was chosen:

- A scale for each 32 weights, which is what Kimi-K2.5's config declares, where 128 was taken for every model.
- vLLM makes MXFP4 experts wider for its kernels: 2,880 becomes 2,944 and 3,072. With it the weights of gpt-oss-120b
  are 65.96 GiB; vllm-project/vllm#23278 logs 65.9651.

So the errors of these three are no longer blind. That gpt-oss-120b comes out within 0.01 GiB is luck at that
precision: a tenth of a GiB more or less is 6 % of so small a pool. The sort of logits has a check of its own in
#23278: of 71.20 GiB allowed, 65.97 of weights and -2.14 for the cache leave 7.37 GiB that were kept back; 1,024
requests times 201,088 words times 38 bytes are 7.29.

After that nothing was mended. DeepSeek-R1 on sixteen H20 and on eight B200 came with their figures in sight. GLM-5
(sparse attention) is fully blind: its command and settings were read, 2,970,696 tokens predicted, and then its log was
read on. It is 9 % low and outside the spread. The log says why: that version of SGLang counted 708 bytes a token and
layer and then made rows of 788, so it took 19 GiB more than its own fraction allowed, and had 4 GiB left for graphs.
A plan keeps to what the rows take.

One more came after that: Gemma 4's model of 26 billion numbers on vLLM. Its 21.5 GiB stood in what the search gave; the
formulas were older, and said 23.51 GiB, 9.3 % high. Its log has 48.5 GiB of weights where 46.77 had been counted, and
the engines' source says why: each layer has its plain feed-forward part beside the experts, and full layers have wider
heads (vLLM `models/gemma4.py Gemma4DecoderLayer`, SGLang's alike). With both the weights are 47.98 GiB and what is left
is 22.29, 3.7 % high. Nothing else was changed.

## What is missing

From the config alone there is no log of SGLang with windows (Gemma, gpt-oss, Llama 4), none of vLLM with latent or
sparse attention, and none of sparse attention on NVIDIA's GPUs. They were searched for twice. Found and not taken:
gpt-oss-120b on four A100 (a fork of SGLang that keeps room for two ways to split the model), MiMo-V2-Flash in
sgl-project/sglang#18039 (no GPU is named), DeepSeek-V2-Lite in vllm-project/vllm#15871 (weights on the CPU), and
DeepSeek-V4-Flash in vllm-project/vllm#51041 and #51454 (a cache of several kinds that no formula here counts). Their
arithmetic is tested where the memory is given.
"""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One prediction beside what was logged."""

    family: str
    engine: str
    model: str
    source: str
    given: str
    pool: Spread
    logged: int
    remark: str
    outside: str
    """Why the log is outside low and high, where it is."""

    @property
    def error(self) -> float:
        """Of the likely figure, in percent of what was logged."""
        return 100 * (self.pool.likely - self.logged) / self.logged


def cases() -> list[dict[str, Any]]:
    return list(json.loads(CASES.read_text(encoding="utf-8")))


def rows() -> list[Row]:
    """All of them; a case whose command is whole is predicted twice, once without what its log measured."""
    return [row for case in cases() for row in _rows(case)]


def _rows(case: dict[str, Any]) -> Iterator[Row]:
    setting = _setting(case)
    if case["measured"]:
        yield _row(case, setting, FROM_LOG)
    if case.get("config_alone"):
        free = setting.measured.free_before_gib
        if free is not None:
            yield _row(case, replace(setting, measured=Measured(free_before_gib=free)), FROM_FREE)
        yield _row(case, replace(setting, measured=Measured()), FROM_CONFIG)


def _setting(case: dict[str, Any]) -> Setting:
    changed = dict(case["setting"])
    dtype = KvDtype(changed.pop("kv_dtype", "auto"))
    measured = Measured(**case["measured"])
    if "release" in changed:
        changed["release"] = tuple(changed["release"])
    return Setting(engine=Engine(case["engine"]), gpu=gpu_of(case["gpu"]), kv_dtype=dtype, measured=measured, **changed)


def _row(case: dict[str, Any], setting: Setting, given: str) -> Row:
    made = predict(Model(config=config_of(case["model"])), setting)
    pool = made.pool
    if case.get("counted"):
        rest = made.shares[-1]
        low, likely, high = (
            tokens_logged_before_021(made.cache, size, setting, made.context)
            for size in (rest.low, rest.likely, rest.high)
        )
        pool = Spread(low=low, likely=likely, high=high)
    return Row(
        family=made.cache.family,
        engine=case["engine"],
        model=case["model"],
        source=case["source"],
        given=given,
        pool=pool,
        logged=_logged(case, setting),
        remark=case.get("remark", ""),
        outside=case.get("outside", ""),
    )


def _logged(case: dict[str, Any], setting: Setting) -> int:
    """The log's tokens; where it has only GiB, the tokens that those are."""
    if "logged" in case:
        return int(case["logged"])
    given = replace(setting, measured=Measured(available_kv_gib=case["logged_gib"]))
    return predict(Model(config=config_of(case["model"])), given).pool.likely


def medians(found: list[Row]) -> dict[tuple[str, str], tuple[int, float]]:
    """For each way and family: how many rows, and the median of their absolute errors in percent."""
    keys = sorted({(row.given, row.family) for row in found}, reverse=True)
    grouped = {key: [abs(row.error) for row in found if (row.given, row.family) == key] for key in keys}
    return {key: (len(errors), median(errors)) for key, errors in grouped.items()}


def page() -> str:
    """docs/plan-against-logs.md."""
    found = rows()
    parts = [HEAD, "## Median absolute error\n", "| given | family | rows | median |", "| --- | --- | --: | --: |"]
    parts += [f"| {given} | {name} | {n} | {error:.2f} % |" for (given, name), (n, error) in medians(found).items()]
    for given in (FROM_LOG, FROM_FREE, FROM_CONFIG):
        parts += [
            f"\n## Tokens {given}\n",
            "| family | engine | model | predicted | logged | error | low to high | log |",
        ]
        parts += ["| --- | --- | --- | --: | --: | --: | --- | --- |"]
        parts += [_line(row) for row in found if row.given == given]
    return "\n".join([*parts, *_configs()]) + "\n"


def _configs() -> list[str]:
    rows = json.loads(CONFIGS.read_text(encoding="utf-8"))
    head = ["\n## Where the models' values are from", "", "| model | checked against | remark |", "| --- | --- | --- |"]
    return head + [
        f"| {name} | {row['checked'] or 'not checked'} | {row.get('remark', '')} |" for name, row in rows.items()
    ]


def _line(row: Row) -> str:
    pool = row.pool
    spread = "" if row.given == FROM_LOG else f"{pool.low:,} to {pool.high:,}"
    figures = f"{pool.likely:,} | {row.logged:,} | {row.error:+.2f} % | {spread}"
    told = ". ".join(word for word in (row.source, row.remark, row.outside) if word)
    return f"| {row.family} | {row.engine} | {row.model} | {figures} | {told} |"
