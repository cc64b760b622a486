"""Public texts that stand on this machine: what many tenants quote. Python's own sources are on every one."""

from __future__ import annotations

import gettext
import gzip
import sysconfig
from collections.abc import Iterator
from functools import cache
from itertools import chain, zip_longest
from pathlib import Path

LANGUAGES = ("de", "fr", "es", "pt_BR", "sv", "ru", "uk", "zh_CN", "ja", "ko")
CHUNK_BYTES = 2048
"""Quoted texts are cut as retrieval cuts them, so that two tenants have the same piece."""
_FILE_BYTES_MAX = 400_000
_CATALOGUE_BYTES_MAX = 120_000
_ALONE = "\n"


@cache
def chunks(limit_bytes: int) -> tuple[str, ...]:
    """Pieces of sources, licences, documentation and manual pages, so many bytes of them; the famous ones first."""
    kept: list[str] = []
    size = 0
    for text in _texts():
        for at in range(0, len(text), CHUNK_BYTES):
            kept.append(text[at : at + CHUNK_BYTES])
            size += CHUNK_BYTES
        if size > limit_bytes:
            break
    return tuple(piece for piece in kept if len(piece.strip()) > CHUNK_BYTES // 4)


@cache
def sentences(language: str) -> tuple[str, ...]:
    """What programs on this machine say in a language; nothing where it has no such catalogues."""
    found = [(path.stat().st_size, path) for path in Path("/usr/share/locale").glob(f"{language}/LC_MESSAGES/*.mo")]
    largest = max(((size, path) for size, path in found if size < _CATALOGUE_BYTES_MAX), default=None)
    if largest is None:
        return ()
    with largest[1].open("rb") as file:
        catalogue = gettext.GNUTranslations(file)._catalog  # type: ignore[attr-defined]  # there is no public way
    return tuple(text for text in catalogue.values() if isinstance(text, str) and len(text) > 3)


def _texts() -> Iterator[str]:
    """Licences first, then one of each kind in turn."""
    library = Path(sysconfig.get_paths()["stdlib"])
    packages = Path(sysconfig.get_paths()["purelib"])
    licences = sorted(Path("/usr/share/common-licenses").glob("*"))
    kinds = (
        sorted(library.glob("*.py")),
        sorted(Path("/usr/share/man/man1").glob("*.gz"))[::40],
        sorted(packages.glob("*.dist-info/METADATA")),
        sorted(library.glob("*/*.py")),
        sorted(packages.glob("*/*.py")),
        sorted(Path("/usr/share/doc").glob("*/copyright"))[::5],
    )
    in_turn = (path for some in zip_longest(*kinds) for path in some if path)
    for path in chain((path for path in licences if not path.is_symlink()), in_turn):
        text = _text_of(path)
        if text:
            yield text


def _text_of(path: Path) -> str | None:
    try:
        if path.stat().st_size > _FILE_BYTES_MAX:
            return None
        read = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        text = read.decode()
    except (OSError, UnicodeDecodeError, EOFError):
        return None
    return text if "\0" not in text and text.strip(_ALONE) else None
