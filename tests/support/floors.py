"""Which way imports point: the one table, and the checks and the picture made from it."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter

from support.source_tree import COMPUTED, Import, Module

FLOORS = {
    # package: (floor, half); lower floors may be imported, packages of one floor not by one another
    "findings": (0, "left"),
    "core": (0, "right"),
    "facts": (1, "left"),
    "report": (1, "left"),
    "audit": (2, "left"),
    "plan": (2, "left"),
    "probe": (2, "left"),
    "scan": (2, "left"),
    "verify": (1, "right"),
    "cell": (2, "right"),
    "engines": (2, "right"),
    "demo": (3, "both"),
    "cli": (4, "both"),
}
"""`attack`, `watch` and `testing` get their floors (STYLE) when they are built."""

SINGLE = {
    "kvfence": (-1, "both"),
    "kvfence.errors": (-1, "both"),
    "kvfence.__main__": (5, "both"),
}
"""Modules of no package: below every floor what all may import, above them all what starts the program."""

HEAVY: dict[str, tuple[str, ...]] = {
    "vllm": (),
    "sglang": (),
    "pandas": (),
    "tokenizers": ("kvfence.probe.tokenizer_file",),
}
"""Packages that only the modules named here may import, inside a function."""

OF_LATE: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("pyarrow", "duckdb", "numba", "hyperscan", "kingfisher_sdk", "ray", "pyspark"), ("kvfence.scan",)),
    "torch": ("kvfence.engines.digest.in_torch", "kvfence.engines.digest.in_triton"),
    "triton": ("kvfence.engines.digest.in_triton",),
}
"""Heavy packages and who may import them anywhere: packages and modules that are loaded late themselves."""


def offences(modules: Iterable[Module], heavy: Mapping[str, tuple[str, ...]] = HEAVY) -> Iterator[str]:
    """One line for each import that points the wrong way."""
    modules = list(modules)
    names = {module.name for module in modules}
    for module in modules:
        told = set()
        for found in module.imports():
            why = _why_wrong(found, names, heavy)
            if why and (found.line, why) not in told:
                told.add((found.line, why))
                yield f"{found.file}:{found.line}: {found.importer} imports {found.imported}: {why}"


def cycle(modules: Iterable[Module]) -> list[str]:
    """An import cycle at module level, or nothing.

    A package's `__init__` is a module like any other, and it runs whenever one of its modules is imported from outside.
    """
    modules = list(modules)
    names = {module.name for module in modules}
    graph = {module.name: set(_runs_first(module, names)) for module in modules}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def _runs_first(module: Module, names: set[str]) -> Iterator[str]:
    around = {module.name, *_packages_around(module.name)}
    for found in module.imports():
        imported = _known(found.imported, names)
        if found.at_top and imported:
            yield from {imported} - {module.name}
            yield from set(_packages_around(imported)) - around


def _packages_around(module: str) -> list[str]:
    parts = module.split(".")
    return [".".join(parts[:count]) for count in range(1, len(parts))]


def _known(name: str, names: set[str]) -> str:
    """The module that an imported name is of: `kvfence.core.pool.Pool` is of `kvfence.core.pool`."""
    while name and name not in names:
        name = name.rpartition(".")[0]
    return name


def _floor_of(module: str) -> tuple[int, str] | None:
    if module in SINGLE:
        return SINGLE[module]
    return FLOORS.get(_package_of(module))


def _package_of(module: str) -> str:
    return module.partition(".")[2].partition(".")[0]


def _why_wrong(found: Import, names: set[str], heavy: Mapping[str, tuple[str, ...]]) -> str:
    top = found.imported.split(".")[0]
    if found.imported == COMPUTED:
        return "an import of a computed name cannot be checked"
    if top in heavy:
        return _why_wrong_heavy(found, heavy[top])
    if top in OF_LATE and not _is_within(found.importer, OF_LATE[top]):
        return f"it is heavy, and only {' and '.join(OF_LATE[top])} may import it"
    for late in {late for lates in OF_LATE.values() for late in lates}:
        if found.at_top and _is_within(found.imported, (late,)) and not _is_within(found.importer, (late,)):
            return f"{late} is heavy, so it is imported inside the function that needs it"
    if _package_of(found.importer) == "core" and top not in sys.stdlib_module_names:
        inside = _package_of(found.imported) == "core"
        return "" if inside else "core imports the standard library and itself, nothing else"
    imported = _known(found.imported, names)
    return _why_wrong_floor(found.importer, imported) if imported else ""


def _is_within(module: str, packages: Iterable[str]) -> bool:
    return any(module == package or module.startswith(f"{package}.") for package in packages)


def _why_wrong_heavy(found: Import, allowed: tuple[str, ...]) -> str:
    if found.importer not in allowed:
        return "it is heavy and not allowed here"
    return "it is heavy, so it is imported inside the function that needs it" if found.at_top else ""


def _why_wrong_floor(importer: str, imported: str) -> str:
    one, other = _floor_of(importer), _floor_of(imported)
    if one is None or other is None:
        return f"{imported if one else importer} has no floor in the table"
    if other[0] > one[0]:
        return f"floor {one[0]} looks up to floor {other[0]}"
    if importer != imported and other[0] == one[0] and _package_of(importer) != _package_of(imported):
        return f"packages of floor {one[0]} do not import one another"
    if (one[1], other[1]) == ("left", "right"):
        return "the left half never imports the right one"
    return ""


def picture() -> str:
    """The floors as an SVG picture."""
    height, width, top = 58, 760, max(floor for floor, _ in FLOORS.values())
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{(top + 1) * height + 20}">',
        '<g font-family="sans-serif" font-size="14">',
    ]
    for floor in range(top, -1, -1):
        y = (top - floor) * height + 10
        parts.append(f'<text x="8" y="{y + 28}" fill="#667">{floor}</text>')
        inside = [(name, half) for name, (at, half) in FLOORS.items() if at == floor]
        for place, (name, half) in enumerate(inside):
            box = (width - 50) / len(inside)
            fill = {"left": "#e3eefb", "right": "#fdeee3", "both": "#eeeaf8"}[half]
            x = 36 + place * box
            parts.append(f'<rect x="{x:.0f}" y="{y}" width="{box - 10:.0f}" height="40" rx="6" fill="{fill}"/>')
            parts.append(f'<text x="{x + 12:.0f}" y="{y + 26}">{name}</text>')
    return "\n".join([*parts, "</g>", "</svg>", ""])
