"""Which way imports point: the one table, and the checks and the picture made from it."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from graphlib import CycleError, TopologicalSorter

from support.source_tree import Import, Module

FLOORS = {
    # package: (floor, half); lower floors may be imported, packages of one floor not by one another
    "findings": (0, "left"),
    "core": (0, "right"),
    "facts": (1, "left"),
    "report": (1, "left"),
    "audit": (2, "left"),
    "probe": (2, "left"),
    "cell": (2, "right"),
    "demo": (3, "both"),
    "cli": (4, "both"),
}
"""`verify`, `attack`, `engines`, `scan`, `watch` and `testing` get their floors (STYLE) when they are built."""

HEAVY = {
    "torch": (),
    "vllm": (),
    "sglang": (),
    "pandas": (),
}
"""Packages that only the files named here may import, inside a function; nothing needs one yet."""


def offences(modules: Iterable[Module]) -> Iterator[str]:
    """One line for each import that points the wrong way."""
    names = {module.name for module in modules}
    for module in modules:
        for found in module.imports():
            why = _why_wrong(found, names)
            if why:
                yield f"{found.file}:{found.line}: {found.importer} imports {found.imported}: {why}"


def cycle(modules: Iterable[Module]) -> list[str]:
    """An import cycle at module level, or nothing. A package's own `__init__` is a module like any other."""
    modules = list(modules)
    names = {module.name for module in modules}
    graph = {
        module.name: {found.imported for found in module.imports() if found.at_top and found.imported in names}
        - {module.name}
        for module in modules
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def package_of(module: str) -> str:
    """The package of a module: `kvfence.core.pool` is of `core`; `kvfence.errors` of none."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and parts[1] in FLOORS else ""


def _why_wrong(found: Import, names: set[str]) -> str:
    importer, imported = package_of(found.importer), package_of(found.imported)
    top = found.imported.split(".")[0]
    if top in HEAVY and found.file.name not in HEAVY[top]:
        return f"{top} is heavy and not allowed here"
    if importer == "core" and top not in sys.stdlib_module_names and imported != "core" and found.imported != "kvfence":
        return "core imports the standard library and itself, nothing else"
    if found.imported not in names or not importer or not imported or importer == imported:
        return ""
    return _why_wrong_floor(importer, imported)


def _why_wrong_floor(importer: str, imported: str) -> str:
    (floor, half), (other_floor, other_half) = FLOORS[importer], FLOORS[imported]
    if other_floor > floor:
        return f"floor {floor} looks up to floor {other_floor}"
    if other_floor == floor:
        return f"packages of floor {floor} do not import one another"
    if half == "left" and other_half == "right":
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
