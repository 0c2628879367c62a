"""``python -m xordal`` is the ``xordal`` command."""

from xordal.cli.app import main

if __name__ == "__main__":
    main()
