"""From a CVXPY expression of the outcomes to a `Program`, and the proof that it is concave by CVXPY's rules.

Affine atoms of any kind are evaluated at unit vectors: an atom that is zero where its arguments are is linear in them
with its constants in place; another is linear in all, constants included. So all that is affine between two other atoms
becomes one matrix. Parts that depend on constants and parameters alone are numbers: parameters are read now.

The others are written in a few words:

    |x|_1            the sum of abs              |x|_inf       the largest abs
    quad_over_lin    squares over a constant     quad_form     squares of P's eigenvectors, times its eigenvalues
    max(x, 0)^p      one atom, `pos`             |x|_2^2       squares, and so are |x|^2
    reductions along an axis: one node for each result

Equal nodes are one node.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from scipy.sparse import csr_array, issparse, vstack

from equipoise._types import Vector
from equipoise.errors import RewardError
from equipoise.rewards.expression.atoms import at
from equipoise.rewards.expression.program import (
    OUTCOMES,
    Code,
    Form,
    Node,
    Program,
    diagonal,
    identity,
    reorder,
    stack,
)

_NEGLIGIBLE: Final = 1e-12  # an eigenvalue, of the largest
_INSIDE: Final = re.compile(r"(\w+)Approx(?=\()")  # how CVXPY calls atoms that it solves by second-order cones
_LONGEST: Final = 120  # characters of an expression in a message


def shorten(expression: Any) -> str:
    """An expression as a message shows it: in one line, not too long, and with the names that users know."""
    text = " ".join(str(expression).split()).replace(", None, False", "")
    text = _INSIDE.sub(lambda found: found.group(1).lower(), text)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 4]} ..."


def compile_program(expression: Any, variable: Any) -> Program:
    """The program of a scalar expression."""
    compiler = _Compiler(variable)
    result = compiler.form(expression)
    if not np.isfinite(result.offset).all():
        raise RewardError(f"maximise: {shorten(expression)} is not finite")
    return reorder(Program(int(variable.size), tuple(compiler.nodes), result))


class _Compiler:
    def __init__(self, variable: Any) -> None:
        self.variable = variable
        self.nodes: list[Node] = []
        self._known: dict[Any, int] = {}
        self._forms: dict[int, tuple[Any, Form]] = {}  # with the expression, so that its id stays its own

    def form(self, expression: Any) -> Form:
        """The numbers of an expression, in the order of numpy's ravel, as affine rows."""
        if id(expression) not in self._forms:
            self._forms[id(expression)] = expression, self._form(expression)
        return self._forms[id(expression)][1]

    def _form(self, expression: Any) -> Form:
        from cvxpy.atoms.affine.affine_atom import AffAtom

        if expression is self.variable:
            return Form({OUTCOMES: identity(expression.size)}, np.zeros(expression.size))
        if expression.is_constant():
            return Form({}, _number(expression))
        if not expression.args:
            raise RewardError(f"maximise: there is another variable in it, {expression}; it may depend on one alone")
        if isinstance(expression, AffAtom):
            return self._affine(expression)
        for kind in type(expression).__mro__:
            rule = _RULES.get(kind.__name__.lower().replace("_", ""))
            if rule is not None:
                return rule(self, expression)
        raise RewardError(
            f"maximise: {type(expression).__name__} is not compiled, in {shorten(expression)}; write it with other "
            "atoms, or pass compiled=False and lipschitz=, which evaluates it by CVXPY and is slower"
        )

    def _affine(self, atom: Any) -> Form:
        values = [_number(one).reshape(one.shape) if one.is_constant() else np.zeros(one.shape) for one in atom.args]
        offset = _array(atom.numeric(values), atom.shape).reshape(-1)
        if offset.any():
            values = [np.zeros(one.shape) for one in atom.args]
        total = Form({}, offset)
        for place, one in enumerate(atom.args):
            if not one.is_constant():
                columns = csr_array(_columns(atom, values, place))
                total = total.plus(self.form(one).mapped(columns))
        return total

    def made(
        self, code: Code, rows: Form, width: int = 1, number: float = 0.0, weights: tuple[float, ...] = ()
    ) -> Form:
        """The result of a node as rows; the node is added, unless the result is constant."""
        if rows.constant().all():
            return Form({}, at(Node(code, rows, width, number, weights), rows.offset.reshape(-1, width))[0])
        key = (code, width, number, weights, rows.key())
        if key not in self._known:
            self.nodes.append(Node(code, rows, width, number, weights))
            self._known[key] = len(self.nodes)
        size = rows.size // width
        return Form({self._known[key]: identity(size)}, np.zeros(size))

    def power(self, rows: Form, p: float) -> Form:
        """x^p, joined with the nodes of x where both together are smoother."""
        within = self._scaled_nodes(rows)
        if within is not None and p > 1.0:
            places, scales = within
            nodes = [node for node, _ in places]
            positive = all(node.code is Code.POS and node.number == 1.0 for node in nodes)
            if positive or (p == 2.0 and all(node.code is Code.ABS for node in nodes)):
                scaled = stack(node.rows.rows(np.array([place])) for node, place in places).mapped(diagonal(scales))
                return self.made(Code.POS, scaled, number=p) if positive else self.power(scaled, 2.0)
            if p == 2.0 and all(node.code is Code.PNORM and node.number == 2.0 for node in nodes):
                return stack(_summed(self.power(node.rows, 2.0)) for node in nodes).mapped(diagonal(scales**2))
        if p == 0.0:
            return Form({}, np.ones(rows.size))
        return rows if p == 1.0 else self.made(Code.POWER, rows, number=p)

    def _scaled_nodes(self, rows: Form) -> tuple[list[tuple[Node, int]], Vector] | None:
        """If each row is a positive multiple of one number that a node makes: the nodes, which numbers, the factors."""
        if rows.offset.any() or OUTCOMES in rows.terms or not rows.terms:
            return None
        count = sum(np.diff(matrix.indptr) for matrix in rows.terms.values())
        scales = sum(np.asarray(matrix.sum(axis=1)).reshape(-1) for matrix in rows.terms.values())
        if np.any(count != 1) or np.any(scales <= 0.0):
            return None
        places: list[tuple[Node, int]] = []
        for row in range(rows.size):
            ((block, matrix),) = ((b, m) for b, m in rows.terms.items() if m.indptr[row + 1] > m.indptr[row])
            places.append((self.nodes[block - 1], int(matrix.indices[matrix.indptr[row]])))
        return places, np.asarray(scales)


# -- one function for each atom that is not affine --------------------------------------------------------------------

Rule = Callable[[_Compiler, Any], Form]


def _elementwise(code: Code) -> Rule:
    return lambda compiler, atom: compiler.made(code, compiler.form(atom.args[0]))


def _paired(code: Code) -> Rule:
    def rule(compiler: _Compiler, atom: Any) -> Form:
        return compiler.made(code, _interleaved(compiler, atom), width=len(atom.args))

    return rule


def _extreme(code: Code) -> Rule:
    """`maximum` and `minimum`; the larger of x and 0 is `pos`."""

    def rule(compiler: _Compiler, atom: Any) -> Form:
        if len(atom.args) == 2:
            zero = [one.is_constant() and not _number(one).any() for one in atom.args]
            if any(zero):
                sign = 1.0 if code is Code.MAXIMUM else -1.0
                rows = _repeated(compiler.form(atom.args[zero.index(False)]), atom.size)
                made = compiler.made(Code.POS, rows.mapped(sign * identity(atom.size)), number=1.0)
                return made.mapped(sign * identity(atom.size))
        return _paired(code)(compiler, atom)

    return rule


def _along_axis(make: Callable[[_Compiler, Any, Form], Form]) -> Rule:
    """A reduction: `make` of each group of numbers that the axis leaves together."""

    def rule(compiler: _Compiler, atom: Any) -> Form:
        rows = compiler.form(atom.args[0])
        places = np.arange(rows.size).reshape(atom.args[0].shape)
        axis = getattr(atom, "axis", None)  # earlier releases of CVXPY have none for some atoms
        if axis is None or places.ndim == 0:
            return make(compiler, atom, rows)
        axes = (axis,) if isinstance(axis, int) else tuple(axis)
        moved = np.moveaxis(places, axes, range(-len(axes), 0))
        groups = moved.reshape(math.prod(moved.shape[: places.ndim - len(axes)]), -1)
        return stack(make(compiler, atom, rows.rows(group)) for group in groups)

    return rule


def _all(code: Code, number: str = "") -> Rule:
    """One number made of a whole group, and of a number of the atom, if it has one."""

    def make(compiler: _Compiler, atom: Any, rows: Form) -> Form:
        return compiler.made(code, rows, width=rows.size, number=float(getattr(atom, number)) if number else 0.0)

    return _along_axis(make)


def _power(compiler: _Compiler, atom: Any) -> Form:
    return compiler.power(compiler.form(atom.args[0]), _constant(atom.p, atom))


def _huber(compiler: _Compiler, atom: Any) -> Form:
    return compiler.made(Code.HUBER, compiler.form(atom.args[0]), number=_constant(atom.M, atom))


def _norm_1(compiler: _Compiler, atom: Any, rows: Form) -> Form:  # noqa: ARG001
    return _summed(compiler.made(Code.ABS, rows))


def _norm_inf(compiler: _Compiler, atom: Any, rows: Form) -> Form:  # noqa: ARG001
    return compiler.made(Code.MAXIMUM, compiler.made(Code.ABS, rows), width=rows.size)


def _geo_mean(compiler: _Compiler, atom: Any, rows: Form) -> Form:
    weights = np.array([float(one) for one in atom.w])
    if weights.size != rows.size:
        raise RewardError(f"maximise: {shorten(atom)} has weights of 0; leave these entries out")
    used = np.flatnonzero(weights)
    return compiler.made(Code.GEO_MEAN, rows.rows(used), width=used.size, weights=tuple(weights[used].tolist()))


def _quad_over_lin(compiler: _Compiler, atom: Any) -> Form:
    below = compiler.form(atom.args[1])

    def quotient(compiler: _Compiler, atom: Any, rows: Form) -> Form:  # noqa: ARG001
        if below.constant().all() and below.offset[0] > 0.0:
            return _summed(compiler.power(rows, 2.0)).mapped(csr_array([[1.0 / below.offset[0]]]))
        return compiler.made(Code.QUAD_OVER_LIN, stack([rows, below]), width=rows.size + 1)

    if hasattr(atom, "axis"):
        return _along_axis(quotient)(compiler, atom)
    return quotient(compiler, atom, compiler.form(atom.args[0]))


def _quad_form(compiler: _Compiler, atom: Any) -> Form:
    P = _array(atom.args[1].value, atom.args[1].shape)
    values, vectors = np.linalg.eigh(0.5 * (P + P.T))
    kept = np.abs(values) > _NEGLIGIBLE * np.abs(values).max()
    rows = compiler.form(atom.args[0]).mapped(csr_array(vectors[:, kept].T))
    return compiler.power(rows, 2.0).mapped(csr_array(values[None, kept]))


_RULES: Final[dict[str, Rule]] = {
    "abs": _elementwise(Code.ABS),
    "entr": _elementwise(Code.ENTR),
    "exp": _elementwise(Code.EXP),
    "geomean": _along_axis(_geo_mean),
    "huber": _huber,
    "kldiv": _paired(Code.KL_DIV),
    "log": _elementwise(Code.LOG),
    "log1p": _elementwise(Code.LOG1P),
    "logistic": _elementwise(Code.LOGISTIC),
    "logsumexp": _all(Code.LOG_SUM_EXP),
    "max": _all(Code.MAXIMUM),
    "maximum": _extreme(Code.MAXIMUM),
    "min": _all(Code.MINIMUM),
    "minimum": _extreme(Code.MINIMUM),
    "norm1": _along_axis(_norm_1),
    "norminf": _along_axis(_norm_inf),
    "pnorm": _all(Code.PNORM, "p"),
    "power": _power,
    "quadform": _quad_form,
    "quadoverlin": _quad_over_lin,
    "relentr": _paired(Code.REL_ENTR),
    "sumlargest": _all(Code.SUM_LARGEST, "k"),
}  # by the name of the class, in small letters and without underscores


# -- arrays -----------------------------------------------------------------------------------------------------------


def _interleaved(compiler: _Compiler, atom: Any) -> Form:
    """The arguments of an elementwise atom, entry after entry."""
    forms = [_repeated(compiler.form(one), atom.size) for one in atom.args]
    order = np.arange(len(forms) * atom.size).reshape(len(forms), atom.size).T.reshape(-1)
    return stack(forms).rows(order)


def _repeated(form: Form, size: int) -> Form:
    """A single row as often as is needed beside a vector."""
    return form if form.size == size else form.rows(np.zeros(size, dtype=np.int64))


def _summed(form: Form) -> Form:
    return form.mapped(csr_array(np.ones((1, form.size))))


def _columns(atom: Any, values: Sequence[Any], place: int) -> csr_array:
    """The matrix of a linear atom in one argument: its answers to unit vectors."""
    columns = []
    for unit in np.eye(int(atom.args[place].size)):
        given = [unit.reshape(one.shape) if at == place else values[at] for at, one in enumerate(atom.args)]
        columns.append(csr_array(_array(atom.numeric(given), atom.shape).reshape(1, -1)))
    return csr_array(vstack(columns).T)


def _number(expression: Any) -> Vector:
    for parameter in expression.parameters():
        if parameter.value is None:
            raise RewardError(f"maximise: the parameter {parameter.name()} has no value; set it first")
    value = _array(expression.value, expression.shape).reshape(-1)
    if not np.isfinite(value).all():
        raise RewardError(f"maximise: {shorten(expression)} is not finite")
    return value


def _constant(value: Any, atom: Any) -> float:
    number = getattr(value, "value", value)
    if number is None:
        raise RewardError(f"maximise: a parameter of {shorten(atom)} has no value; set it first")
    return float(np.asarray(number).reshape(()))


def _array(value: Any, shape: tuple[int, ...]) -> Vector:
    is_sparse = bool(issparse(value))
    return np.asarray(value.toarray() if is_sparse else value, dtype=np.float64).reshape(shape)


def substitute(expression: Any, old: Any, new: Any) -> Any:
    """The same expression of something else."""
    if expression is old:
        return new
    if not expression.args:
        return expression
    return expression.copy([substitute(one, old, new) for one in expression.args])


def require_concave(expression: Any) -> None:
    """Raise an error unless an expression is a real number that is concave by the rules of disciplined programming."""
    if expression.is_complex():
        raise RewardError(f"maximise: {shorten(expression)} is complex; a real expression is needed")
    if expression.size != 1:
        raise RewardError(
            f"maximise: {shorten(expression)} has the shape {expression.shape}; a number is needed, such as its sum or "
            "its smallest entry"
        )
    if expression.is_concave():
        return
    if expression.is_convex():
        raise RewardError(f"maximise: {shorten(expression)} is convex, not concave; to minimise it, maximise minus it")
    part = expression  # the innermost that is neither convex nor concave
    while broken := [one for one in part.args if not one.is_dcp()]:
        part = broken[0]
    curvatures = [f"{shorten(one)} ({one.curvature.lower()})" for one in part.args if not one.is_constant()]
    raise RewardError(
        f"maximise: it is not concave by the rules of disciplined convex programming, because of {shorten(part)}, "
        f"which is neither convex nor concave by them; it is made of {', '.join(curvatures)}"
    )
