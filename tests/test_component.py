"""Parts declare their parameters once: arguments, repr, equality, descriptions and the way back follow from that."""

from __future__ import annotations

import json
import sys
import textwrap

import numpy as np
import pytest

import equipoise as eq
from equipoise import _component
from equipoise._component import Component, Reading, allow_beside, allowed_in, described, kind_of, made, parameters
from equipoise.agents.vocabulary import KINDS
from equipoise.errors import ContractError, ParameterError, StudyError

READING = Reading(KINDS, StudyError)
PARTS = [
    eq.rewards.Linear([0.5, -1.0], norm=1),
    eq.rewards.Quadratic([0.25, 0.5]),
    eq.rewards.TargetDistance([0.5, 0.1], np.inf),
    eq.rewards.Entropy(4),
    eq.rewards.Entropy(4, 0.1),
    eq.rewards.Knapsack(3, 0.25),
    eq.oracles.FrankWolfe(),
    eq.oracles.TunedMirrorDescent(eq.oracles.SignedSimplex(), 1e4),
    eq.oracles.Doubling(eq.oracles.Box(), inherit=True),
    eq.confidence.Adaptive(),
    eq.confidence.L1("laplace"),
    eq.confidence.Scaled(eq.confidence.PosteriorSampling(seed=3), 0.5),
    eq.agents.Power(-0.5, 2.0),
    eq.agents.Span(),
    eq.planning.Planner(warm_start=True),
]


def refuse(value, where):
    raise AssertionError(f"{where}: {value!r} is no plain data")


def base_of(part):
    return next(base for base in KINDS if isinstance(part, base))


@pytest.mark.parametrize("part", PARTS, ids=repr)
def test_a_description_is_json_and_makes_the_same_part_again(part):
    data = json.loads(json.dumps(described(part, refuse)))
    twin = made(data, base_of(part), "part", READING)
    assert twin == part
    assert repr(twin) == repr(part)
    assert hash(twin) == hash(part)
    assert list(part.arguments()) == [name for name in parameters(type(part)) if name not in part.later]


def test_descriptions_are_read_as_the_first_version_wrote_them():
    old = {"kind": "Doubling", "arguments": {"mirror_map": {"kind": "Box", "arguments": {}}, "inherit": True}}
    assert made(old, eq.oracles.Oracle, "oracle", READING) == eq.oracles.Doubling(eq.oracles.Box(), inherit=True)


def test_parts_that_differ_are_not_equal():
    one, other = eq.rewards.Quadratic([0.1, 0.2]), eq.rewards.Quadratic([0.1, 0.3])
    assert one != other
    assert eq.rewards.Linear([1.0]) != eq.rewards.Quadratic([1.0])
    custom = [eq.rewards.Custom(1, lambda w: w[0], lambda w: np.ones(1), 2, 1.0, 0.0) for _ in range(2)]
    assert custom[0] != custom[1]  # functions cannot be compared
    assert custom[0] == custom[0]


def test_all_names_of_parts_are_different():
    names = [name for kind, makers in KINDS.items() if kind is not eq.Mechanics for name in makers()]
    assert len(set(names)) == len(names)


def test_known_mechanics_share_a_name_with_the_table_of_the_same_system_alone():
    """They are named by a key of their own, `mechanics = "queue"`, where `kind = "queue"` is the table."""
    others = [name for kind, makers in KINDS.items() if kind not in (eq.Mechanics, eq.Model) for name in makers()]
    assert not set(KINDS[eq.Mechanics]()) & set(others)
    for name in set(KINDS[eq.Mechanics]()) & set(KINDS[eq.Model]()):
        system, table = KINDS[eq.Mechanics]()[name](), KINDS[eq.Model]()[name]()
        assert sorted(map(str, system.labels.states)) == sorted(map(str, table.labels.states)), name
        assert system.labels.outcomes == table.labels.outcomes, name


# -- parts that do not keep to it ------------------------------------------------------------------------------------


class Forgetful(Component):
    def __init__(self, size: int) -> None:
        self.length = size


class Open(Component):
    def __init__(self, *sizes: int) -> None:
        self.sizes = sizes


class Holder(Component):
    """Takes a part without saying so in an annotation."""

    def __init__(self, part=None):
        self.part = part


def test_a_parameter_that_is_not_kept_is_named():
    with pytest.raises(ContractError, match=r"Forgetful: its parameter 'size' is not kept; set self\.size"):
        Forgetful(3).arguments()


def test_a_constructor_names_all_of_its_parameters():
    with pytest.raises(ContractError, match=r"Open: it takes \*sizes"):
        Open(3).arguments()


def test_a_class_inside_a_function_has_no_kind():
    class Inner(Component):
        pass

    with pytest.raises(ContractError, match="Inner: a class defined inside a function"):
        kind_of(Inner)


def test_a_class_that_lacks_a_method_is_named():
    class Silent(eq.oracles.Oracle):
        pass

    with pytest.raises(ContractError, match=r"Silent: it lacks .*check.*first_theta"):
        Silent()


# -- elsewhere -------------------------------------------------------------------------------------------------------


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A module of somebody's, in the present folder; its name is new every time."""
    name = f"parts_{tmp_path.name}".replace("-", "_")
    (tmp_path / f"{name}.py").write_text(
        textwrap.dedent(
            """
            import equipoise as eq
            imported = []
            imported.append(True)

            class Half(eq.agents.Schedule):
                def __init__(self, scale=0.5):
                    self.scale = scale
                def rule(self, unit):
                    from equipoise.agents.schedules import Rule
                    return Rule(self.scale * unit)

            def world(arms=2):
                return eq.models.bandit(arms)

            def raising():
                raise KeyError("no data")

            number = 3
            """
        )
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(_component, "_allowed", set())
    yield name
    sys.modules.pop(name, None)


def test_nothing_is_imported_without_leave(module):
    with pytest.raises(StudyError, match=rf"imported only if you allow it: --with {module} .*allow\('{module}'\)"):
        made(f"{module}:Half", eq.agents.Schedule, "threshold", READING)
    assert module not in sys.modules
    allow_beside([module])
    assert allowed_in([{"kind": f"{module}:Half"}]) == (module,)
    half = made({"kind": f"{module}:Half", "scale": 0.25}, eq.agents.Schedule, "threshold", READING)
    assert described(half, refuse) == {"kind": f"{module}:Half", "scale": 0.25}
    assert made(f"{module}:world", eq.Model, "world", READING) == eq.models.bandit(2)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("Hall", r"has no 'Hall' \(did you mean 'Half'\?\)"),
        ("number", "is a int; a class or a function is needed"),
        ("world", "gives a Model; a Schedule is needed"),
        ("raising", "raised KeyError: 'no data'"),
    ],
)
def test_what_is_wrong_with_a_part_of_somebodys(module, kind, message):
    allow_beside([module])
    with pytest.raises(StudyError, match=f"^threshold.*{message}"):
        made(f"{module}:{kind}", eq.agents.Schedule, "threshold", READING)


def test_modules_that_cannot_be_allowed(module, tmp_path):
    (tmp_path / f"{module}_broken.py").write_text("1 / 0")
    (tmp_path / f"{module}_needs.py").write_text("import no_such_module_at_all")
    for name, message in (
        ("no_such_module", "there is no module of that name"),
        ("not a name", "the name of a module is needed"),
        (f"{module}_broken", "importing it raised ZeroDivisionError"),
        (f"{module}_needs", "it cannot be imported .*no_such_module_at_all"),
    ):
        with pytest.raises(ParameterError, match=message):
            allow_beside([name])
        assert allowed_in({"kind": f"{name}:Half"}) == ()


def test_a_part_without_annotations_can_hold_parts(module):
    eq.allow(__name__)
    holder = Holder(eq.confidence.Scaled(eq.confidence.Adaptive(), 0.5))
    data = json.loads(json.dumps(described(holder, refuse)))
    assert made(data, Component, "holder", READING) == holder
