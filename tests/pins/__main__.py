"""Write the digests of all pinned runs, and the golden files; `--files` writes the files alone."""

import json
import sys
from pathlib import Path

import equipoise as eq
from tests.pins.cases import cases, saved, through_a_file

HERE = Path(__file__).parent
GOLDEN = HERE / "saved"

if "--files" not in sys.argv:
    (HERE / "digests.json").write_text(json.dumps({name: run() for name, run in cases().items()}, indent=1) + "\n")
expected = {}
for old in GOLDEN.glob("*.npz"):
    old.unlink()
for number, (name, make) in enumerate(saved().items()):
    model, agent = make()
    file = f"agent-{number:02}.npz"
    eq.simulate(model, agent, 100, 3, progress=False)
    agent.save(GOLDEN / file)
    expected[file] = {"name": name, "digest": through_a_file(GOLDEN / file, model)}
(GOLDEN / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")
print(f"{HERE}: written")
