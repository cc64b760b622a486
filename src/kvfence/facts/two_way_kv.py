"""Whether vLLM's NIXL connector also reads KV back from decode: `bidirectional_kv_xfer`, off unless it is set.

It stands in the connector's extra config, or in that of one of a MultiConnector's. Read in vLLM's
`kv_connector/v1/nixl` (`get_from_extra_config("bidirectional_kv_xfer", False)`).
"""

from __future__ import annotations

import re

NAME = "bidirectional_kv_xfer"
_SET = re.compile(rf"""\b{NAME}['"]?\s*[:=]\s*(?:([Tt]rue)|([Ff]alse))\b""")
_EXTRA = re.compile(r"""\bkv_connector_extra_config['"]?\s*[:=]\s*(?=\{)""")


def printed(text: str) -> tuple[bool, str] | None:
    """What settings that an engine printed say, with their words; None where they end before they say it."""
    if NAME in text:
        found = _SET.search(text)
        return (found[1] is not None, found[0]) if found else None
    extra = _EXTRA.search(text)
    if extra is None:
        return None
    depth = 0
    for at in range(extra.end(), len(text)):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if depth == 0:
            return False, f"{extra[0]}{text[extra.end() : at + 1]}"
    return None


def configured(config: object) -> bool | None:
    """The same of a whole `--kv-transfer-config`, parsed; None where it is no switch, or filled in elsewhere."""
    pending, filled_in = [config], False
    while pending:
        match pending.pop():
            case dict() as fields:
                if NAME in fields:
                    value = fields[NAME]
                    return value if isinstance(value, bool) else None
                pending.extend(fields.values())
            case list() as items:
                pending.extend(items)
            case str() as text if "$" in text or "{{" in text:
                filled_in = True
            case _:
                pass
    return None if filled_in else False
