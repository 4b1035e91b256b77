"""Random expressions that CVXPY's rules prove concave, made of every atom that is compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
from hypothesis import strategies as st

Made = Callable[[Any], Any]  # from the outcomes to an expression

numbers = st.sampled_from([-2.0, -1.0, -0.5, 0.0, 0.25, 0.3, 1.0, 1.5])
positive = st.sampled_from([0.1, 0.25, 1.0, 2.0])


@st.composite
def rows(draw: st.DrawFn, K: int, least: float | None = None, size: int | None = None) -> Made:
    """A vector that is affine in the outcomes; from `least` on, if that is given, for all of them in [0, 1]."""
    n = draw(st.integers(1, 3)) if size is None else size
    A = np.array(draw(st.lists(numbers, min_size=n * K, max_size=n * K))).reshape(n, K)
    b = np.array(draw(st.lists(numbers, min_size=n, max_size=n)))
    if least is not None:
        b = least - np.minimum(A, 0.0).sum(axis=1) + np.abs(b)
    kind = draw(st.sampled_from(["matrix", "whole", "scaled", "part", "stack", "sums"]))
    if kind == "whole" and n == K:
        c = b if least is None else np.full(K, least) + np.abs(b)
        return lambda w: w + c
    if kind == "scaled" and n == K:
        scales = draw(st.lists(positive, min_size=K, max_size=K))
        c = b if least is None else np.full(K, least) + np.abs(b)
        return lambda w: cp.multiply(scales, w) + c
    if kind == "part" and n == 1:
        where = draw(st.integers(0, K - 1))
        c = 0.0 if least is None else least
        return lambda w: w[where : where + 1] + c
    if kind == "stack" and n > 1:
        return lambda w: cp.hstack([A[i] @ w + b[i] for i in range(n)])
    if kind == "sums" and least is None:
        return lambda w: cp.cumsum(A @ w) / 2 - b
    return lambda w: A @ w + b


def convex(K: int, depth: int = 2) -> st.SearchStrategy[Made]:
    """A convex number."""
    return st.one_of(_convex_atoms(K), *([_convex_of_convex(K, depth)] if depth else []))


def concave(K: int, depth: int = 2) -> st.SearchStrategy[Made]:
    """A concave number."""
    return st.one_of(_concave_atoms(K), *([_concave_of_concave(K, depth)] if depth else []))


@st.composite
def _convex_atoms(draw: st.DrawFn, K: int) -> Made:
    x, y, z = draw(rows(K)), draw(rows(K, least=0.2)), draw(rows(K, least=0.2, size=1))
    a, p = draw(positive), draw(st.sampled_from([1.3, 2.0, 3.0, 4.0]))
    root = np.array(draw(st.lists(numbers, min_size=9, max_size=9))).reshape(3, 3)
    three = draw(rows(K, size=3))
    atoms: dict[str, Made] = {
        "sum_squares": lambda w: cp.sum_squares(x(w)),
        "norm1": lambda w: cp.norm1(x(w)),
        "norm2": lambda w: cp.norm(x(w), 2),
        "norm2_squared": lambda w: cp.square(cp.norm(a * x(w), 2)),
        "norm_inf": lambda w: cp.norm_inf(x(w)),
        "pnorm": lambda w: cp.pnorm(x(w), max(p, 1.5)),
        "max": lambda w: cp.max(x(w)),
        "abs": lambda w: cp.sum(cp.abs(x(w))),
        "squared_abs": lambda w: cp.sum(cp.square(a * cp.abs(x(w)))),
        "pos": lambda w: cp.sum(cp.pos(x(w))),
        "neg": lambda w: cp.sum(cp.neg(x(w))),
        "square_pos": lambda w: cp.sum(cp.square(a * cp.pos(x(w)))),
        "power_pos": lambda w: cp.sum(cp.power(cp.pos(x(w)), p)),
        "maximum": lambda w: cp.sum(cp.maximum(x(w), 0.3, -x(w))),
        "power": lambda w: cp.sum(cp.power(y(w), p)),
        "even": lambda w: cp.sum(cp.power(x(w), 4)),
        "inverse": lambda w: cp.sum(cp.inv_pos(y(w))),
        "negative": lambda w: cp.sum(cp.power(y(w), -p)),
        "exp": lambda w: cp.sum(cp.exp(x(w) / 4)),
        "logistic": lambda w: cp.sum(cp.logistic(x(w))),
        "log_sum_exp": lambda w: cp.log_sum_exp(x(w)),
        "huber": lambda w: cp.sum(cp.huber(x(w), a)),
        "sum_largest": lambda w: cp.sum_largest(x(w), min(2, x(w).size)),
        "sum_largest_in_part": lambda w: cp.sum_largest(x(w), 0.5 if x(w).size == 1 else 1.5),
        "kl_div": lambda w: cp.sum(cp.kl_div(y(w), a)),
        "rel_entr": lambda w: cp.sum(cp.rel_entr(y(w), z(w)[0])),
        "entropy_of_constant": lambda w: cp.sum(cp.rel_entr(np.array([0.0, a]), cp.hstack([z(w), z(w)]))),
        "quad_over_lin": lambda w: cp.quad_over_lin(x(w), z(w)[0]),
        "quad_over_constant": lambda w: cp.quad_over_lin(x(w), a),
        "quad_form": lambda w: cp.quad_form(three(w), root @ root.T),
        "axis": lambda w: cp.sum(cp.norm(cp.vstack([x(w), x(w) - a]), 2, axis=0)),
        "matrix": lambda w: cp.max(cp.reshape(cp.hstack([x(w), x(w) * a]), (2, x(w).size), order="C"), axis=1)[1],
    }
    return atoms[draw(st.sampled_from(sorted(atoms)))]


@st.composite
def _concave_atoms(draw: st.DrawFn, K: int) -> Made:
    x, y = draw(rows(K)), draw(rows(K, least=0.15))
    a, p = draw(positive), draw(st.sampled_from([0.25, 0.5, 0.9]))
    atoms: dict[str, Made] = {
        "linear": lambda w: cp.sum(x(w)),
        "mean": lambda w: a * cp.mean(x(w)),
        "min": lambda w: cp.min(x(w)),
        "minimum": lambda w: cp.sum(cp.minimum(x(w), 0.2)),
        "log": lambda w: cp.sum(cp.log(y(w))),
        "log1p": lambda w: cp.sum(cp.log1p(y(w) - 0.9)),
        "entr": lambda w: cp.sum(cp.entr(y(w))),
        "sqrt": lambda w: cp.sum(cp.sqrt(y(w))),
        "power": lambda w: cp.sum(cp.power(y(w), p)),
        "geo_mean": lambda w: cp.geo_mean(y(w)),
        "weighted_geo_mean": lambda w: cp.geo_mean(cp.hstack([y(w), 1.0]), [1] * y(w).size + [2]),
        "harmonic_mean": lambda w: cp.harmonic_mean(y(w)),
        "harmonic_at_zero": lambda w: cp.harmonic_mean(w),
        "pnorm": lambda w: cp.pnorm(y(w), p),
        "sum_smallest": lambda w: cp.sum_smallest(x(w), min(2, x(w).size)),
    }
    return atoms[draw(st.sampled_from(sorted(atoms)))]


@st.composite
def _convex_of_convex(draw: st.DrawFn, K: int, depth: int) -> Made:
    f, h, g = draw(convex(K, depth - 1)), draw(convex(K, depth - 1)), draw(concave(K, depth - 1))
    a = draw(positive)
    ways: dict[str, Made] = {
        "sum": lambda w: a * f(w) + h(w),
        "maximum": lambda w: cp.maximum(f(w), h(w) - a),
        "softly": lambda w: cp.log_sum_exp(cp.hstack([f(w), h(w)]) / 4),
        "exp": lambda w: cp.exp((f(w) - a) / 64),
        "pos": lambda w: cp.square(cp.pos(f(w) - a)),
        "logistic": lambda w: cp.logistic(f(w)),
        "minus": lambda w: -g(w),
        "pos_minus": lambda w: cp.pos(a - g(w)),
        "largest": lambda w: cp.sum_largest(cp.hstack([f(w), h(w), -g(w)]), 2),
        "norm": lambda w: cp.norm(cp.pos(cp.hstack([f(w), -g(w)])), 2),
    }
    return ways[draw(st.sampled_from(sorted(ways)))]


@st.composite
def _concave_of_concave(draw: st.DrawFn, K: int, depth: int) -> Made:
    f, h, g = draw(concave(K, depth - 1)), draw(concave(K, depth - 1)), draw(convex(K, depth - 1))
    y = draw(rows(K, least=0.15))
    a = draw(positive)
    ways: dict[str, Made] = {
        "sum": lambda w: a * f(w) + h(w),
        "minus": lambda w: -g(w),
        "minimum": lambda w: cp.minimum(f(w), h(w) + a, -g(w)),
        "log": lambda w: cp.log(cp.min(y(w)) + a),
        "sqrt_of_mean": lambda w: cp.sqrt(cp.geo_mean(y(w))),
        "smallest": lambda w: cp.sum_smallest(cp.hstack([f(w), h(w)]), 1),
        "stacked": lambda w: cp.min(cp.hstack([f(w), h(w)]) * a),
    }
    return ways[draw(st.sampled_from(sorted(ways)))]
