"""Parts declare their parameters once: arguments, repr, equality, descriptions and the way back follow from that."""

from __future__ import annotations

import json
import sys
import textwrap
import tomllib

import numpy as np
import pytest
import tomli_w

import equipoise as eq
from equipoise import _plugins
from equipoise._plugins import allow_local, find_allowed, load_function
from equipoise._spec import Component, SpecReader, call_text, from_spec, kind_of, parameters, to_spec
from equipoise.agents.vocabulary import KINDS
from equipoise.errors import ContractError, ParameterError, StudyError

READER = SpecReader(KINDS, StudyError)
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
    data = json.loads(json.dumps(to_spec(part, refuse)))
    twin = from_spec(data, base_of(part), "part", READER)
    assert twin == part
    assert repr(twin) == repr(part)
    assert hash(twin) == hash(part)
    assert list(part.arguments()) == list(parameters(type(part)))


@pytest.mark.parametrize("part", PARTS, ids=repr)
def test_a_spec_is_toml(part):
    spec = to_spec(part, refuse)
    assert tomllib.loads(tomli_w.dumps(spec)) == spec


def test_a_repr_leaves_out_what_is_at_its_default():
    assert repr(eq.oracles.Doubling(eq.oracles.Box())) == "Doubling(mirror_map=Box())"
    assert repr(eq.oracles.Doubling(eq.oracles.Box(), inherit=True)) == "Doubling(mirror_map=Box(), inherit=True)"
    assert repr(eq.planning.Planner(limit=7)) == "Planner(limit=7)"
    spec = {"kind": "Scaled", "confidence": {"kind": "Adaptive"}, "factor": 0.5}
    assert call_text("Outer", {"inner": spec, "n": 2}) == "Outer(inner=Scaled(confidence=Adaptive(), factor=0.5), n=2)"


def test_arguments_that_are_no_parameters_are_shown():
    class Odd(Component):
        def arguments(self):
            return {"size": 3, "colour": None}

    assert repr(Odd()) == "Odd(size=3, colour=None)"


def test_what_is_no_plain_data_is_written_by_the_caller():
    model = eq.models.star()
    holder = Holder([eq.confidence.Known(model)])
    spec = to_spec(holder, lambda value, where: {"at": where, "states": value.n_states}, "agent")
    assert spec["part"] == [{"kind": "Known", "model": {"at": "agent.part.model", "states": model.n_states}}]


def test_parts_that_differ_are_not_equal():
    one, other = eq.rewards.Quadratic([0.1, 0.2]), eq.rewards.Quadratic([0.1, 0.3])
    assert one != other
    assert eq.rewards.Linear([1.0]) != eq.rewards.Quadratic([1.0])
    custom = [eq.rewards.Custom(1, lambda w: w[0], lambda w: np.ones(1), 2, 1.0, 0.0) for _ in range(2)]
    assert custom[0] != custom[1]  # functions cannot be compared
    assert custom[0] == custom[0]


def test_parts_are_compared_by_what_they_are_made_of_and_not_by_how_it_is_shown():
    one, other = (eq.models.garnet(5, 3, 3, 3, seed=seed) for seed in (1, 2))
    assert repr(one) == repr(other)
    same = eq.Model.unpack(*one.pack())
    assert eq.confidence.Known(one) == eq.confidence.Known(same)
    assert hash(eq.confidence.Known(one)) == hash(eq.confidence.Known(same))
    assert eq.confidence.Known(one) != eq.confidence.Known(other)


def test_data_of_another_type_is_other_data():
    class Speed(Component):
        def __init__(self, limit):
            self.limit = limit

    values = [1, 1.0, True, "1", None, [1], [1, 1], [1.0], {"a": 1}, {"a": 2}, 0.0, -0.0, float("nan")]
    for i, one in enumerate(values):
        assert [j for j, other in enumerate(values) if Speed(one) == Speed(other)] == [i]
    assert Speed(np.array([1, 2])) == Speed([1, 2])
    assert Speed(1) != 1


def test_a_description_that_is_none_is_refused_by_its_place():
    for wrong in (None, 5, [["kind", "Box"]], [1]):
        with pytest.raises(StudyError, match=r"oracle: got .*; a name or a table is needed"):
            from_spec(wrong, eq.oracles.Oracle, "oracle", READER)


def test_a_name_that_is_not_known_is_refused_with_the_nearest():
    with pytest.raises(
        StudyError, match=r"^rule\.kind: got 'Adaptve' \(did you mean 'Adaptive'\?\); one of .*Bernstein"
    ):
        from_spec({"kind": "Adaptve"}, eq.confidence.Confidence, "rule", READER)
    with pytest.raises(StudyError, match=r"^rule\.kind: got 3; one of .*Bernstein"):
        from_spec({"kind": 3}, eq.confidence.Confidence, "rule", READER)


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

    with pytest.raises(ContractError, match="Inner: what is defined inside a function"):
        kind_of(Inner)


def test_a_class_that_lacks_a_method_is_named():
    class Silent(eq.oracles.Oracle):
        pass

    with pytest.raises(ContractError, match=r"Silent: it lacks .*check.*initial_theta"):
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
            from equipoise.agents import Power
            imported = []
            imported.append(True)

            class Half(eq.agents.Schedule):
                def __init__(self, scale=0.5):
                    self.scale = scale
                def rule(self, unit):
                    from equipoise.agents.schedules import ScheduleRule
                    return ScheduleRule(self.scale * unit)

            def world(arms=2) -> eq.Model:
                return eq.models.bandit(arms)

            class Raising(Half):
                def __init__(self):
                    raise KeyError("no data")

            class Leaving(Half):
                def __init__(self):
                    raise SystemExit(0)

            number = 3
            """
        )
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(_plugins, "_allowed", set())
    yield name
    sys.modules.pop(name, None)


def test_nothing_is_imported_without_leave(module):
    with pytest.raises(StudyError, match=rf"imported only if you allow it: --with {module} .*allow\('{module}'\)"):
        from_spec(f"{module}:Half", eq.agents.Schedule, "threshold", READER)
    assert module not in sys.modules
    allow_local([module])
    assert find_allowed([{"kind": f"{module}:Half"}]) == (module,)
    half = from_spec({"kind": f"{module}:Half", "scale": 0.25}, eq.agents.Schedule, "threshold", READER)
    assert to_spec(half, refuse) == {"kind": f"{module}:Half", "scale": 0.25}
    assert from_spec(f"{module}:world", eq.Model, "world", READER) == eq.models.bandit(2)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("Hall", r"has no 'Hall' \(did you mean 'Half'\?\)"),
        ("number", "is of type int; a class derived from Schedule is needed"),
        ("world", "is another function; a class derived from Schedule is needed"),
        ("Raising", "raised KeyError: 'no data'"),
        ("Leaving", "raised SystemExit: 0"),
        ("eq", "is of type module; a class derived from Schedule is needed"),
        ("eq.agents.Power", "one name after the colon"),
        ("Half.rule", "one name after the colon"),
        ("Power", r"is defined in equipoise.agents.schedules; a class derived from Schedule that .* defines is needed"),
    ],
)
def test_what_is_wrong_with_a_part_of_somebodys(module, kind, message):
    allow_local([module])
    with pytest.raises(StudyError, match=f"^threshold.*{message}"):
        from_spec(f"{module}:{kind}", eq.agents.Schedule, "threshold", READER)


def test_a_function_is_named_with_its_module(module):
    with pytest.raises(StudyError, match=r"^section: got .world.; .package\.module:name. is needed$"):
        load_function("world", "section", StudyError)
    with pytest.raises(StudyError, match=r"^section: .* is imported only if you allow it"):
        load_function(f"{module}:world", "section", StudyError)
    assert module not in sys.modules
    allow_local([module])
    assert load_function(f"{module}:world", "section", StudyError)(3) == eq.models.bandit(3)
    for name, found in (("Half", "a class of another kind"), ("number", "of type int")):
        with pytest.raises(StudyError, match=f"^section: {module}:{name} is {found}; a function is needed$"):
            load_function(f"{module}:{name}", "section", StudyError)


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
            allow_local([name])
        assert find_allowed({"kind": f"{name}:Half"}) == ()


def test_a_part_without_annotations_can_hold_parts(module):
    eq.allow(__name__)
    holder = Holder(eq.confidence.Scaled(eq.confidence.Adaptive(), 0.5))
    data = json.loads(json.dumps(to_spec(holder, refuse)))
    assert from_spec(data, Component, "holder", READER) == holder
