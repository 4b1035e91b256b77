"""The package broken on purpose, one thing at a time, and which checks of the paper notice.

`make mutations` runs every mutation of the ``*.toml`` files here against the quick checks, each in a copy of the
sources; see `__main__`. `make test` sees that every mutation still fits the sources, and that every check has one aimed
at it.
"""
