"""A formula in a text as a CVXPY expression: numbers, lists, w, signs of arithmetic, and functions by CVXPY's names.

    1 - 0.5 * sum(square(w - [0.2, 0.3]))          min(w) + 0.1 * sum(w)          sum(log(w[1:] + 0.05))

The words are those of `FUNCTIONS`, and w is the vector of average outcomes, with indices such as w[0], w[1:] and
w[[0, 2]]. +, -, *, / and ** go entry by entry, @ is the product of a matrix or a vector with a vector. Nothing else has
a meaning, so that a formula from a file can do nothing but describe a function.

`format_program` writes a `Program` as a formula that reads as the same nodes and the same numbers, to the last bit.
Rows are written in few words where that is possible: w, w[1], -2.0 * sum(x), [0.5, 1.0] @ w; else as a matrix times a
vector.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any, Final

import numpy as np
from scipy.sparse import csr_array

from equipoise._checks import suggest
from equipoise._types import Vector
from equipoise.errors import RewardError
from equipoise.rewards.expression.program import OUTCOMES, Code, Form, Node, Program, negate

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

    is_formula = isinstance(one, cvxpy.Expression) or isinstance(two, cvxpy.Expression)
    return cvxpy.multiply(one, two) if is_formula else one * two


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


def read_formula(text: str, w: Any) -> Any:
    """The expression that a formula describes."""
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
            known = f"{suggest(name, FUNCTIONS)}; one of {', '.join(FUNCTIONS)} is needed"
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


_POWERS: Final = {-1.0: "inv_pos", 0.5: "sqrt", 2.0: "square"}  # of powers


def format_program(program: Program) -> str:
    """The formula of a program."""
    return _print_rows(program.result, program)


def format_comparison(program: Program, least: float) -> str:
    """That a program is at least so much; or that minus it is at most that, if it begins with a minus."""
    text = format_program(program)
    if not text.startswith("-"):
        return f"{text} >= {least:g}"
    return f"{format_program(program._replace(result=negate(program.result)))} <= {0.0 - least:g}"


def format_node(node: Node, program: Program) -> str:
    """The formula of one node."""
    name = node.code.name.lower()
    if node.code is Code.POWER:
        return _print_power(node.number, _print_rows(node.rows, program))
    if node.code is Code.POS:
        inner = f"pos({_print_rows(node.rows, program)})"
        return inner if node.number == 1.0 else _print_power(node.number, inner)
    if node.code in (Code.MAXIMUM, Code.MINIMUM, Code.REL_ENTR, Code.KL_DIV):
        if node.size == 1 and node.code in (Code.MAXIMUM, Code.MINIMUM):
            return f"{name[:3]}({_print_rows(node.rows, program)})"
        entries = np.arange(node.rows.size).reshape(node.size, node.width).T
        return f"{name}({', '.join(_print_rows(node.rows.rows(which), program) for which in entries)})"
    if node.code is Code.QUAD_OVER_LIN:
        above, below = node.rows.rows(np.arange(node.width - 1)), node.rows.rows(np.array([node.width - 1]))
        return f"{name}({_print_rows(above, program)}, {_print_rows(below, program)})"
    more = ""
    if node.code in (Code.PNORM, Code.SUM_LARGEST, Code.HUBER):
        more = f", {node.number!r}"
    if node.code is Code.GEO_MEAN:
        more = f", {list(node.weights)!r}"
    return f"{name}({_print_rows(node.rows, program)}{more})"


def _print_power(p: float, inner: str) -> str:
    return f"{_POWERS[p]}({inner})" if p in _POWERS else f"power({inner}, {p!r})"


def _print_rows(form: Form, program: Program) -> str:
    """Rows as a vector, or as a number if there is one."""
    parts = [_print_term(matrix, block, program) for block, matrix in form.terms.items()]
    offset = form.offset
    if not parts:
        return _print_numbers(offset)
    if offset.any():
        less = "-" if (offset <= 0.0).all() else ""
        size = 0.0 - offset if less else offset
        constant = less + _print_numbers(size[:1] if (size == size[0]).all() else size)
        parts.insert(0 if parts[0].startswith("-") and not less else len(parts), constant)
    text = parts[0]
    for part in parts[1:]:
        text += f" - {part[1:]}" if part.startswith("-") else f" + {part}"
    return text


def _print_term(matrix: csr_array, block: int, program: Program) -> str:
    """A matrix times a block."""
    m, n = matrix.shape
    node = None if block == OUTCOMES else program.nodes[block - 1]
    name = NAME if node is None else format_node(node, program)
    data, columns = matrix.data, matrix.indices
    if n == 1 and node is not None:
        if m > 1:
            return f"{_print_numbers(matrix.toarray().reshape(-1))} * {name}"
        if data[0] < 0.0 and node.code is Code.SUM_LARGEST:
            smallest = f"sum_smallest({_print_rows(negate(node.rows), program)}, {node.number!r})"
            return _print_scaled(-data[0], smallest)
        return _print_scaled(data[0], name)
    alone = bool((np.diff(matrix.indptr) == 1).all())
    same = bool((data == data[0]).all())
    if m == 1 and not alone:
        if matrix.nnz == n and same:
            return _print_scaled(data[0], f"sum({name})")
        return f"{_print_numbers(matrix.toarray().reshape(-1))} @ {name}"
    whole = m == n > 1 and np.array_equal(columns, np.arange(n))
    if alone and (same or whole):
        place = str(int(columns[0])) if len(columns) == 1 else repr([int(column) for column in columns])
        vector = name if whole else f"{name}[{place}]"
        return _print_scaled(data[0], vector) if same else f"{_print_numbers(data)} * {vector}"
    return f"{[[float(number) for number in row] for row in matrix.toarray()]!r} @ {name}"


def _print_scaled(factor: float, text: str) -> str:
    if factor == 1.0:
        return text
    return f"-{text}" if factor == -1.0 else f"{float(factor)!r} * {text}"


def _print_numbers(x: Vector) -> str:
    return repr(float(x[0])) if x.size == 1 else repr([float(number) for number in x])
