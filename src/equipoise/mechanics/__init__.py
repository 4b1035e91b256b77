"""Systems that people run, with known mechanics and unknown laws: each is a function that returns a `Mechanics`."""

__all__: list[str] = []
