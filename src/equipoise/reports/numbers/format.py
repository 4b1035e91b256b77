"""Numbers as people write them: the same on axes, in tables and in sentences."""

from __future__ import annotations

import math
from fractions import Fraction

from equipoise._statistics import Interval
from equipoise.reports.numbers.curves import Slope

_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def number(x: float, digits: int = 3) -> str:
    """To so many significant digits; far from 1 with a power of ten."""
    if not math.isfinite(x):
        return "not a number" if math.isnan(x) else ("∞" if x > 0 else "−∞")
    if x == 0:
        return "0"
    mantissa, _, exponent = f"{x:.{digits - 1}e}".partition("e")
    power = int(exponent)
    if -4 <= power < 5:
        plain = f"{float(f'{mantissa}e{power}'):,.{max(0, digits - 1 - power)}f}"
    else:
        plain = f"{mantissa} × 10{superscript(power)}"
    return plain.replace("-", "−")


def as_given(x: float) -> str:
    """A number that somebody chose, with the digits that it has."""
    return number(x, next(digits for digits in range(1, 18) if float(f"{x:.{digits - 1}e}") == x))


def count(n: int, thing: str, things: str = "") -> str:
    """How many, with the right form of the noun."""
    return f"{n:,} {thing if n == 1 else things or thing + 's'}"


def plus_minus(x: Interval) -> str:
    """Mean and half-width, both to the place of the half-width's second digit."""
    if x.half is None:
        return number(x.mean)
    if x.without_chance:
        return f"{number(x.mean)} on every seed"
    largest = math.floor(math.log10(max(abs(x.mean), x.half)))
    power = largest if not -3 <= largest < 5 else 0
    mean, half = x.mean / 10.0**power, x.half / 10.0**power
    places = min(12, max(0, 1 - math.floor(math.log10(half))))
    plain = f"{mean:,.{places}f} ± {half:,.{places}f}".replace("-", "−")
    return f"({plain}) × 10{superscript(power)}" if power else plain


def between(x: Interval) -> str:
    """The ends of an interval."""
    return f"{number(x.low)} to {number(x.high)}"


def p_value(p: float) -> str:
    """As it stands in a sentence."""
    if p < 1e-4:
        return "p < 0.0001"
    return f"p = {p:.2g}"


def p_cell(p: float | None) -> str:
    """As it stands in a table."""
    return "no test" if p is None else p_value(p).removeprefix("p = ").removeprefix("p ")


def steps_per_second(x: float) -> str:
    """A speed, with a prefix in words."""
    for size, word in ((1e6, " million"), (1e3, " thousand"), (1.0, "")):
        if x >= size:
            return f"{number(x / size)}{word}"
    return number(x)


def speeds(slowest: float, fastest: float) -> str:
    """A range of speeds, with the prefix once if it is the same."""
    low, high = steps_per_second(slowest), steps_per_second(fastest)
    if low == high:
        return low
    alike = low.partition(" ")[2] == high.partition(" ")[2]
    return f"{low.partition(' ')[0] if alike else low} to {high}"


def slope(x: Slope | None) -> str:
    """A slope for a table, or why there is none."""
    if x is None or x.interval is None:
        return "none" if x is None else x.reason
    return signed(x.interval)


def signed(x: Interval) -> str:
    """A slope with its half-width, to three places: finer is noise."""
    half = "" if x.half is None or x.half < 5e-4 else f" ± {x.half:.3f}"
    return f"{x.mean:.3f}{half}".replace("-", "−")


def fraction(rate: float) -> str:
    """A rate as it stands in a formula."""
    return str(Fraction(rate).limit_denominator(12)).replace("-", "−")


def superscript(exponent: int) -> str:
    """An integer as an exponent."""
    return str(exponent).translate(_SUPERSCRIPTS)
