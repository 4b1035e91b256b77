"""What `equipoise doctor` looks at, one file a matter; each is a function that returns findings."""

from equipoise.cli.health.drawing import drawing
from equipoise.cli.health.finding import Finding
from equipoise.cli.health.kernels import kernels
from equipoise.cli.health.libraries import libraries
from equipoise.cli.health.machine import machine
from equipoise.cli.health.solvers import solvers

__all__ = ["Finding", "drawing", "kernels", "libraries", "machine", "solvers"]
