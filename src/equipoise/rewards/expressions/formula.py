"""A formula in a text as a CVXPY expression: numbers, lists, w, signs of arithmetic, and functions by CVXPY's names.

    1 - 0.5 * sum(square(w - [0.2, 0.3]))          min(w) + 0.1 * sum(w)          sum(log(w[1:] + 0.05))

The words are those of `FUNCTIONS`, and w is the vector of average outcomes: w[0] is the first, w[1:] and w[[0, 2]] are
several. +, -, *, / and ** go entry by entry, @ is the product of a matrix or a vector with a vector. Nothing else has a
meaning, so that a formula from a file can do nothing but describe a function.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from equipoise._words import nearest
from equipoise.errors import RewardError

NAME: Final = "w"
FUNCTIONS: Final = (
    "abs", "cumsum", "diff", "entr", "exp", "geo_mean", "harmonic_mean", "hstack", "huber", "inv_pos", "kl_div", "log",
    "log1p", "log_sum_exp", "logistic", "max", "maximum", "mean", "min", "minimum", "multiply", "neg", "norm", "norm1",
    "norm2", "norm_inf", "pnorm", "pos", "power", "quad_form", "quad_over_lin", "rel_entr", "sqrt", "square", "std",
    "sum", "sum_largest", "sum_smallest", "sum_squares", "tv", "var", "vstack",
)  # fmt: skip


def _times(one: Any, two: Any) -> Any:
    """Entry by entry, where CVXPY's own sign would take two vectors for matrices."""
    import cvxpy

    return (
        cvxpy.multiply(one, two)
        if isinstance(one, cvxpy.Expression) or isinstance(two, cvxpy.Expression)
        else one * two
    )


_OPERATORS: Final[dict[type[ast.AST], Callable[..., Any]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: _times,
    ast.Div: operator.truediv,
    ast.MatMult: operator.matmul,
    ast.Pow: operator.pow,
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
}


def expression_of(text: str, w: Any) -> Any:
    """The expression that a formula describes.

    Parameters
    ----------
    text : str
        The formula.
    w : cvxpy.Expression
        What stands for w in it, a vector.

    Raises
    ------
    RewardError
        Naming the part that has no meaning.
    """
    import cvxpy

    if not isinstance(text, str):
        raise RewardError(f"maximise: got {text!r}; a formula in a text is needed, such as 'min({NAME})'")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
        expression = _Reader(text.strip(), w).read(tree)
        return expression if isinstance(expression, cvxpy.Expression) else cvxpy.Constant(expression)
    except RewardError:
        raise
    except SyntaxError as error:
        raise RewardError(f"maximise: {text!r} is no formula ({error.msg}, at character {error.offset})") from None
    except (RecursionError, MemoryError):
        raise RewardError("maximise: the formula is nested too deeply") from None
    except Exception as error:  # whatever CVXPY says of shapes and values
        raise RewardError(f"maximise: {text!r} has no meaning ({error})") from error


class _Reader:
    """Reads a tree; what is not in the language is an error that quotes it."""

    def __init__(self, text: str, w: Any) -> None:
        self._text = text
        self._w = w

    def read(self, node: ast.AST) -> Any:
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
            return float(node.value)
        if isinstance(node, ast.Name):
            if node.id == NAME:
                return self._w
            raise self._unknown(node, f"{node.id!r} is not known; the outcomes are {NAME!r}")
        if isinstance(node, ast.List):
            return self._list(node)
        if isinstance(node, ast.UnaryOp) and type(node.op) in _OPERATORS:
            return _OPERATORS[type(node.op)](self.read(node.operand))
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            return _OPERATORS[type(node.op)](self.read(node.left), self.read(node.right))
        if isinstance(node, ast.Subscript):
            return self.read(node.value)[self._index(node.slice)]
        if isinstance(node, ast.Call):
            return self._call(node)
        raise self._unknown(node, "it is not of the language of formulas")

    def _call(self, node: ast.Call) -> Any:
        import cvxpy

        if not isinstance(node.func, ast.Name) or node.func.id not in FUNCTIONS:
            name = ast.get_source_segment(self._text, node.func) or "?"
            known = f"{nearest(name, FUNCTIONS)}; one of {', '.join(FUNCTIONS)} is needed"
            raise self._unknown(node, f"there is no function {name!r}{known}")
        if node.keywords or any(isinstance(one, ast.Starred) for one in node.args):
            raise self._unknown(node, "arguments are given in order, without names")
        if node.func.id in ("hstack", "vstack"):
            (one,) = node.args
            parts = one.elts if isinstance(one, ast.List) else [one]
            return getattr(cvxpy, node.func.id)([self.read(part) for part in parts])
        arguments = [self.read(one) for one in node.args]
        if node.func.id == "geo_mean" and len(arguments) > 1:
            arguments[1] = np.asarray(arguments[1])
        return getattr(cvxpy, node.func.id)(*arguments)

    def _list(self, node: ast.List) -> Any:
        values = [self.read(one) for one in node.elts]
        try:
            return np.array(values, dtype=np.float64)
        except (TypeError, ValueError):
            raise self._unknown(node, "a list holds numbers, or lists of as many; hstack([...]) joins others") from None

    def _index(self, node: ast.AST) -> Any:
        if isinstance(node, ast.Slice):
            return slice(*(None if one is None else self._whole(one) for one in (node.lower, node.upper, node.step)))
        if isinstance(node, ast.List):
            return [self._whole(one) for one in node.elts]
        return self._whole(node)

    def _whole(self, node: ast.AST) -> int:
        try:
            number = ast.literal_eval(node)
        except ValueError:
            number = None
        if type(number) is not int:
            raise self._unknown(node, "an index is a whole number")
        return number

    def _unknown(self, node: ast.AST, why: str) -> RewardError:
        part = ast.get_source_segment(self._text, node) or self._text
        return RewardError(f"maximise: {part!r}: {why}")
