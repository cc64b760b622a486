"""SGLang's log lines, 0.4 to 0.5.23: what each one says. What follows from all of them together is `sglang_facts`.

SGLang writes `[time ranks] message`. The settings are one line, a dataclass's repr up to 0.5.18 or so and a dict's
from 0.5.19 on; the pool's size is in the headline, `max_total_num_tokens=`, once per DP rank.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from kvfence.facts.fact import Engine, Kind
from kvfence.facts.flags import SGLANG_SWITCHES, canonical
from kvfence.facts.logs import launch, settings
from kvfence.facts.logs.statement import COUNT, Happened, Message, Phase, Said, Statement, number, own

_RANKS = re.compile(r"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[.,\d]*((?: (?:DP|PP|ATTN_CP|MOE_DP|TP|EP)\d+)+)\]")
_LAUNCH = re.compile(r"(?:sglang[./]launch_server(?:\.py)?|\bsglang serve)\s+(?=.*--model(?:-path)?[ =](?!<)\S)")
_SETTINGS = re.compile(r"\bserver_args=(?:ServerArgs)?(?=[({])")
_DUMPED = (
    "disaggregation_mode",
    "context_length",
    "page_size",
    "kv_cache_dtype",
    "tp_size",
    "dp_size",
    "pp_size",
    "dcp_size",
    "enable_dp_attention",
    "allow_auto_truncate",
    "max_total_tokens",
    "kv_canary",
    "disaggregation_enable_kv_checksum",
    "disaggregation_decode_allocation_policy",
    "model_path",
    "port",
)
_INFLIGHT = "#inflight-req"
SayFrom = Callable[[re.Match[str]], Iterator[Said | Happened]]


def _pool(name: str) -> SayFrom:
    def say(match: re.Match[str]) -> Iterator[Said]:
        yield Said(name, number(match[1]))
        if dtype := match.groupdict().get("dtype"):
            yield Said("dtype", dtype)

    return say


def _role(name: str) -> SayFrom:
    return lambda _match: iter((Said("role.line", name),))


def _shows(name: str) -> SayFrom:
    return lambda _match: iter((Said(name, value=True),))


def _happens(kind: Kind) -> SayFrom:
    return lambda _match: iter((Happened(kind),))


def _allocated(match: re.Match[str]) -> Iterator[Said]:
    yield Said("allocated", number(match[2]))
    if match["dtype"]:
        yield Said("dtype", match["dtype"])


def _headline(match: re.Match[str]) -> Iterator[Said]:
    yield Said("headline.pool", number(match[1]))
    if context := re.search(rf"\bcontext_len={COUNT}", match.string[match.end() :]):
        yield Said("headline.context", number(context[1]))


def _warned(match: re.Match[str]) -> Iterator[Said]:
    yield Said("warned.pool", number(match[1]))
    yield Said("warned.context", number(match[2]))


def _refused(match: re.Match[str]) -> Iterator[Said | Happened]:
    yield Said("limit", number(match[2]))
    # The front door repeats what the scheduler said of the same request.
    if "[http_server]" not in match.string[: match.start()]:
        yield Happened(Kind.REFUSED, number(match[1]))


def _truncated(match: re.Match[str]) -> Iterator[Said | Happened]:
    yield Said("limit", number(match[2]))
    yield Happened(Kind.TRUNCATED, number(match[1]))


def _one_token(match: re.Match[str]) -> Iterator[Said | Happened]:
    yield Said("served", value=True)
    if _INFLIGHT in match.string:
        yield Said("role.line", "prefill")
    yield Happened(Kind.PLACEHOLDER)


_POOL_KINDS = r"(?:[\w-]+ )?KV [Cc]ache(?: is)? (?:allocated|VA upper bound)\.(?: dtype: torch\.(?P<dtype>\w+),)?"
_LINES: tuple[tuple[str, str, SayFrom], ...] = (
    ("max_total_num_tokens=", rf"\bmax_total_num_tokens={COUNT}(?=, )", _headline),
    ("KV pool holds ", rf"\bKV pool holds {COUNT} tokens, fewer than --context-length {COUNT}", _warned),
    ("Post-capture KV sizing", rf"\bPost-capture KV sizing: full_layer_tokens={COUNT}", _pool("swa.full")),
    (
        "Use sliding window memory pool",
        rf"\bUse sliding window memory pool\. full_layer_tokens={COUNT}",
        _pool("swa.full"),
    ),
    ("#tokens: ", _POOL_KINDS + rf".*?#tokens: {COUNT}", _allocated),
    ("Using KV cache dtype", r"\bUsing KV cache dtype: torch\.(\w+)", lambda match: iter((Said("dtype", match[1]),))),
    (
        "Input length (",
        rf"Input length \({COUNT} tokens\) exceeds the maximum allowed length \({COUNT} tokens\)",
        _refused,
    ),
    (
        "Truncated. len(",
        rf"Truncated\. len\(req\.origin_input_ids\)={COUNT}, max_req_input_len={COUNT}",
        _truncated,
    ),
    (
        "Prefill batch, #new-seq: 1, #new-token: 1,",
        r"\bPrefill batch, #new-seq: 1, #new-token: 1, #cached-token: 0,",
        _one_token,
    ),
    ("decode server", r"Radix cache is (?:dis|en)abled for decode server", _role("decode")),
    ("Prefill parallel info for", r"\bPrefill parallel info for \[", _role("decode")),
    ("BootstrapServer started", r"BootstrapServer started successfully", _role("prefill")),
    ("Register prefill bootstrap", r"Register prefill bootstrap: ", _role("prefill")),
    ("Prefill successfully registered", r"Prefill successfully registered to bootstrap server", _role("prefill")),
    ("fired up and ready", r"The server is fired up and ready to roll!", _shows("served")),
    ("install_canary", r"\binstall_canary: ", _shows("canary.line")),
    ("KV checksum skipped", r"\bKV checksum skipped: ", _happens(Kind.UNVERIFIED)),
    ("metadata buffers", r"\bregistered \d+ metadata buffers but this prefill has \d+", _happens(Kind.UNVERIFIED)),
    ("per-forward verify skipped", r"per-forward verify skipped this step due to overflow", _happens(Kind.UNVERIFIED)),
    ("KV checksum mismatch", r"\bKV checksum mismatch ", _happens(Kind.CHECK_FAILED)),
    ("kv_canary violation", r"\bkv_canary violation: ", _happens(Kind.CHECK_FAILED)),
    (" corruption detected", r"\b(?:Context|Metadata) corruption detected", _happens(Kind.CHECK_FAILED)),
    ("Deferred KV release", r"\bDeferred KV release for room \S+ timed out", _happens(Kind.RELEASED_UNDRAINED)),
)


_MESSAGES = tuple(Message(stem, re.compile(pattern), say) for stem, pattern, say in _LINES)


def read(text: str) -> Statement | None:
    """What an SGLang line says; None if it is no line that this reader knows."""
    if started := _read_start(text):
        return started
    for message in _MESSAGES:
        says = message.says(text)
        if says is not None:
            return _statement(text, says)
    return None


def _statement(text: str, says: tuple[Said | Happened, ...]) -> Statement:
    ranks = _RANKS.search(text[:120])
    said = tuple(one for one in says if isinstance(one, Said))
    return Statement(
        engine=Engine.SGLANG,
        said=said,
        happened=tuple(one for one in says if isinstance(one, Happened)),
        phase=Phase.POOL if any(one.name == "headline.pool" for one in said) else None,
        rank=ranks[1].strip() if ranks else "",
    )


def _read_start(text: str) -> Statement | None:
    if match := own("server_args=", _SETTINGS, text):
        style = "dict" if text[match.end()] == "{" else "repr"
        said = (
            Said("set.style", style, f"server_args: printed as a {style}"),
            *_dumped(settings.parse(text, match.end())),
        )
        return Statement(engine=Engine.SGLANG, said=said, phase=Phase.SETTINGS)
    if match := _LAUNCH.search(text) if "sglang" in text else None:
        said = tuple(_flagged(launch.parse(text, match.end())))
        return Statement(engine=Engine.SGLANG, said=said, phase=Phase.LAUNCH)
    return None


def _dumped(dump: settings.Settings) -> Iterator[Said]:
    for name in _DUMPED:
        pair = dump.pairs.get(name)
        if pair and pair.value is not None:
            yield Said(f"set.{name}", pair.value, f"server_args: {pair.text}")
    if dump.complete:
        missing = [name for name in _DUMPED if name not in dump.pairs]
        yield Said("set.missing", " ".join(missing), f"server_args: whole, without {', '.join(missing) or 'a gap'}")


def _flagged(command: launch.Launch) -> Iterator[Said]:
    for flag, value in command.flags.items():
        name = canonical(Engine.SGLANG, flag)
        if name in _DUMPED and (value or name in SGLANG_SWITCHES):
            yield Said(f"flag.{name}", settings.literal(value) if value else True, command.text(flag))  # type: ignore[arg-type]  # a flag's text is never empty here
    if not {"disaggregation_mode", "config"} & command.flags.keys():
        yield Said("flag.no_role", value=True, text="a launch command without --disaggregation-mode")
