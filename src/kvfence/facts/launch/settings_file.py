"""The settings file that a command names with `--config`: below what the command itself says, in both engines."""

from __future__ import annotations

from kvfence.errors import TargetError
from kvfence.facts.flags import canonical
from kvfence.facts.launch.arguments import Arguments, Flag
from kvfence.facts.launch.beside import Beside
from kvfence.facts.launch.words import Word
from kvfence.facts.launch.yaml_tree import Mapping, Scalar, read_yaml


def read_settings_file(arguments: Arguments, beside: Beside) -> str | None:
    """Take in what the file sets; or say why it could not be read. None: it was, or none is named."""
    flag = arguments.flags.get("config")
    if flag is None or flag.value is None:
        return None
    name = flag.value.text
    text = beside.read(name) if flag.value.known else None
    if text is None:
        return f"the settings file {name} (--config) was not found beside this file, so what it sets is not known"
    try:
        root = next(iter(read_yaml(text, name).roots), None)
    except TargetError as error:
        return str(error)
    if not isinstance(root, Mapping):
        return f"the settings file {name} (--config) holds no settings"
    flags: dict[str, Flag] = {}
    for key, value in root.values.items():
        setting = canonical(arguments.engine, key)
        # The line is the command's: that is the file in which evidence stands.
        at = Word(f"--{key}", flag.at.line)
        if isinstance(value, Scalar) and value.text.lower() not in {"false", "null", "~", ""}:
            given = None if value.text.lower() == "true" and not value.quoted else Word(value.text, flag.at.line)
            flags[setting] = Flag(setting, given, at)
    arguments.add_below(flags)
    return None
