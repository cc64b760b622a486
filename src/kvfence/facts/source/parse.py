"""Bytes into a syntax tree, or the reason why not. Nothing is imported, compiled or run."""

from __future__ import annotations

import ast
import sys
import warnings

from kvfence.facts.source.files import Unreadable

_MERGE_MARKERS = (b"<<<<<<< ", b"======= ", b">>>>>>> ")


def parsed(content: bytes) -> ast.Module | Unreadable:
    """The file's syntax tree. Its own coding line is honoured; without one it is UTF-8."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an engine's odd escapes are not ours to report
            return ast.parse(content)
    except SyntaxError as error:
        return Unreadable(_why(content, error))
    except ValueError:
        return Unreadable("holds bytes that no source code has")
    except (RecursionError, MemoryError):
        return Unreadable("is nested too deeply to be parsed")


def _why(content: bytes, error: SyntaxError) -> str:
    if any(line.startswith(_MERGE_MARKERS) for line in content.splitlines()):
        return "holds merge markers"
    if "codec" in str(error) or "encoding" in str(error):
        return "is no text in the encoding that it says"
    at = f" (line {error.lineno})" if error.lineno else ""
    return f"does not parse as Python {sys.version_info.major}.{sys.version_info.minor}{at}"
