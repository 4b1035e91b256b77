"""Components and their specs: what a part was made of, as plain data, and the part made again from it.

A component (a reward, an oracle, a confidence, a schedule, a planner, an agent) declares its parameters once, in the
signature of its constructor, and keeps each of them as an attribute of the same name. Everything else follows:

    arguments    {name: value}: numbers, strings, lists, None, or other components
    repr         the class and the arguments that are not at their defaults
    ==           the class and its arguments, models and arrays among them by their content
    to_spec      {"kind": kind, name: value, ...}, with components within it as specs
    from_spec    the way back, with every argument checked by the constructor as a user's would be

A study file holds a spec as TOML, a saved agent as JSON, and the id of a run is a hash of it. An argument that is None
is left out, as TOML has no null. What is no plain data, such as a model, is written by a function of the caller. The
kind is the name of the class, or "package.module:Name" for a user-written one (`_plugins`).
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Self, final

import numpy as np

from equipoise._checks import suggest
from equipoise._plugins import is_external, load_external
from equipoise.errors import ContractError, EquipoiseError

Maker = Callable[..., Any]
_INJECTED: Final = ("space", "reward")  # parameters of a function that makes an agent, which its problem decides
_PACKAGE: Final = __name__.partition(".")[0]


class Component:
    """A part that can say what it was made of."""

    injected: ClassVar[tuple[str, ...]] = ()  # parameters that no spec holds: an agent's, from its problem
    implicit_kind: ClassVar[bool] = False  # True: a parameter of this class takes no other, so specs omit the kind

    def __new__(cls, *_arguments: Any, **_more: Any) -> Self:  # the signature of every subclass's constructor
        if inspect.isabstract(cls):
            missing = ", ".join(sorted(getattr(cls, "__abstractmethods__", ())))
            raise ContractError(f"{cls.__name__}: it lacks {missing}; a class of its kind must have that")
        return super().__new__(cls)

    def arguments(self) -> dict[str, Any]:
        """The constructor's arguments as they are in force: numbers, strings, lists, None, or other parts."""
        return {name: plain(_kept(self, name)) for name in parameters(type(self))}

    def __repr__(self) -> str:
        return call_text(type(self).__name__, chosen_arguments(self))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Component) or type(self) is not type(other):
            return False
        return _alike(self.arguments(), other.arguments())

    def __hash__(self) -> int:
        return hash(repr(self))


def chosen_arguments(part: Component) -> dict[str, Any]:
    """The arguments of a component that are not at their defaults: what its repr shows."""
    usual = _defaults(part)
    return {name: x for name, x in part.arguments().items() if name not in usual or not _alike(x, usual[name])}


def _defaults(part: Component) -> dict[str, Any]:
    found = parameters(type(part)).items()
    return {name: plain(one.default) for name, one in found if one.default is not inspect.Parameter.empty}


def _alike(one: Any, other: Any) -> bool:
    """Whether two arguments are the same: data by what is written, parts and models by what they are made of."""
    if type(one) is not type(other):
        return False
    if isinstance(one, list):
        return len(one) == len(other) and all(map(_alike, one, other))
    if isinstance(one, Mapping):
        return list(one) == list(other) and all(_alike(part, other[name]) for name, part in one.items())
    if one is None or isinstance(one, bool | int | float | str):
        return repr(one) == repr(other)  # NaN is itself, and 0.0 is not -0.0
    return one is other or bool(one == other)


def parameters(maker: Maker, *, injected: bool = False) -> dict[str, inspect.Parameter]:
    """The parameters that a spec may give; and those that the problem decides, if they are asked for."""
    signature = _signature(maker)
    star = [name for name, one in signature.items() if one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD)]
    if star:
        name = getattr(maker, "__name__", repr(maker))
        raise ContractError(f"{name}: it takes *{star[0]}; a part names every parameter that it has")
    return {name: one for name, one in signature.items() if injected or name not in _injected(maker)}


def _injected(maker: Maker) -> tuple[str, ...]:
    return getattr(maker, "injected", ()) if inspect.isclass(maker) else _INJECTED


def _signature(maker: Maker) -> Mapping[str, inspect.Parameter]:
    """All parameters of a maker; a class without a constructor of its own, whose `__new__` says nothing, has none."""
    if inspect.isclass(maker) and getattr(maker, "__init__", None) is object.__init__:
        return {}
    return inspect.signature(maker).parameters


def plain(value: Any) -> Any:
    """The same without numpy: arrays and tuples as lists, numpy's numbers as Python's."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    return value


def kind_of(part: Maker) -> str:
    """The name by which a spec calls a class or a function: its own, or "package.module:Name" if written elsewhere."""
    if part.__module__.partition(".")[0] == _PACKAGE:
        return part.__name__
    if "." in part.__qualname__:
        raise ContractError(
            f"{part.__qualname__}: what is defined inside a function or a class cannot be found again; "
            "define it at the top level of a module"
        )
    return f"{part.__module__}:{part.__qualname__}"


Write = Callable[[Any, str], Any]


def to_spec(part: Component | Mapping[str, Any] | str, write: Write, where: str = "") -> dict[str, Any]:
    """Return the spec of a component, a name or a spec; `write` converts values that are not plain data, or raises."""
    if isinstance(part, str):
        return {"kind": part}
    if isinstance(part, Component):
        kind = {} if part.implicit_kind else {"kind": kind_of(type(part))}
        usual = _defaults(part)
        given = {name: x for name, x in part.arguments().items() if x is not None or usual.get(name, 0) is not None}
        return kind | {name: _data(value, write, _within(where, name)) for name, value in given.items()}
    return dict(_data(part, write, where))


def _data(value: Any, write: Write, where: str) -> Any:
    value = plain(value)
    if isinstance(value, Component):
        return to_spec(value, write, where)
    if isinstance(value, list):
        return [_data(one, write, where) for one in value]
    if isinstance(value, Mapping):
        return {str(k): _data(one, write, _within(where, str(k))) for k, one in value.items() if one is not None}
    if isinstance(value, bool | int | float | str):
        return value
    return kind_of(value) if inspect.isclass(value) or inspect.isfunction(value) else write(value, where)


def call_text(name: str, arguments: Mapping[str, Any], longest: int | None = None) -> str:
    """A component as a call, such as ``Scaled(confidence=Adaptive())``, with values of at most `longest` letters."""

    def write(value: Any) -> str:
        if isinstance(value, Mapping) and "kind" in value:
            return call_text(str(value["kind"]), {key: x for key, x in value.items() if key != "kind"}, longest)
        return _short(value, longest)

    return f"{name}({', '.join(f'{key}={write(value)}' for key, value in arguments.items())})"


@final
@dataclass(frozen=True)
class SpecReader:
    """How specs are read."""

    kinds: Mapping[type, Callable[[], Mapping[str, Maker]]]
    error: type[EquipoiseError]
    fill: Callable[[str], Any] = lambda name: None  # noqa: ARG005
    restore: Callable[[Any], Any] = lambda value: value


def from_spec(spec: Any, base: type, where: str, reader: SpecReader, injected: Mapping[str, Any] | None = None) -> Any:
    """Make what a name or a spec asks for; an error says where it stands and what would be accepted."""
    if not isinstance(spec, str | Mapping):
        raise reader.error(f"{where}: got {_short(spec)}; a name or a table is needed")
    table = {"kind": spec} if isinstance(spec, str) else dict(spec)
    kind, maker = _maker(table, base, where, reader)
    try:
        accepted, signature = parameters(maker), parameters(maker, injected=True)
    except ContractError as error:
        raise reader.error(f"{where}: {error}") from error
    values = {name: value for name, value in (injected or {}).items() if name in signature}
    for name, value in table.items():
        if name == "kind":
            continue
        if name not in accepted:
            known = f"{suggest(name, accepted)}; it takes {', '.join(accepted) or 'no parameters'}"
            raise reader.error(f"{where}.{name}: {kind} has no parameter {name!r}{known}")
        values[name] = _value(value, maker, accepted[name], _within(where, name), reader)
    for name, parameter in accepted.items():
        filling = reader.fill(name)
        if name not in values and filling is not None:
            values[name] = filling
        if name not in values and parameter.default is inspect.Parameter.empty:
            raise reader.error(f"{where}: {kind} needs the parameter {name!r}")
    try:
        part = maker(**values)
    except EquipoiseError as error:
        raise reader.error(f"{where}: {kind}: {error}") from error
    except (TypeError, ValueError, OverflowError, MemoryError) as error:
        reason = str(error) or type(error).__name__
        arguments = {name: value for name, value in values.items() if name not in _injected(maker)}
        raise reader.error(f"{where}: {kind} cannot be made of {_short(arguments)} ({reason})") from error
    except (Exception, SystemExit) as error:
        if not is_external(kind):
            raise
        raise reader.error(f"{where}: {kind} raised {type(error).__name__}: {error}") from error
    if not isinstance(part, base):
        raise reader.error(f"{where}.kind: {kind} gives a {type(part).__name__}; a {base.__name__} is needed")
    return part


def _value(value: Any, maker: Maker, parameter: inspect.Parameter, where: str, reader: SpecReader) -> Any:
    value = reader.restore(value)
    base = _base_of(maker, parameter, reader.kinds)
    if base is None and isinstance(value, Mapping) and "kind" in value:  # a parameter without an annotation
        base = next((kind for kind, makers in reader.kinds.items() if str(value["kind"]) in makers()), Component)
    if base is None:
        return value
    if isinstance(value, list) and typing.get_origin(_annotation(maker, parameter)) is Sequence:
        return [_part(one, base, f"{where}[{i}]", reader) for i, one in enumerate(value)]
    return _part(value, base, where, reader)


def _part(value: Any, base: type, where: str, reader: SpecReader) -> Any:
    return from_spec(value, base, where, reader) if isinstance(value, str | Mapping) else value


def _base_of(maker: Maker, parameter: inspect.Parameter, kinds: Iterable[type]) -> type | None:
    """The kind of part that a parameter takes, one or several of it, by its annotation; None if it takes data."""
    annotation = _annotation(maker, parameter)
    union = typing.get_args(annotation) or (annotation,)
    return next((base for base in kinds for one in union if inspect.isclass(one) and issubclass(one, base)), None)


def _annotation(maker: Maker, parameter: inspect.Parameter) -> Any:
    """What a parameter is annotated with; None if that is a name that only type checkers import."""
    annotation = parameter.annotation
    if not isinstance(annotation, str):
        return annotation
    function = getattr(maker, "__init__", maker) if inspect.isclass(maker) else maker
    try:
        return eval(annotation, dict(getattr(function, "__globals__", {})))  # the module's own source
    except (NameError, TypeError, SyntaxError, AttributeError):
        return None


def _maker(table: Mapping[str, Any], base: type, where: str, reader: SpecReader) -> tuple[str, Maker]:
    makers = reader.kinds.get(base, dict)()
    if "kind" not in table and len(makers) == 1:
        return next(iter(makers.items()))
    if "kind" not in table:
        raise reader.error(f"{where}: its kind is missing; one of {', '.join(sorted(makers))} is needed")
    kind = table["kind"]
    if isinstance(kind, str) and is_external(kind) and kind not in makers:
        return kind, load_external(kind, base, where, reader.error, derived=issubclass(base, Component))
    if not isinstance(kind, str) or kind not in makers:
        raise reader.error(
            f"{where}.kind: got {kind!r}{suggest(kind, makers)}; one of {', '.join(sorted(makers))} is needed, or "
            '"package.module:Name" for one of your own'
        )
    return kind, makers[kind]


def _kept(part: Component, name: str) -> Any:
    try:
        return getattr(part, name)
    except AttributeError:
        raise ContractError(
            f"{type(part).__name__}: its parameter {name!r} is not kept; set self.{name} in its constructor"
        ) from None


def _within(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name


def _short(value: Any, longest: int | None = 60) -> str:
    text = repr(value)
    return text if longest is None or len(text) <= longest else f"{text[: longest - 3]}..."
