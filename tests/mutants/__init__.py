"""Small changes of the package's own sources, drawn at random, and whether the tests of the changed code notice.

`make mutants` draws some per module and writes docs/mutants.md; `make test-all` tries a few. A survivor is a change
that no test notices: add a test, or list the change in ``equivalent.toml`` if no test can tell it from the original.
"""
