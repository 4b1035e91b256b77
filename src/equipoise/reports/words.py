"""Numbers as people write them, and what a problem shows in sentences.

All text here is plain: the page escapes it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from equipoise.reports.axes import superscript
from equipoise.reports.charts import fraction
from equipoise.reports.comparisons import ALPHA, Comparison, seeds_needed
from equipoise.reports.digest import AgentDigest, ProblemDigest, resolution
from equipoise.reports.statistics import Interval, Slope, fit_window


def number(x: float, digits: int = 3) -> str:
    """To so many significant digits; far from 1 with a power of ten.

    >>> number(0.012345), number(-0.0000123), number(1234567.0), number(0.0)
    ('0.0123', '−1.23 × 10⁻⁵', '1.23 × 10⁶', '0')
    """
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


def count(n: int, thing: str, things: str = "") -> str:
    """How many, with the right form of the noun.

    >>> count(1, "seed"), count(1200, "seed"), count(2, "fox", "foxes")
    ('1 seed', '1,200 seeds', '2 foxes')
    """
    return f"{n:,} {thing if n == 1 else things or thing + 's'}"


def plus_minus(x: Interval) -> str:
    """Mean and half-width, both to the place of the half-width's second digit.

    >>> plus_minus(Interval(0.123456, 0.00234, 20)), plus_minus(Interval(1.31e-5, 4e-7, 20))
    ('0.1235 ± 0.0023', '(1.310 ± 0.040) × 10⁻⁵')
    >>> plus_minus(Interval(0.5, None, 1)), plus_minus(Interval(0.25, 0.0, 20))
    ('0.500', '0.250 on every seed')
    """
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
    """The ends of an interval.

    >>> between(Interval(-0.5, 0.0123, 20))
    '−0.512 to −0.488'
    """
    return f"{number(x.low)} to {number(x.high)}"


def p_value(p: float) -> str:
    """As it stands in a sentence.

    >>> p_value(0.0312), p_value(2e-6), p_value(1.0)
    ('p = 0.031', 'p < 0.0001', 'p = 1')
    """
    if p < 1e-4:
        return "p < 0.0001"
    return f"p = {p:.2g}"


def p_cell(p: float | None) -> str:
    """As it stands in a table.

    >>> p_cell(0.0312), p_cell(2e-6), p_cell(None)
    ('0.031', '< 0.0001', 'no test')
    """
    return "no test" if p is None else p_value(p).removeprefix("p = ").removeprefix("p ")


def steps_per_second(x: float) -> str:
    """A speed, with a prefix in words.

    >>> steps_per_second(2.346e7), steps_per_second(51234.0), steps_per_second(321.0)
    ('23.5 million', '51.2 thousand', '321')
    """
    for size, word in ((1e6, " million"), (1e3, " thousand"), (1.0, "")):
        if x >= size:
            return f"{number(x / size)}{word}"
    return number(x)


def speeds(slowest: float, fastest: float) -> str:
    """A range of speeds, with the prefix once if it is the same.

    >>> speeds(1.81e7, 2.14e7), speeds(9e5, 2e6), speeds(100.0, 100.0)
    ('18.1 to 21.4 million', '900 thousand to 2.00 million', '100')
    """
    low, high = steps_per_second(slowest), steps_per_second(fastest)
    if low == high:
        return low
    return (
        f"{low.partition(' ')[0]} to {high}" if low.partition(" ")[2] == high.partition(" ")[2] else f"{low} to {high}"
    )


def listed(names: Sequence[str], most: int | None = None) -> str:
    """Names in a row, the last of many as a number.

    >>> listed(["a"]), listed(["a", "b", "c"]), listed(["a", "b", "c", "d", "e"], most=3)
    ('a', 'a, b and c', 'a, b, c and 2 others')
    """
    if most is not None and len(names) > most + 1:
        names = [*names[:most], f"{len(names) - most} others"]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def slope(x: Slope | None) -> str:
    """A slope for a table, or why there is none.

    >>> slope(Slope(Interval(-0.5, 0.0123, 20))), slope(Slope(None, "too few checkpoints"))
    ('−0.500 ± 0.012', 'too few checkpoints')
    """
    if x is None or x.interval is None:
        return "none" if x is None else x.reason
    return signed(x.interval)


def signed(x: Interval) -> str:
    """A slope with its half-width, to three places: finer is noise.

    >>> signed(Interval(-0.5, None, 1))
    '−0.500'
    """
    half = "" if x.half is None or x.half < 5e-4 else f" ± {x.half:.3f}"
    return f"{x.mean:.3f}{half}".replace("-", "−")


def verdict(pair: Comparison, measure: str) -> str:
    """A comparison in a sentence, with its first agent as the subject."""
    better = "lower regret" if measure == "regret" else "a higher value"
    first, second, d = pair.first, pair.second, pair.difference
    if d is None:
        return f"{first} and {second} share no seed: not compared."
    if pair.identical:
        return f"{first} and {second} have the same {measure} on all {count(pair.n, 'seed')}: p = 1."
    gain = Interval(-d.mean, d.half, d.n)
    if pair.n == 1:
        return f"{first} has {better} than {second} by {number(gain.mean)} on the one shared seed: no test."
    ties = f" ({count(pair.ties, 'tie')})" if pair.ties else ""
    won = f"{first} has {better} than {second} on {pair.lower} of {count(pair.n, 'seed')}{ties}"
    if pair.without_chance:
        return f"{won}, by {number(gain.mean)} each time: the seed makes no difference, so there is nothing to test."
    tested = "" if pair.corrected is None else f"; sign-flip test, Holm-corrected {p_value(pair.corrected)}"
    return f"{won}; by {number(gain.mean)} on average (95 % interval {between(gain)}){tested}."


def against_best(problem: ProblemDigest) -> tuple[Comparison, ...]:
    """The comparisons of the best agent with the others, with it in the first place; the nearest come first."""
    pairs = [pair if pair.first == problem.best else pair.flipped() for pair in problem.comparisons]
    own = [pair for pair in pairs if pair.first == problem.best]
    return tuple(sorted(own, key=lambda pair: abs(pair.difference.mean) if pair.difference else 0.0))


def family(problem: ProblemDigest) -> str:
    """How many tests the correction is over, and whether the seeds can be enough."""
    tested = [pair for pair in problem.comparisons if pair.p is not None]
    if not tested:
        return ""
    pairs = count(len(tested), "pair")
    said = f"Paired by seed; Holm's correction is over all {pairs} of agents of this problem that were tested."
    if len(tested) == 1:
        said = "Paired by seed; only one pair of agents was tested, so there is nothing to correct for."
    seeds, needed = max(pair.n for pair in tested), seeds_needed(len(tested))
    if seeds < needed:
        said += (
            f" With {count(seeds, 'shared seed')} the smallest possible p is {number(2.0 ** (1 - seeds), 2)} before"
            f" correction: no difference can be significant at {100 * ALPHA:g} % with fewer than {needed} seeds."
        )
    return said


def summary(problem: ProblemDigest) -> list[str]:
    """What a problem shows: the best agent, by how much, whether that is significant, and how fast its regret falls."""
    if not problem.agents:
        return ["No run of this problem has a result yet."]
    if problem.best is None:
        return ["The agents share no checkpoint, so they are not compared; each is shown as far as it went."]
    best = problem.agent(problem.best)
    said = [_leader(problem, best)]
    said += _differences(problem)
    said += _fall(best)
    return said


def _leader(problem: ProblemDigest, best: AgentDigest) -> str:
    at = f"at t = {best.t:,}"
    seeds = f"({count(best.final.n, 'seed')})"
    figure = plus_minus(best.final)
    if problem.measure == "regret" and 0 != best.final.mean <= resolution(problem.record):
        figure += ", which is zero to within the accuracy of the optimum"
    name = f"{best.name} ({best.caveat})" if best.caveat else best.name
    if len(problem.agents) == 1:
        return f"{name} has {problem.measure} {figure} {at} {seeds}."
    extreme = "lowest regret" if problem.measure == "regret" else "highest value"
    return f"{name} has the {extreme} {at}: {figure} {seeds}."


def _differences(problem: ProblemDigest) -> list[str]:
    """One sentence for each thing that can be said of the best agent against the others."""
    groups: dict[str, list[Comparison]] = {}
    for pair in against_best(problem):
        groups.setdefault(_kind(pair), []).append(pair)
    return [
        _sentence(kind, listed([_with_factor(problem, pair.second) for pair in pairs], most=3), pairs)
        for kind, pairs in groups.items()
    ]


def _kind(pair: Comparison) -> str:
    if pair.n <= 1:
        return "one seed" if pair.n else "no seed"
    if pair.identical:
        return "same"
    if pair.difference is not None and pair.difference.mean > 0:
        return "reversed"
    if pair.without_chance:
        return "no chance"
    return "significant" if pair.significant else "open"


def _sentence(kind: str, names: str, pairs: Sequence[Comparison]) -> str:
    corrected = [pair.corrected for pair in pairs if pair.corrected is not None]
    several = len(corrected) > 1
    match kind:
        case "significant":
            p = p_value(max(corrected))
            p = p.replace("=", "≤") if several else p
            return f"The difference from {names} is significant (Holm-corrected {p})."
        case "open":
            p = p_value(min(corrected))
            p = p.replace("=", "≥") if several else p
            return f"The difference from {names} is not significant (Holm-corrected {p})."
        case "reversed":
            return f"On the seeds that they share {names} did better: the seeds of the agents differ."
        case "same":
            return f"It is the same as that of {names} on every seed."
        case "no chance":
            return f"The difference from {names} is the same on every seed: chance plays no part in it."
        case "one seed":
            return f"One seed is shared with {names}, so nothing can be said about chance."
        case _:
            return f"No seed is shared with {names}, so there is no comparison."


def _with_factor(problem: ProblemDigest, name: str) -> str:
    """The name of another agent, with its regret as a multiple of the best one's where that means something."""
    best, other = problem.agent(problem.best or name), problem.agent(name)
    if problem.measure != "regret" or best.final.mean <= resolution(problem.record):
        return name
    factor = other.final.mean / best.final.mean
    return f"{name} ({number(factor, 2)} times the regret)" if factor >= 1.05 else name


def _fall(best: AgentDigest) -> list[str]:
    if best.slope is None or best.slope.interval is None:
        return []
    first, last = fit_window(best.t)
    said = f"From t = {first:,.0f} to {last:,.0f} the slope of its regret is {signed(best.slope.interval)}"
    if best.rate is not None:
        said += f"; that of the theorem's bound is {fraction(best.rate)}"
    return [f"{said}."]
