"""Our own tree in figures: `make measure`."""

from __future__ import annotations

import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.source_tree import ROOT, Module, modules


def code_lines(module: Module) -> int:
    """Lines that are neither empty nor only a comment."""
    return sum(bool(line.strip()) and not line.strip().startswith("#") for line in module.text.splitlines())


def main() -> None:
    """Print."""
    source, tests = modules(), modules(ROOT / "tests")
    lines = sorted(module.text.count("\n") for module in source)
    functions = sorted(length for module in source for _, _, length in module.functions())
    ratio = sum(map(code_lines, tests)) / sum(map(code_lines, source))
    sys.stdout.write(
        f"files {len(lines)}, lines {sum(lines)}, median {statistics.median(lines):.0f}, max {lines[-1]}, "
        f"over 400: {sum(count > 400 for count in lines)}\n"
        f"functions {len(functions)}, median {statistics.median(functions):.0f}, "
        f"ninth decile {functions[len(functions) * 9 // 10]}, max {functions[-1]}\n"
        f"test lines to source lines {ratio:.2f}\n"
    )


if __name__ == "__main__":
    main()
