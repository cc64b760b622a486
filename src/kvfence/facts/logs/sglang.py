"""SGLang's log lines, 0.3 to 0.5.23: what each one says. What follows from all of them together is `sglang_facts`.

SGLang writes `[time ranks] message`. The settings are one line, a dataclass's repr up to 0.5.18 or so and a dict's
from 0.5.19 on; the pool's size is in the headline, `max_total_num_tokens=`, once per DP rank. Its messages are the
table in `sglang_lines`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kvfence.facts.fact import Engine
from kvfence.facts.flags import SGLANG, SGLANG_SWITCHES, Kind, canonical
from kvfence.facts.logs import launch, settings
from kvfence.facts.logs.sglang_lines import EVENTS, ROLES, SIZES
from kvfence.facts.logs.statement import Happened, Phase, Said, Statement, own

_RANKS = re.compile(r"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[.,\d]*((?: (?:DP|PP|ATTN_CP|MOE_DP|TP|EP)\d+)+)\]")
_LAUNCH = re.compile(r"(?:sglang[./]launch_server(?:\.py)?|\bsglang serve)\s+(?=.*--model(?:-path)?[ =](?!<)\S)")
_SETTINGS = re.compile(r"\bserver_args=(?:ServerArgs)?(?=[({])")
_DUMPED = (
    *(name for name, setting in SGLANG.items() if setting.kind is not Kind.SECRET),
    "dcp_size",
    "enable_dp_attention",
    "disable_cuda_graph",
    "disaggregation_decode_allocation_policy",
)
_MESSAGES = (*EVENTS, *SIZES, *ROLES)
"""What happens at run time stands first: it may fill a log, and a start does not."""
STEMS = (*(message.stem for message in _MESSAGES), "server_args=", "launch_server", "sglang serve")
"""Every line that this reader understands has one of these."""


def read(text: str) -> Statement | None:
    """What an SGLang line says; None if it is no line that this reader knows."""
    if started := _read_start(text):
        return started
    for message in _MESSAGES:
        if match := message.found_in(text):
            return _statement(text, tuple(message.say(match)), match if message in EVENTS else None)
    return None


def _statement(text: str, says: tuple[Said | Happened, ...], event: re.Match[str] | None) -> Statement:
    ranks = _RANKS.search(text[:120])
    said = tuple(one for one in says if isinstance(one, Said))
    return Statement(
        engine=Engine.SGLANG,
        said=said,
        happened=tuple(one for one in says if isinstance(one, Happened)),
        phase=Phase.POOL if any(one.name == "headline.pool" for one in said) else None,
        rank=ranks[1].strip() if ranks else "",
        match=event,
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
