"""`python -m kvfence` is the program `kvfence`."""

from kvfence.cli.main import run

if __name__ == "__main__":
    run()
