"""The program `kvfence`, also as `python -m kvfence`. It loads inside, so that Ctrl-C while it loads is quiet too."""

import sys

INTERRUPTED = 130
"""128 and the number of SIGINT: what a shell tells of a program that Ctrl-C ended."""


def main() -> None:
    """Run the program."""
    try:
        from kvfence.cli.main import run  # noqa: PLC0415 — takes most of a second

        run()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
