"""Real text of this machine, in passages with a title: manuals, catalogues of programs' messages, docstrings, code.

Nothing of it is kept in the repository. What a machine has differs, so figures differ a little; the page says where
they were measured.
"""

from __future__ import annotations

import ast
import gettext
import gzip
import hashlib
import importlib.metadata
import re
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

MAN = Path("/usr/share/man")
LOCALE = Path("/usr/share/locale")
NODE = Path("/usr/share/doc/nodejs/api")
STDLIB = Path(sysconfig.get_paths()["stdlib"])
FOLDERS = {"en": "", "de": "de", "fr": "fr", "es": "es", "ru": "ru", "zh": "zh_CN", "ja": "ja"}
CATALOGUES = {"ar": "ar", "es": "es", "zh": "zh_CN", "ja": "ja", "ru": "ru", "fr": "fr", "de": "de"}
ENGLISH_PAGES_MAX = 500
CHARS_MIN, CHARS_MAX = 160, 1600
MESSAGES = 6
MESSAGE_CHARS = range(41, 400)
HELD_OUT_GENRES = ("readme", "node")
"""Kinds of text that no scale was made of."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a document."""

    language: str
    genre: str
    document: str
    title: str
    text: str
    english: str = ""
    """The same in English, where the source has it."""

    @property
    def is_held_out(self) -> bool:
        """By its document, so that no document is on both sides."""
        return self.genre in HELD_OUT_GENRES or hashlib.sha256(self.document.encode()).digest()[0] % 2 == 0


def passages() -> list[Passage]:
    """All of them, in a fixed order."""
    return [*_manuals(), *_catalogues(), *_docstrings_and_code(), *_readmes(), *_node()]


def _manuals() -> Iterator[Passage]:
    for language, folder in FOLDERS.items():
        pages = sorted((MAN / folder).glob("man[1-8]/*.gz"))
        for page in pages[:: max(1, len(pages) // ENGLISH_PAGES_MAX)]:
            try:
                text = gzip.decompress(page.read_bytes()).decode()
            except (OSError, UnicodeDecodeError):
                continue
            name = page.name.split(".")[0]
            for heading, piece in _sections(text):
                yield Passage(language, "manual", f"man/{page.name}", f"{name} ({heading})", piece)


def _sections(roff: str) -> Iterator[tuple[str, str]]:
    heading, lines = "", []
    for line in [*roff.splitlines(), ".SH end"]:
        if line.startswith((".SH", ".SS")):
            yield from ((heading, piece) for piece in _pieces("\n".join(lines)))
            heading, lines = line[3:].strip(' "').capitalize(), []
        elif line.startswith((".PP", ".P", ".TP", ".sp", ".IP")):
            lines.append("")
        elif not line.startswith((".", "'")):
            lines.append(
                re.sub(r"\\f.|\\[&|^/,%]|\\\*\(..|\\s-?\d", "", line).replace("\\-", "-").replace("\\(aq", "'")
            )
        elif line[:3] in {".B ", ".I ", ".BR", ".IR", ".Nm", ".Fl"}:
            lines.append(line[3:].strip())


def _pieces(text: str) -> Iterator[str]:
    """Paragraphs put together to pieces of a usable size."""
    some = ""
    for paragraph in re.split(r"\n\s*\n", text):
        some = f"{some}\n\n{paragraph.strip()}".strip()
        if len(some) >= CHARS_MIN:
            yield some[:CHARS_MAX]
            some = ""


def _catalogues() -> Iterator[Passage]:
    for language, folder in CATALOGUES.items():
        for file in sorted((LOCALE / folder / "LC_MESSAGES").glob("*.mo")):
            try:
                with file.open("rb") as opened:
                    catalogue = gettext.GNUTranslations(opened)
            except (OSError, UnicodeDecodeError, ValueError):
                continue
            pairs = [
                (key, value)
                for key, value in sorted(vars(catalogue)["_catalog"].items(), key=str)
                if isinstance(key, str) and isinstance(value, str) and len(key) in MESSAGE_CHARS and len(value) > 15  # noqa: PLR2004 — enough to tell a language
            ]
            for at in range(0, len(pairs) - MESSAGES, MESSAGES):
                english, there = zip(*pairs[at : at + MESSAGES], strict=True)
                title = f"{file.stem} {at // MESSAGES + 1}"
                yield Passage(language, "catalogue", f"mo/{file.stem}", title, "\n".join(there), "\n".join(english))


def _docstrings_and_code() -> Iterator[Passage]:
    for file in sorted(STDLIB.glob("*.py")):
        source = file.read_text(encoding="utf-8", errors="replace")
        for node in ast.walk(ast.parse(source)):
            if not isinstance(node, ast.FunctionDef | ast.ClassDef):
                continue
            title = f"{file.stem}.{node.name}"
            text = ast.get_docstring(node) or ""
            if len(text) >= CHARS_MIN:
                yield Passage("en", "docstring", f"py/{file.stem}", title, text[:CHARS_MAX])
            code = ast.get_source_segment(source, node) or ""
            if len(code) >= CHARS_MIN and isinstance(node, ast.FunctionDef):
                yield Passage("code", "code", f"py/{file.stem}", title, code[: 2 * CHARS_MAX])


def _readmes() -> Iterator[Passage]:
    for found in sorted(importlib.metadata.distributions(), key=lambda one: str(one.metadata["Name"])):
        name, text = str(found.metadata["Name"]), str(found.metadata.get_payload() or "")
        for number, piece in enumerate(_pieces(text)):
            yield Passage("en", "readme", f"readme/{name}", f"{name}, part {number + 1}", piece)


def _node() -> Iterator[Passage]:
    for file in sorted(NODE.glob("*.html"))[::2]:
        text = file.read_text(encoding="utf-8", errors="replace")
        body = re.sub(r"<(script|style|nav)\b.*?</\1>|<[^>]+>", "", text, flags=re.DOTALL)
        for number, piece in enumerate(_pieces(body)):
            if number % 3 == 0:
                yield Passage("en", "node", f"node/{file.stem}", f"Node's {file.stem}, part {number + 1}", piece)
