"""``python -m xordal`` is the ``xordal`` command."""

from xordal.cli.app import console

if __name__ == "__main__":
    console()
