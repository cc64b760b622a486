"""A target that holds an engine's source, read into verdicts: which fixes are in this very tree."""

from __future__ import annotations

import ast
import re

from kvfence.facts.reading import Reading
from kvfence.facts.source.files import Unreadable
from kvfence.facts.source.find_engine import DEPTH_MAX, FOLDERS_MAX, EnginePackage, find_engines
from kvfence.facts.source.parse import parsed
from kvfence.facts.source.parsed_code import Code
from kvfence.facts.source.questions import CATALOGUE, Catalogue
from kvfence.findings.redact import as_evidence
from kvfence.findings.source_tree import FixVerdict, SourceTree

PACKAGES_MAX = 4
"""One takes up to a quarter of a minute; who names the root of a disk did not mean all engines on it."""
_NAME_ONE = "name the site-packages, checkout or wheel that holds one"
_VERSION_FILES = ("_version.py", "version.py")
_VERSION_NAMES = frozenset({"__version__", "version"})


def read_source(target: str) -> Reading:
    """Every engine's tree in a folder or wheel, each fix decided.

    Raises:
        TargetError: it is not there, or neither a folder nor a wheel.
    """
    packages = find_engines(target)
    if not packages:
        searched = f"{DEPTH_MAX} levels and {FOLDERS_MAX:,} folders of it"
        return Reading(nodes=(), gaps=(f"no package of SGLang or vLLM was found in {searched}; {_NAME_ONE}",))
    judged = packages[:PACKAGES_MAX]
    more = [f"more than {PACKAGES_MAX} engines are in it, and only the nearest were read; name the one that runs"]
    return Reading(
        nodes=(),
        gaps=(*(gap for package in judged for gap in _gaps(package)), *(more if len(packages) > len(judged) else [])),
        trees=tuple(_judged(package) for package in judged),
    )


def _judged(package: EnginePackage) -> SourceTree:
    catalogue = CATALOGUE[package.engine]
    verdicts: tuple[FixVerdict, ...] = ()
    if _is_disaggregated(package, catalogue):
        code = Code.read(package.files, catalogue.folders)
        verdicts = tuple(question.of(code) for question in catalogue.questions)
    return SourceTree(
        name=package.files.shown, engine=package.engine, version_said=_version_said(package), verdicts=verdicts
    )


def _is_disaggregated(package: EnginePackage, catalogue: Catalogue) -> bool:
    return any(True for mark in catalogue.disaggregated for _ in package.files.python_files(mark))


def _gaps(package: EnginePackage) -> list[str]:
    catalogue = CATALOGUE[package.engine]
    if _is_disaggregated(package, catalogue):
        return []
    return [f"its {package.engine} has no {catalogue.called}, so there is nothing in it to be fixed or to be looked at"]


def _version_said(package: EnginePackage) -> str | None:
    for name in _VERSION_FILES:
        content = package.files.read(name)
        tree = content if isinstance(content, Unreadable) else parsed(content)
        if isinstance(tree, Unreadable):
            continue
        for node in ast.walk(tree):
            match node:
                case ast.Assign(targets=[*targets, ast.Name(id=said)], value=ast.Constant(value=str(text))) if (
                    said in _VERSION_NAMES and re.match(r"\d", text)
                ):
                    del targets
                    return as_evidence(text)
                case _:
                    pass
    named = re.compile(rf"{package.engine}-(\d.*)\.dist-info")
    found = next((match for name in package.beside if (match := named.fullmatch(name))), None)
    return as_evidence(found.group(1)) if found else None
