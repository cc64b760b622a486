"""The commands by name, each loaded when it is asked for: loading all of them is a third of a short run."""

from __future__ import annotations

from collections.abc import Callable

COMMANDS = ("demo", "probe", "registry", "audit", "scan", "gate", "explain", "plan", "verify", "serve")
"""In the order of the help."""


def load(name: str) -> Callable[..., None]:  # noqa: C901, PLR0911 — one a command
    """The function behind a command of `COMMANDS`."""
    match name:
        case "demo":
            from kvfence.cli.demo import demo  # noqa: PLC0415 — see above, as all below

            return demo
        case "probe":
            from kvfence.cli.probe import probe  # noqa: PLC0415

            return probe
        case "registry":
            from kvfence.cli.registry import registry  # noqa: PLC0415

            return registry
        case "audit":
            from kvfence.cli.audit import audit  # noqa: PLC0415

            return audit
        case "scan":
            from kvfence.cli.scan import scan  # noqa: PLC0415

            return scan
        case "gate":
            from kvfence.cli.gate import gate  # noqa: PLC0415

            return gate
        case "explain":
            from kvfence.cli.explain import explain  # noqa: PLC0415

            return explain
        case "plan":
            from kvfence.cli.plan import plan  # noqa: PLC0415

            return plan
        case "verify":
            from kvfence.cli.verify import verify  # noqa: PLC0415

            return verify
        case "serve":
            from kvfence.cli.serve import serve  # noqa: PLC0415

            return serve
        case _:
            raise LookupError(name)
