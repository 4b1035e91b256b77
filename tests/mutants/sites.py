"""Every place of a module where one small change of the source can be made, and the change.

A change replaces a comparison, an operator, a number, a call of min or max, a condition or a statement. Messages,
types, decorators, progress displays and what an object prints are left alone.
"""

from __future__ import annotations

import ast
import difflib
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

COMPARISONS = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==",
    ast.Is: "is not", ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in",
}  # fmt: skip
WRITTEN = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
    ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip
OPERATORS = {ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "/"), ast.Div: ("/", "*")}
NAMES = {
    "min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum", "argmin": "argmax", "argmax": "argmin",
    "any": "all", "all": "any", "floor": "ceil", "ceil": "floor",
}  # fmt: skip
COMPILED = frozenset({"kernel", "inlined", "intrinsic"})
UNTOUCHED = frozenset({"__repr__", "__str__", "_repr_html_", "__reduce__"})
SHOWN = frozenset({"tell", "done", "say"})  # calls of progress displays


class Mutant(NamedTuple):
    """One change.

    `file` is relative to the package, `owner` the outermost function or the name that is assigned, and `before` and
    `after` are the lines that differ.
    """

    file: str
    owner: str
    line: int
    kind: str
    before: str
    after: str
    source: str

    @property
    def identity(self) -> tuple[str, str, str, str]:
        """What tells it from others, whatever happens to the lines around it."""
        return self.file, self.owner, self.before, self.after

    @property
    def room(self) -> str:
        return self.file.partition("/")[0]


class _Change(NamedTuple):
    owner: str
    line: int
    kind: str
    begin: int
    end: int
    text: str


def mutants(package: Path, file: str) -> list[Mutant]:
    """All of a module, in the order of the source."""
    source = (package / file).read_bytes()
    found = []
    for change in sorted(set(_Finder(source).changes), key=lambda change: (change.begin, change.end, change.text)):
        changed = (source[: change.begin] + change.text.encode() + source[change.end :]).decode()
        before, after = _lines(source.decode(), changed)
        if before != after:
            found.append(Mutant(file, change.owner, change.line, change.kind, before, after, changed))
    return found


def sample(
    package: Path, file: str, count: int, seed: int, wanted: Callable[[Mutant], bool] = lambda mutant: True
) -> list[Mutant]:
    """Some of those of a module that are `wanted`: kinds are drawn first, so that the rare ones are tried too."""
    rng = random.Random(f"{seed}:{file}")
    by_kind: dict[str, list[Mutant]] = {}
    for mutant in filter(wanted, mutants(package, file)):
        by_kind.setdefault(mutant.kind, []).append(mutant)
    chosen = []
    while by_kind and len(chosen) < count:
        kind = rng.choice(sorted(by_kind))
        chosen.append(by_kind[kind].pop(rng.randrange(len(by_kind[kind]))))
        if not by_kind[kind]:
            del by_kind[kind]
    return chosen


def is_compiled(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a decorator makes a kernel or an entry of it."""
    names = {name for decorator in node.decorator_list if (name := _name(decorator))}
    return any(name in COMPILED or name.endswith("entry") for name in names)


def _name(node: ast.expr) -> str:
    if isinstance(node, ast.Call):
        node = node.func
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _lines(before: str, after: str) -> tuple[str, str]:
    old, new = [], []
    for line in difflib.ndiff(before.splitlines(), after.splitlines()):
        if line.startswith("- "):
            old.append(line[2:].strip())
        elif line.startswith("+ "):
            new.append(line[2:].strip())
    return " ".join(old), " ".join(new)


class _Finder(ast.NodeVisitor):
    """Collects the changes; `_owner` is the path of names to the outermost function."""

    def __init__(self, source: bytes) -> None:
        self._source = source
        self._starts = [0]
        for line in source.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))
        self._path: list[str] = []
        self._in_function = False
        self.changes: list[_Change] = []
        self.visit(ast.parse(source))

    # -- where things are --------------------------------------------------------------------------------

    def _begin(self, node: ast.expr | ast.stmt) -> int:
        return self._starts[node.lineno - 1] + node.col_offset

    def _end(self, node: ast.expr | ast.stmt) -> int:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self._starts[node.end_lineno - 1] + node.end_col_offset

    def _text(self, node: ast.expr | ast.stmt) -> str:
        return self._source[self._begin(node) : self._end(node)].decode()

    def _change(self, node: ast.expr | ast.stmt, kind: str, text: str) -> None:
        self._replace(node, kind, self._begin(node), self._end(node), text)

    def _replace(self, node: ast.expr | ast.stmt, kind: str, begin: int, end: int, text: str) -> None:
        self.changes.append(_Change(".".join(self._path), node.lineno, kind, begin, end, text))

    def _between(self, node: ast.expr, left: ast.expr, right: ast.expr, kind: str, old: str, new: str) -> None:
        """Replace the operator between two operands, which may have brackets around them."""
        begin, end = self._end(left), self._begin(right)
        gap = self._source[begin:end].decode()
        if gap.count(old) == 1 and "#" not in gap:
            self._replace(node, kind, begin, end, gap.replace(old, new))

    # -- what is left alone, and what things belong to ---------------------------------------------------

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        if node.name in UNTOUCHED or any(_name(decorator) == "overload" for decorator in node.decorator_list):
            return
        outermost = not self._in_function
        if outermost:
            self._path.append(node.name)
            self._in_function = True
        for default in (*node.args.defaults, *(one for one in node.args.kw_defaults if one is not None)):
            self.visit(default)
        self._body(node.body)
        if outermost:
            self._path.pop()
            self._in_function = False

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._path.append(node.name)
        self._body(node.body)
        self._path.pop()

    def _body(self, body: list[ast.stmt]) -> None:
        for statement in body:
            self.visit(statement)

    def visit_Assign(self, node: ast.Assign) -> None:
        self._assigned(node.targets[0], node.value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self._assigned(node.target, node.value)

    def _assigned(self, target: ast.expr, value: ast.expr) -> None:
        named = not self._in_function and isinstance(target, ast.Name)
        if named:
            assert isinstance(target, ast.Name)
            if target.id.startswith("__"):
                return
            self._path.append(target.id)
        self.visit(value)
        if self._in_function:
            self.visit(target)  # the index of what is written
        if named:
            self._path.pop()

    def visit_Raise(self, node: ast.Raise) -> None:
        self._change(node, "statement", "pass")

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        pass

    def visit_Assert(self, node: ast.Assert) -> None:
        pass

    def visit_Import(self, node: ast.Import) -> None:
        pass

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        pass

    # -- the changes -------------------------------------------------------------------------------------

    def visit_Compare(self, node: ast.Compare) -> None:
        operands = [node.left, *node.comparators]
        for left, operator, right in zip(operands, node.ops, operands[1:], strict=False):
            old = WRITTEN[type(operator)]
            self._between(node, left, right, "comparison", old, COMPARISONS[type(operator)])
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        text = any(
            isinstance(side, ast.JoinedStr) or (isinstance(side, ast.Constant) and isinstance(side.value, str))
            for side in (node.left, node.right)
        )
        if type(node.op) in OPERATORS and not text:
            old, new = OPERATORS[type(node.op)]
            self._between(node, node.left, node.right, "arithmetic", old, new)
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not):
            self._change(node, "condition", f"({self._text(node.operand)})")
        elif isinstance(node.op, ast.USub) and not isinstance(node.operand, ast.Constant):
            self._change(node, "arithmetic", f"({self._text(node.operand)})")
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left, right in zip(node.values, node.values[1:], strict=False):
            self._between(node, left, right, "condition", old, new)
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        value = node.value
        if isinstance(value, bool):
            self._change(node, "constant", str(not value))
        elif isinstance(value, int):
            self._change(node, "constant", str(value + 1))
        elif isinstance(value, float):
            self._change(node, "constant", repr(2.0 * value) if value else "1.0")

    def visit_Call(self, node: ast.Call) -> None:
        name = _name(node.func)
        if name in {"cast", "TypeVar", "NewType"}:
            return
        if name in NAMES:
            text = self._text(node.func)
            self._change(node.func, "extremum", text[: len(text) - len(name)] + NAMES[name])
        for part in (node.func, *node.args, *(one.value for one in node.keywords if one.arg != "strict")):
            self.visit(part)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._change(node.test, "branch", f"not ({self._text(node.test)})")
        self.generic_visit(node)

    def visit_If(self, node: ast.If) -> None:
        if isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            return
        self._change(node.test, "branch", f"not ({self._text(node.test)})")
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if type(node.op) in OPERATORS:
            old, new = OPERATORS[type(node.op)]
            begin, end = self._end(node.target), self._begin(node.value)
            gap = self._source[begin:end].decode()
            self._replace(node, "arithmetic", begin, end, gap.replace(f"{old}=", f"{new}="))
        self._change(node, "statement", "pass")
        self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Call) and _name(node.value) not in SHOWN:
            if self._in_function:
                self._change(node, "statement", "pass")
            self.generic_visit(node)

    def visit_Continue(self, node: ast.Continue) -> None:
        self._change(node, "statement", "pass")

    def visit_Break(self, node: ast.Break) -> None:
        self._change(node, "statement", "pass")


def modules(package: Path, excluded: frozenset[str]) -> Iterator[str]:
    """The files of the package, but for those of some rooms."""
    for path in sorted(package.rglob("*.py")):
        file = path.relative_to(package).as_posix()
        if file.partition("/")[0] not in excluded:
            yield file
