r"""A table as LaTeX: a ``tabular`` with the rules of booktabs, to be put into a float with a caption of its own.

Characters that LaTeX takes for commands are escaped, and the mathematical ones that occur in a report are written as
commands, so that any engine takes the file. Other letters stay as they are, in UTF-8: for names in Chinese, say,
use XeLaTeX or LuaLaTeX with a font that has them.
"""

from __future__ import annotations

import re
from typing import Final

from equipoise.reports.writing.inline import Code, Content, Strong, pieces, plain
from equipoise.reports.writing.section import Table

_ALIGNED: Final = {"text": "l", "long": "l", "number": "r"}
_SPECIAL: Final = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\ensuremath{<}",
    ">": r"\ensuremath{>}",
    "|": r"\ensuremath{|}",
    '"': r"\textquotedbl{}",
    "−": r"\ensuremath{-}",
    "±": r"\ensuremath{\pm}",
    "×": r"\ensuremath{\times}",
    "≤": r"\ensuremath{\le}",
    "≥": r"\ensuremath{\ge}",
    "∞": r"\ensuremath{\infty}",
    "√": r"\ensuremath{\surd}",
    "‖": r"\ensuremath{\|}",
    "—": "---",
    "–": "--",
    "\xa0": "~",
    "α": r"\ensuremath{\alpha}",
    "β": r"\ensuremath{\beta}",
    "γ": r"\ensuremath{\gamma}",
    "δ": r"\ensuremath{\delta}",
    "ε": r"\ensuremath{\varepsilon}",
    "η": r"\ensuremath{\eta}",
    "θ": r"\ensuremath{\theta}",
    "κ": r"\ensuremath{\kappa}",
    "λ": r"\ensuremath{\lambda}",
    "μ": r"\ensuremath{\mu}",
    "Γ": r"\ensuremath{\Gamma}",
    "Ψ": r"\ensuremath{\Psi}",
}
_SUPERSCRIPTS: Final = "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"
_RAISED: Final = str.maketrans(_SUPERSCRIPTS, "-0123456789")


def latex_table(table: Table) -> str:
    r"""The table as a ``tabular``; it needs ``\usepackage{booktabs}``.

    Parameters
    ----------
    table : Table
        Its cells are escaped.

    >>> from equipoise.reports.writing.section import Column
    >>> columns = (Column("agent"), Column("regret", "number"))
    >>> print(latex_table(Table("final", "Final regret", columns, (("A_1", "1.5 × 10⁻⁵"),))), end="")
    % Final regret; needs \usepackage{booktabs}
    \begin{tabular}{lr}
    \toprule
    agent & regret \\
    \midrule
    A\_1 & 1.5 \ensuremath{\times} 10\textsuperscript{-5} \\
    \bottomrule
    \end{tabular}
    """
    aligned = "".join(_ALIGNED[column.kind] for column in table.columns)
    head = " & ".join(latex_text(column.heading) for column in table.columns)
    rows = [
        " & ".join(_cell(cell, bold=index == table.best) for cell in row) + r" \\"
        for index, row in enumerate(table.rows)
    ]
    return "\n".join(
        [
            f"% {plain(table.label)}; needs \\usepackage{{booktabs}}",
            f"\\begin{{tabular}}{{{aligned}}}",
            r"\toprule",
            f"{head} \\\\",
            r"\midrule",
            *rows,
            r"\bottomrule",
            r"\end{tabular}",
            "",
        ]
    )


def latex_text(text: str) -> str:
    r"""Plain text on one line, escaped.

    >>> print(latex_text("50 % of A_1 & B, 10⁻³"))
    50 \% of A\_1 \& B, 10\textsuperscript{-3}
    """
    one_line = re.sub(r"[^\S\xa0]+", " ", text).strip()
    escaped = "".join(_SPECIAL.get(character, character) for character in one_line)
    return re.sub(f"[{_SUPERSCRIPTS}]+", lambda raised: f"\\textsuperscript{{{raised[0].translate(_RAISED)}}}", escaped)


def _cell(content: Content, bold: bool) -> str:
    row = pieces(content)
    text = latex_text(plain(content))
    if len(row) == 1 and isinstance(row[0], Code):
        text = f"\\texttt{{{text}}}"
    if (bold or (len(row) == 1 and isinstance(row[0], Strong))) and text:
        text = f"\\textbf{{{text}}}"
    return f"{{}}{text}" if text.startswith("[") else text  # after \\ a bracket would be an argument
