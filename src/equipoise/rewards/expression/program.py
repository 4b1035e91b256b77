"""What an expression is compiled to: affine rows of numbers, atoms applied to groups of them, one last affine row.

A *block* is a vector of numbers: block 0 is w, block i + 1 holds what node i gives. A `Form` is rows of

    offset + sum over blocks of (matrix of that block) (block),

so that all that is affine in an expression is one matrix. A `Node` takes its rows in groups of `width` and makes one
number of each group. The expression is one last row. `write_tape` makes one vector of floats, which the kernels read:

    head      see `Head`
    starts    where each node begins
    node      its code, its number, how many numbers it makes, its width, where its rows and then its numbers are in
              the working memory, its weights (of `geo_mean` only), its rows
    row       how many terms, the offset, and for each term the place in the working memory and the coefficient
    result    one row
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import Final, NamedTuple, final

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from equipoise._types import Vector

OUTCOMES: Final = 0  # the block of w
_PASSES: Final = 10  # after the first, only the terms of a row change places


class Code(IntEnum):
    """What the kernels call an atom."""

    POWER = 0
    POS = 1  # max(x, 0) to a power: smooth from the second on, which the two one after the other would hide
    ABS = 2
    EXP = 3
    LOG = 4
    LOG1P = 5
    ENTR = 6
    LOGISTIC = 7
    HUBER = 8
    MAXIMUM = 9
    MINIMUM = 10
    SUM_LARGEST = 11
    LOG_SUM_EXP = 12
    PNORM = 13
    GEO_MEAN = 14
    REL_ENTR = 15
    KL_DIV = 16
    QUAD_OVER_LIN = 17


class Head(IntEnum):
    """Places at the beginning of a tape; the first are those of `composed.iteration`."""

    GRADIENT = 1
    NODES = 5
    ROOM = 6  # working memory, in floats
    WIDTH = 7  # the largest
    RESULT = 8
    STARTS = 9  # from here on


@final
class Form:
    """Affine rows."""

    def __init__(self, terms: dict[int, csr_array], offset: Vector) -> None:
        self.terms = {block: matrix for block, matrix in sorted(terms.items()) if matrix.nnz}
        self.offset = offset

    @property
    def size(self) -> int:
        """How many rows there are."""
        return int(self.offset.size)

    def constant(self) -> NDArray[np.bool_]:
        """Which rows depend on nothing."""
        free = np.ones(self.size, dtype=bool)
        for matrix in self.terms.values():
            free &= np.diff(matrix.indptr) == 0
        return free

    def mapped(self, matrix: csr_array) -> Form:
        """A matrix times the rows."""
        terms = {block: _clean(csr_array(matrix @ one)) for block, one in self.terms.items()}
        return Form(terms, np.asarray(matrix @ self.offset, dtype=np.float64))

    def plus(self, other: Form) -> Form:
        """The sum of two, row by row."""
        terms = dict(self.terms)
        for block, matrix in other.terms.items():
            terms[block] = _clean(csr_array(terms[block] + matrix)) if block in terms else matrix
        return Form(terms, self.offset + other.offset)

    def rows(self, which: NDArray[np.integer]) -> Form:
        """Some of the rows, in the order of `which`."""
        return Form({block: csr_array(matrix[which]) for block, matrix in self.terms.items()}, self.offset[which])

    def renumbered(self, names: dict[int, int]) -> Form:
        """The same with other numbers for its blocks."""
        return Form({names[block]: matrix for block, matrix in self.terms.items()}, self.offset)

    def key(self) -> tuple[bytes | int, ...]:
        """What two forms have in common that are equal."""
        parts: list[bytes | int] = [self.offset.tobytes()]
        for block, one in self.terms.items():
            parts += [block, one.indptr.tobytes(), one.indices.tobytes(), one.data.tobytes()]
        return tuple(parts)


class Node(NamedTuple):
    """An atom applied to groups of rows."""

    code: Code
    rows: Form
    width: int = 1
    number: float = 0.0
    weights: tuple[float, ...] = ()

    @property
    def size(self) -> int:
        """How many numbers it makes."""
        return self.rows.size // self.width


class Program(NamedTuple):
    """An expression: its nodes, each of which uses only earlier ones, and one last row."""

    n_outcomes: int
    nodes: tuple[Node, ...]
    result: Form

    def sizes(self) -> list[int]:
        """The length of each block."""
        return [self.n_outcomes, *(node.size for node in self.nodes)]

    def room(self) -> int:
        """How many numbers the kernels keep: the outcomes, all rows and all that is made of them."""
        return self.n_outcomes + sum(node.rows.size + node.size for node in self.nodes)


def diagonal(numbers: Vector) -> csr_array:
    """The matrix that multiplies each entry by a number of its own."""
    n = len(numbers)
    return csr_array((np.asarray(numbers, dtype=np.float64), np.arange(n), np.arange(n + 1)), shape=(n, n))


def identity(size: int) -> csr_array:
    """The matrix that changes nothing."""
    return diagonal(np.ones(size))


def negate(form: Form) -> Form:
    """Minus the rows."""
    return Form({block: csr_array(-one) for block, one in form.terms.items()}, 0.0 - form.offset)


def stack(forms: Iterable[Form]) -> Form:
    """The rows of several forms, one after the other."""
    forms = list(forms)
    total, first = sum(form.size for form in forms), 0
    whole = Form({}, np.zeros(total))
    for form in forms:
        own = np.arange(form.size)
        whole = whole.plus(form.mapped(csr_array((np.ones(form.size), (first + own, own)), shape=(total, form.size))))
        first += form.size
    return whole


def reorder(program: Program) -> Program:
    """The same without nodes that nothing uses, in the order in which a reader of its formula comes upon them."""
    for _ in range(_PASSES):
        names = {OUTCOMES: OUTCOMES}
        _visit(program.result, program, names)
        if list(names) == list(range(len(program.nodes) + 1)):
            break
        nodes = tuple(program.nodes[old - 1] for old in names if old != OUTCOMES)
        nodes = tuple(node._replace(rows=node.rows.renumbered(names)) for node in nodes)
        program = Program(program.n_outcomes, nodes, program.result.renumbered(names))
    return program


def _visit(form: Form, program: Program, names: dict[int, int]) -> None:
    """Give numbers to the blocks of a form, after those that they are made of."""
    for block in form.terms:
        if block not in names:
            _visit(program.nodes[block - 1].rows, program, names)
            names[block] = len(names)


def write_tape(program: Program) -> Vector:
    """The program as the kernels read it; the places at its head that say how to iterate are zero."""
    numbers = [0.0] * (Head.STARTS + len(program.nodes))
    places = [0]
    free = program.n_outcomes
    for at, node in enumerate(program.nodes):
        numbers[Head.STARTS + at] = float(len(numbers))
        numbers += [float(node.code), node.number, float(node.size), float(node.width), float(free), *node.weights]
        _write(node.rows, places, numbers)
        places.append(free + node.rows.size)
        free += node.rows.size + node.size
    numbers[Head.NODES], numbers[Head.ROOM] = float(len(program.nodes)), float(free)
    numbers[Head.WIDTH] = float(max((node.width for node in program.nodes), default=1))
    numbers[Head.RESULT] = float(len(numbers))
    _write(program.result, places, numbers)
    return np.array(numbers)


def _write(form: Form, places: list[int], numbers: list[float]) -> None:
    """Append rows; a term's place is that of its block and where in the block it is."""
    parts = [
        (places[block], one.indptr.tolist(), one.indices.tolist(), one.data.tolist())
        for block, one in form.terms.items()
    ]
    for row, offset in enumerate(form.offset.tolist()):
        terms = [
            (float(first + columns[j]), data[j])
            for first, starts, columns, data in parts
            for j in range(starts[row], starts[row + 1])
        ]
        numbers += [float(len(terms)), offset]
        for term in terms:
            numbers += term


def _clean(matrix: csr_array) -> csr_array:
    """In order and without zeros, so that equal matrices have equal arrays."""
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    matrix.sort_indices()
    return matrix
