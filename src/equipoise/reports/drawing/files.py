"""A specification of Vega-Lite as the content of a file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import vl_convert

_PIXELS_PER_INCH: Final = 216  # of a PNG, where a pixel of the figure is 1/72 inch: three for one


def _svg(spec: dict[str, Any]) -> bytes:
    drawn: str = vl_convert.vegalite_to_svg(spec)
    return drawn.encode()


def _png(spec: dict[str, Any]) -> bytes:
    drawn: bytes = vl_convert.vegalite_to_png(spec, ppi=_PIXELS_PER_INCH)
    return drawn


def _pdf(spec: dict[str, Any]) -> bytes:
    drawn: bytes = vl_convert.vegalite_to_pdf(spec)
    return drawn


FORMATS: Final[dict[str, Callable[[dict[str, Any]], bytes]]] = {"svg": _svg, "png": _png, "pdf": _pdf}
