"""From a `Program` to a formula, which `formula` reads: the same nodes and the same numbers, to the last bit.

Rows that are few words as a formula are written in few: w, w[1], -2.0 * sum(x), [0.5, 1.0] @ w. All others are a matrix
times a vector.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from equipoise._types import Vector
from equipoise.rewards.expressions.atoms import ATOMS
from equipoise.rewards.expressions.program import OUTCOMES, Code, Form, Node, Program, negated

_NAMES: Final = {-1.0: "inv_pos", 0.5: "sqrt", 2.0: "square"}  # of powers


def printed(program: Program) -> str:
    """The formula of a program."""
    return _rows(program.result, program)


def printed_comparison(program: Program, least: float) -> str:
    """That a program is at least so much; or that minus it is at most that, if it begins with a minus."""
    text = printed(program)
    if not text.startswith("-"):
        return f"{text} >= {least:g}"
    return f"{printed(program._replace(result=negated(program.result)))} <= {0.0 - least:g}"


def printed_node(program: Program, place: int) -> str:
    """The formula of one node."""
    return _node(program.nodes[place], program)


def _node(node: Node, program: Program) -> str:
    name = ATOMS[node.code].name
    if node.code is Code.POWER:
        return _power(node.number, _rows(node.rows, program))
    if node.code is Code.POS:
        inner = f"pos({_rows(node.rows, program)})"
        return inner if node.number == 1.0 else _power(node.number, inner)
    if node.code in (Code.MAXIMUM, Code.MINIMUM, Code.REL_ENTR, Code.KL_DIV):
        if node.size == 1 and node.code in (Code.MAXIMUM, Code.MINIMUM):
            return f"{name[:3]}({_rows(node.rows, program)})"
        entries = np.arange(node.rows.size).reshape(node.size, node.width).T
        return f"{name}({', '.join(_rows(node.rows.rows(which), program) for which in entries)})"
    if node.code is Code.QUAD_OVER_LIN:
        above, below = node.rows.rows(np.arange(node.width - 1)), node.rows.rows(np.array([node.width - 1]))
        return f"{name}({_rows(above, program)}, {_rows(below, program)})"
    more = ""
    if node.code in (Code.PNORM, Code.SUM_LARGEST, Code.HUBER):
        more = f", {node.number!r}"
    if node.code is Code.GEO_MEAN:
        more = f", {list(node.weights)!r}"
    return f"{name}({_rows(node.rows, program)}{more})"


def _power(p: float, inner: str) -> str:
    return f"{_NAMES[p]}({inner})" if p in _NAMES else f"power({inner}, {p!r})"


def _rows(form: Form, program: Program) -> str:
    """Rows as a vector, or as a number if there is one."""
    parts = [_term(matrix, block, program) for block, matrix in form.terms.items()]
    offset = form.offset
    if not parts:
        return _numbers(offset)
    if offset.any():
        less = "-" if (offset <= 0.0).all() else ""
        size = 0.0 - offset if less else offset
        constant = less + _numbers(size[:1] if (size == size[0]).all() else size)
        parts.insert(0 if parts[0].startswith("-") and not less else len(parts), constant)
    text = parts[0]
    for part in parts[1:]:
        text += f" - {part[1:]}" if part.startswith("-") else f" + {part}"
    return text


def _term(matrix: csr_array, block: int, program: Program) -> str:
    """A matrix times a block."""
    m, n = matrix.shape
    node = None if block == OUTCOMES else program.nodes[block - 1]
    if n == 1 and node is not None:
        column = matrix.toarray().reshape(-1)
        if m == 1 and column[0] < 0.0 and node.code is Code.SUM_LARGEST:
            return _scaled(-column[0], f"sum_smallest({_rows(negated(node.rows), program)}, {node.number!r})")
        return _scaled(column[0], _node(node, program)) if m == 1 else f"{_numbers(column)} * {_node(node, program)}"
    name = "w" if node is None else _node(node, program)
    data, columns = matrix.data, matrix.indices
    alone = bool((np.diff(matrix.indptr) == 1).all())
    same = bool((data == data[0]).all())
    if m == 1 and not alone:
        if matrix.nnz == n and same:
            return _scaled(data[0], f"sum({name})")
        return f"{_numbers(matrix.toarray().reshape(-1))} @ {name}"
    whole = m == n > 1 and np.array_equal(columns, np.arange(n))
    if alone and (same or whole):
        vector = name if whole else f"{name}[{_indices(columns)}]"
        return _scaled(data[0], vector) if same else f"{_numbers(data)} * {vector}"
    return f"{_matrix(matrix)} @ {name}"


def _indices(columns: NDArray[np.integer]) -> str:
    return str(int(columns[0])) if len(columns) == 1 else repr([int(column) for column in columns])


def _scaled(factor: float, text: str) -> str:
    if factor == 1.0:
        return text
    return f"-{text}" if factor == -1.0 else f"{float(factor)!r} * {text}"


def _numbers(x: Vector) -> str:
    return repr(float(x[0])) if x.size == 1 else repr([float(number) for number in x])


def _matrix(matrix: csr_array) -> str:
    return repr([[float(number) for number in row] for row in matrix.toarray()])
