"""Write the digests of all pinned runs."""

import json
from pathlib import Path

from tests.pins.cases import cases

path = Path(__file__).parent / "digests.json"
path.write_text(json.dumps({name: run() for name, run in cases().items()}, indent=1) + "\n")
print(f"{path}: written")
