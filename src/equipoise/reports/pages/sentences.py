"""What a problem shows, in plain sentences: the page escapes them."""

from __future__ import annotations

from collections.abc import Sequence

from equipoise._statistics import Interval
from equipoise.reports.numbers.comparisons import ALPHA, Comparison, seeds_needed
from equipoise.reports.numbers.curves import fit_window
from equipoise.reports.numbers.digest import AgentDigest, CertifiedRegret, ProblemDigest, resolution
from equipoise.reports.numbers.format import as_given, between, count, fraction, number, p_value, plus_minus, signed
from equipoise.reports.pages.markup import escape
from equipoise.reports.pages.section import Text


def write_note(text: str) -> Text:
    """Return plain text as a note."""
    return Text(escape(text), "note")


def join_names(names: Sequence[str], most: int | None = None) -> str:
    """Join names to a list in a sentence, the last of many as a number."""
    if most is not None and len(names) > most + 1:
        names = [*names[:most], f"{len(names) - most} others"]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def verdict(pair: Comparison, measure: str) -> str:
    """A comparison in a sentence, with its first agent as the subject."""
    better = f"a higher {measure}" if measure.endswith("value") else f"lower {measure}"
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
    sentences = f"Paired by seed; Holm's correction is over all {pairs} of agents of this problem that were tested."
    if len(tested) == 1:
        sentences = "Paired by seed; only one pair of agents was tested, so there is nothing to correct for."
    seeds, needed = max(pair.n for pair in tested), seeds_needed(len(tested))
    if seeds < needed:
        sentences += (
            f" With {count(seeds, 'shared seed')} the smallest possible p is {number(2.0 ** (1 - seeds), 2)} before"
            f" correction: no difference can be significant at {100 * ALPHA:g} % with fewer than {needed} seeds."
        )
    return sentences


def summary(problem: ProblemDigest) -> list[str]:
    """What a problem shows: the best agent, by how much, whether that is significant, and how fast its regret falls."""
    if not problem.agents:
        return ["No run of this problem has a result yet."]
    if problem.best is None:
        return ["The agents share no checkpoint, so they are not compared; each is shown as far as it went."]
    best = problem.agent(problem.best)
    sentences = [_leader(problem, best)]
    sentences += _differences(problem)
    sentences += _fall(best)
    if best.proven is not None:
        clause = when_proven(best.proven)
        sentences.append(f"{clause[0].upper()}{clause[1:]}.")
    return sentences


def when_proven(found: CertifiedRegret) -> str:
    """From when on it is proven that little is lost, in how many runs, and with which probability."""
    lost = f"that at most {as_given(found.within)} is lost"
    one, done = found.runs == 1, len(found.since)
    sure = "" if found.certainty is None else f", with probability {number(found.certainty, 2)}"
    sure += " in each" if sure and not one else ""
    if found.certainty == 1.0:
        sure = ", for certain"
    if not done:
        return f"at the end it is not proven{'' if one else f' in any of {found.runs} runs'} {lost}"
    if found.all is not None:
        return f"from t = {found.all:,} on it is proven{'' if one else f' in all {found.runs} runs'} {lost}{sure}"
    when = f"from t = {found.since[0]:,} on" + (f" in the first, {found.since[-1]:,} in the last" if done > 1 else "")
    return f"at the end it is proven in {done} of {found.runs} runs {lost}, {when}{sure}"


def _leader(problem: ProblemDigest, best: AgentDigest) -> str:
    at = f"at t = {best.t:,}"
    seeds = f"({count(best.final.n, 'seed')})"
    figure = plus_minus(best.priced)
    if problem.measure == "regret" and 0 != best.priced.mean <= resolution(problem.record):
        figure += ", which is zero to within the accuracy of the optimum"
    name = f"{best.name} ({best.caveat})" if best.caveat else best.name
    if len(problem.agents) == 1:
        return f"{name} has {problem.judged} {figure} {at} {seeds}{_apart(problem, best)}."
    extreme = f"{'lowest' if problem.measure == 'regret' else 'highest'} {problem.judged}"
    return f"{name} has the {extreme} {at}: {figure} {seeds}{_apart(problem, best)}."


def _apart(problem: ProblemDigest, best: AgentDigest) -> str:
    """The regret and the violations apart, of which the priced regret is made; nothing without constraints."""
    found = problem.violations
    if found is None:
        return ""
    lacking = zip(problem.record.constraints, found.final[best.name], strict=True)
    told = join_names([f"{plus_minus(interval)} of {name!r}" for name, interval in lacking])
    return f", made of {problem.measure} {plus_minus(best.final)} and violations {told}"


def _differences(problem: ProblemDigest) -> list[str]:
    """One sentence for each thing that can be said of the best agent against the others."""
    groups: dict[str, list[Comparison]] = {}
    for pair in against_best(problem):
        groups.setdefault(_kind(pair), []).append(pair)
    names = {kind: [_with_factor(problem, pair.second) for pair in pairs] for kind, pairs in groups.items()}
    return [_sentence(kind, join_names(names[kind], most=3), pairs) for kind, pairs in groups.items()]


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
    if kind in ("significant", "open"):
        p, sign, word = (max, "≤", "significant") if kind == "significant" else (min, "≥", "not significant")
        found = p_value(p(corrected))
        found = found.replace("=", sign) if len(corrected) > 1 else found
        return f"The difference from {names} is {word} (Holm-corrected {found})."
    return {
        "reversed": f"On the seeds that they share {names} did better: the seeds of the agents differ.",
        "same": f"It is the same as that of {names} on every seed.",
        "no chance": f"The difference from {names} is the same on every seed: chance plays no part in it.",
        "one seed": f"One seed is shared with {names}, so nothing can be said about chance.",
        "no seed": f"No seed is shared with {names}, so there is no comparison.",
    }[kind]


def _with_factor(problem: ProblemDigest, name: str) -> str:
    """The name of another agent, with its regret as a multiple of the best one's where that means something."""
    best, other = problem.agent(problem.best or name), problem.agent(name)
    if problem.measure != "regret" or best.priced.mean <= resolution(problem.record):
        return name
    factor = other.priced.mean / best.priced.mean
    return f"{name} ({number(factor, 2)} times the {problem.judged})" if factor >= 1.05 else name


def _fall(best: AgentDigest) -> list[str]:
    if best.slope is None or best.slope.interval is None:
        return []
    first, last = fit_window(best.t)
    sentence = f"From t = {first:,.0f} to {last:,.0f} the slope of its regret is {signed(best.slope.interval)}"
    if best.rate is not None:
        sentence += f"; that of the theorem's bound is {fraction(best.rate)}"
    return [f"{sentence}."]
