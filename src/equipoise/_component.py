"""Parts and their descriptions: what a part was made of, as plain data, and the part made anew from it.

A part (a reward, an oracle, a confidence, a schedule, a planner, an agent) declares its parameters once, in the
signature of its constructor, and keeps each of them as an attribute of the same name. Everything else follows:

    arguments    {name: value}: numbers, strings, lists, None, or other parts
    repr, ==     of the class and its arguments
    described    {"kind": kind, name: value, ...}, with parts within as descriptions: what files and ids are made of
    made         the way back, with every argument checked by the constructor as a user's would be

The kind of a part of this package is the name of its class. A part written elsewhere is "package.module:Name". A file
alone never makes the program import anything: such a module must have been allowed by the user, with `allow` in
Python or ``--with package.module`` on the command line.
"""

from __future__ import annotations

import importlib
import inspect
import sys
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final, Self, final

import numpy as np

from equipoise._words import nearest
from equipoise.errors import ContractError, EquipoiseError, ParameterError

Maker = Callable[..., Any]
_GIVEN: Final = ("space", "reward")  # parameters of a function that makes an agent, which its problem decides
_PACKAGE: Final = __name__.partition(".")[0]


class Component:
    """A part that can say what it was made of.

    A subclass keeps every parameter of its constructor as an attribute of the same name.

    >>> class Speed(Component):
    ...     def __init__(self, limit: float = 50.0) -> None:
    ...         self.limit = limit
    >>> Speed(30.0), Speed(30.0).arguments(), Speed(30.0) == Speed()
    (Speed(limit=30.0), {'limit': 30.0}, False)
    """

    given: ClassVar[tuple[str, ...]] = ()  # parameters that no description holds: an agent's, from its problem
    later: ClassVar[tuple[str, ...]] = ()  # parameters that came later: not told at their defaults, as ids were without
    only_kind: ClassVar[bool] = False  # True: a parameter of this class takes no other, so descriptions omit the kind

    def __new__(cls, *_arguments: Any, **_more: Any) -> Self:  # the signature of every subclass's constructor
        if inspect.isabstract(cls):
            missing = ", ".join(sorted(getattr(cls, "__abstractmethods__", ())))
            raise ContractError(f"{cls.__name__}: it lacks {missing}; a class of its kind must have that")
        return super().__new__(cls)

    def arguments(self) -> dict[str, Any]:
        """The constructor's arguments as they are in force: numbers, strings, lists, None, or other parts."""
        told = {name: plain(_kept(self, name)) for name in parameters(type(self))}
        usual = {name: parameters(type(self))[name].default for name in self.later}
        return {name: value for name, value in told.items() if name not in usual or value != usual[name]}

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}={value!r}" for name, value in self.arguments().items())
        return f"{type(self).__name__}({inside})"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))


def parameters(maker: Maker, *, given: bool = False) -> dict[str, inspect.Parameter]:
    """The parameters that a description may give.

    Parameters
    ----------
    maker : callable
        A class or a function.
    given : bool
        Whether to name also what no description holds: the space and the reward of an agent, which its problem decides.

    Examples
    --------
    >>> from equipoise.rewards import Linear
    >>> list(parameters(Linear))
    ['weights', 'norm']
    """
    signature = _signature(maker)
    star = [name for name, one in signature.items() if one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD)]
    if star:
        raise ContractError(f"{_name_of(maker)}: it takes *{star[0]}; a part names every parameter that it has")
    return {name: one for name, one in signature.items() if given or name not in _given(maker)}


def _given(maker: Maker) -> tuple[str, ...]:
    """The parameters that no description holds."""
    return getattr(maker, "given", ()) if inspect.isclass(maker) else _GIVEN


def _signature(maker: Maker) -> Mapping[str, inspect.Parameter]:
    """All parameters of a maker; a class without a constructor of its own, whose `__new__` says nothing, has none."""
    if inspect.isclass(maker) and getattr(maker, "__init__", None) is object.__init__:
        return {}
    return inspect.signature(maker).parameters


def plain(value: Any) -> Any:
    """The same without numpy: arrays and tuples as lists, numpy's numbers as Python's.

    >>> plain((np.float64(0.5), np.array([1, 2])))
    [0.5, [1, 2]]
    """
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    return value


def kind_of(part: type) -> str:
    """The name by which a description calls a class: its own, or "package.module:Name" if it was written elsewhere.

    >>> from equipoise.rewards import Linear
    >>> kind_of(Linear)
    'Linear'
    """
    if part.__module__.partition(".")[0] == _PACKAGE:
        return part.__name__
    if "<locals>" in part.__qualname__:
        raise ContractError(
            f"{part.__name__}: a class defined inside a function cannot be found again; define it in a module"
        )
    return f"{part.__module__}:{part.__qualname__}"


# -- from a part to its description ---------------------------------------------------------------------------------

Convert = Callable[[Any, str], Any]


def described(part: Component, convert: Convert, where: str = "") -> dict[str, Any]:
    """The kind and the arguments of a part, those of the parts within it alike.

    Parameters
    ----------
    part : Component
        What to describe.
    convert : callable
        ``convert(value, where)`` gives the data that stands for a value that is neither plain data nor a part, such as
        a model; or raises an error.
    where : str
        The place of the part in a larger description, for `convert`.
    """
    values = {name: _data(value, convert, _within(where, name)) for name, value in part.arguments().items()}
    return values if part.only_kind else {"kind": kind_of(type(part)), **values}


def _data(value: Any, convert: Convert, where: str) -> Any:
    value = plain(value)
    if isinstance(value, Component):
        return described(value, convert, where)
    if isinstance(value, list):
        return [_data(part, convert, where) for part in value]
    if isinstance(value, Mapping):
        return {str(name): _data(part, convert, _within(where, str(name))) for name, part in value.items()}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return convert(value, where)


# -- and back -------------------------------------------------------------------------------------------------------


@final
@dataclass(frozen=True)
class Reading:
    """How descriptions are read.

    Attributes
    ----------
    kinds : mapping
        For each kind of part (a base class), a function that gives the makers of this package by name.
    error : type
        The error to raise when a description is wrong.
    fill : callable
        ``fill(name)``: the value of a parameter that was left out, or None to leave it to its default.
    restore : callable
        ``restore(value)``: what `convert` made data of, or the value itself.
    """

    kinds: Mapping[type, Callable[[], Mapping[str, Maker]]]
    error: type[EquipoiseError]
    fill: Callable[[str], Any] = lambda name: None  # noqa: ARG005
    restore: Callable[[Any], Any] = lambda value: value


def made(description: Any, base: type, where: str, reading: Reading, given: Mapping[str, Any] | None = None) -> Any:
    """Make what a name or a description asks for; an error says where it stands and what would be accepted.

    Parameters
    ----------
    description : str or mapping
        A name, or a table with the kind and the parameters. Parameters that are parts are written in the same way.
    base : type
        What it must be.
    where : str
        The place, for messages.
    reading : Reading
        The names that are known, and how to go about it.
    given : mapping, optional
        Arguments that no description holds, the space and the reward of an agent; passed if the maker takes them.
    """
    table = {"kind": description} if isinstance(description, str) else dict(flattened(description))
    kind, maker = _maker(table, base, where, reading)
    try:
        accepted, signature = parameters(maker), parameters(maker, given=True)
    except ContractError as error:
        raise reading.error(f"{where}: {error}") from error
    values = {name: value for name, value in (given or {}).items() if name in signature}
    for name, value in table.items():
        if name == "kind":
            continue
        if name not in accepted:
            known = f"{nearest(name, accepted)}; it takes {', '.join(accepted) or 'no parameters'}"
            raise reading.error(f"{where}.{name}: {kind} has no parameter {name!r}{known}")
        values[name] = _value(value, maker, accepted[name], _within(where, name), reading)
    for name, parameter in accepted.items():
        filling = reading.fill(name)
        if name not in values and filling is not None:
            values[name] = filling
        if name not in values and parameter.default is inspect.Parameter.empty:
            raise reading.error(f"{where}: {kind} needs the parameter {name!r}")
    try:
        part = maker(**values)
    except EquipoiseError as error:
        raise reading.error(f"{where}: {kind}: {error}") from error
    except (TypeError, ValueError, OverflowError, MemoryError) as error:
        reason = str(error) or type(error).__name__
        arguments = {name: value for name, value in values.items() if name not in _given(maker)}
        raise reading.error(f"{where}: {kind} cannot be made of {_short(arguments)} ({reason})") from error
    except Exception as error:
        if not _is_elsewhere(kind):
            raise
        raise reading.error(f"{where}: {kind} raised {type(error).__name__}: {error}") from error
    if not isinstance(part, base):
        raise reading.error(f"{where}.kind: {kind} gives a {type(part).__name__}; a {base.__name__} is needed")
    return part


def flattened(value: Any) -> Any:
    """A description of the first version, {"kind": ..., "arguments": {...}}, as one of today's, within as well.

    Parameters
    ----------
    value : object
        A description of either version; anything else is returned as it is.

    Examples
    --------
    >>> flattened({"kind": "Doubling", "arguments": {"mirror_map": {"kind": "Box", "arguments": {}}}})
    {'kind': 'Doubling', 'mirror_map': {'kind': 'Box'}}
    """
    if not isinstance(value, Mapping):
        return value
    if set(value) == {"kind", "arguments"}:
        value = {"kind": value["kind"], **value["arguments"]}
    return {name: flattened(part) for name, part in value.items()}


def _value(value: Any, maker: Maker, parameter: inspect.Parameter, where: str, reading: Reading) -> Any:
    value = reading.restore(value)
    base = _base_of(maker, parameter, reading.kinds)
    if base is None and isinstance(value, Mapping) and "kind" in value:  # a parameter without an annotation
        base = next((kind for kind, makers in reading.kinds.items() if str(value["kind"]) in makers()), Component)
    if base is None:
        return value
    if isinstance(value, list) and _takes_several(maker, parameter):
        return [_part(one, base, f"{where}[{i}]", reading) for i, one in enumerate(value)]
    return _part(value, base, where, reading)


def _part(value: Any, base: type, where: str, reading: Reading) -> Any:
    return made(value, base, where, reading) if isinstance(value, str | Mapping) else value


def _base_of(maker: Maker, parameter: inspect.Parameter, kinds: Iterable[type]) -> type | None:
    """The kind of part that a parameter takes, one or several of it, by its annotation; None if it takes data."""
    annotation = _annotation(maker, parameter)
    union = typing.get_args(annotation) or (annotation,)
    return next((base for base in kinds for one in union if inspect.isclass(one) and issubclass(one, base)), None)


def _takes_several(maker: Maker, parameter: inspect.Parameter) -> bool:
    """Whether a parameter takes a list of parts, by its annotation."""
    return typing.get_origin(_annotation(maker, parameter)) is Sequence


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


def _maker(table: Mapping[str, Any], base: type, where: str, reading: Reading) -> tuple[str, Maker]:
    makers = reading.kinds.get(base, dict)()
    if "kind" not in table and len(makers) == 1:
        return next(iter(makers.items()))
    if "kind" not in table:
        raise reading.error(f"{where}: its kind is missing; one of {', '.join(sorted(makers))} is needed")
    kind = table["kind"]
    if isinstance(kind, str) and _is_elsewhere(kind):
        return kind, _imported(kind, where, reading.error)
    if not isinstance(kind, str) or kind not in makers:
        raise reading.error(
            f"{where}.kind: got {kind!r}{nearest(kind, makers)}; one of {', '.join(sorted(makers))} is needed, or "
            '"package.module:Name" for one of your own'
        )
    return kind, makers[kind]


# -- parts written elsewhere ----------------------------------------------------------------------------------------

_allowed: Final[set[str]] = set()


def allow(*modules: str) -> None:
    """Let files and studies name parts in these modules, as "package.module:Name"; they are imported now.

    A study, a saved agent or a report may ask for a part written elsewhere. Without leave it is not imported, since a
    file that can import can run anything. A package that is allowed allows the modules within it.

    Parameters
    ----------
    *modules : str
        Names of modules, such as "my_package.agents".

    Raises
    ------
    ParameterError
        When there is no such module, or it cannot be imported.

    Examples
    --------
    >>> import equipoise as eq
    >>> eq.allow("fractions")
    >>> eq.allow("no_such_module")
    Traceback (most recent call last):
    ...
    equipoise.errors.ParameterError: no_such_module: there is no module of that name
    """
    for module in modules:
        if not isinstance(module, str) or not all(part.isidentifier() for part in module.split(".")):
            raise ParameterError(f"{module!r}: the name of a module is needed, such as 'package.module'")
        _loaded(module, module, ParameterError)
        _allowed.add(module)


def allow_beside(modules: Iterable[str]) -> None:
    """As `allow`, for the command line: modules in the present folder are found too, as with ``python -m``."""
    here = str(Path.cwd())
    modules = list(modules)
    if modules and here not in sys.path and "" not in sys.path:
        sys.path.insert(0, here)
    allow(*modules)


def allowed_in(*descriptions: Any) -> tuple[str, ...]:
    """The modules that descriptions name and that are allowed here, for a worker to allow them too.

    Parameters
    ----------
    *descriptions : mapping or list
        As `described` gives them.

    Examples
    --------
    >>> allow("fractions")
    >>> allowed_in({"kind": "Scaled", "confidence": {"kind": "fractions:Fraction"}}, {"kind": "decimal:Decimal"})
    ('fractions',)
    """
    modules: dict[str, None] = {}
    for part in descriptions:
        if isinstance(part, Mapping):
            kind = part.get("kind")
            if isinstance(kind, str) and _is_elsewhere(kind) and _is_allowed(kind.partition(":")[0]):
                modules[kind.partition(":")[0]] = None
            part = list(part.values())
        if isinstance(part, list):
            modules |= dict.fromkeys(allowed_in(*part))
    return tuple(modules)


def _is_allowed(module: str) -> bool:
    """Whether a module, or a package that it is in, was allowed."""
    return any(module == one or module.startswith(f"{one}.") for one in _allowed)


def named_elsewhere(kind: str, where: str, error: type[EquipoiseError]) -> Any:
    """What "package.module:name" names, if its module is allowed; for parts that are no components, such as sections.

    Parameters
    ----------
    kind : str
        The name.
    where : str
        Its place, for messages.
    error : type
        The error to raise if it is not allowed, or not there.
    """
    if not _is_elsewhere(kind):
        raise error(f'{where}: got {kind!r}; "package.module:name" is needed')
    return _imported(kind, where, error)


def _is_elsewhere(kind: str) -> bool:
    return ":" in kind


def _imported(kind: str, where: str, error: type[EquipoiseError]) -> Any:
    module, _, path = kind.partition(":")
    if not _is_allowed(module):
        raise error(
            f"{where}: {kind!r} is not of this package, and its module is imported only if you allow it: "
            f"--with {module} on the command line, equipoise.allow({module!r}) in Python"
        )
    part: Any = _loaded(module, f"{where}: {module}", error)
    try:
        for name in path.split("."):
            part = getattr(part, name)
    except AttributeError:
        known = {name: None for name in vars(sys.modules.get(module, object)) if not name.startswith("_")}
        raise error(f"{where}: {module} has no {path!r}{nearest(path, known)}") from None
    if not callable(part):
        raise error(f"{where}: {kind} is a {type(part).__name__}; a class or a function is needed")
    return part


def _loaded(module: str, said: str, error: type[EquipoiseError]) -> Any:
    """Import a module; what goes wrong is an error that begins with `said`."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as trouble:
        if trouble.name is not None and (module == trouble.name or module.startswith(f"{trouble.name}.")):
            raise error(f"{said}: there is no module of that name") from None
        raise error(f"{said}: it cannot be imported ({trouble})") from trouble
    except Exception as trouble:  # whatever the module itself raises
        raise error(f"{said}: importing it raised {type(trouble).__name__}: {trouble}") from trouble


def _kept(part: Component, name: str) -> Any:
    try:
        return getattr(part, name)
    except AttributeError:
        raise ContractError(
            f"{type(part).__name__}: its parameter {name!r} is not kept; set self.{name} in its constructor"
        ) from None


def _name_of(maker: Maker) -> str:
    return getattr(maker, "__name__", repr(maker))


def _within(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
