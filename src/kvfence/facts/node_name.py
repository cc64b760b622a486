"""What a node is called when nothing in it says: by the target that it was read from."""

from __future__ import annotations

import re
from pathlib import Path

from kvfence.facts.endpoints.base import is_url, parse_base
from kvfence.facts.log_files import without_rotation
from kvfence.facts.opened import STDIN, displayed

ENDING = re.compile(r"\.(?:log|txt|json|sh|bash|ya?ml|service)$")
"""Of a file's name, that is no part of its node's."""


def node_name(target: str) -> str:
    """What a node is called when no line names it: the file's name without its ending."""
    if target == STDIN:
        return "stdin"
    if is_url(target):
        return parse_base(target).name
    name = displayed(without_rotation(Path(target).name))
    return ENDING.sub("", name) or name
