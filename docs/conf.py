"""How Sphinx builds the documentation: pages in Markdown (MyST), the API reference from the docstrings.

Nothing is fetched, neither when it is built nor when it is read: the theme brings its own fonts and scripts, and
formulas are drawn.
"""

from __future__ import annotations

import sys
from pathlib import Path

from numpydoc.xref import DEFAULT_LINKS

import equipoise

sys.path.insert(0, str(Path(__file__).parent.parent))

from docs._sphinx.rooms import public_objects, short_classes

project = "Equipoise"
author = "The Equipoise authors"
version = release = equipoise.__version__
language = "en"

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "docs._sphinx.clauses",
    "docs._sphinx.command_pages",
    "docs._sphinx.executed_pages",
    "docs._sphinx.formulas",
    "docs._sphinx.module_heads",
    "docs._sphinx.named_folds",
    "docs._sphinx.public_names",
    "docs._sphinx.signatures",
]
exclude_patterns = ["_build", "_sphinx"]
templates_path = ["_templates"]

# Warnings are errors (see the Makefile), and every reference that leads nowhere is a warning.
nitpicky = True

myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist", "dollarmath", "fieldlist"]
myst_heading_anchors = 4

autosummary_generate = True
autosummary_ignore_module_all = False
autodoc_typehints = "none"  # the types are in the sections on parameters
autodoc_member_order = "bysource"
toc_object_entries_show_parents = "hide"
default_role = "name"
smartquotes_action = "qe"  # quotes and ellipses; two hyphens begin an option of a command and stay what they are
numpydoc_show_class_members = False
numpydoc_xref_param_type = True
numpydoc_xref_ignore = "all"
numpydoc_xref_aliases = {word: word for word in DEFAULT_LINKS} | short_classes()  # Python's own are left as they are
autodoc_mock_imports = ["stable_baselines3", "torch"]  # the extra `deep`, which the documentation can do without
# Files whose names differ in their case alone are one file on some systems.
autosummary_filename_map = {
    name: f"{name}-class" for name in public_objects() if name.lower() in public_objects() and name != name.lower()
}

html_theme = "pydata_sphinx_theme"
html_title = "Equipoise"
html_static_path = ["_static"]
html_css_files = ["equipoise.css"]
html_math_renderer = "drawn"
html_context = {"default_mode": "auto"}
html_favicon = "_static/favicon.svg"
html_show_sourcelink = False
html_copy_source = False
html_sidebars: dict[str, list[str]] = {"index": []}
html_theme_options = {
    "logo": {"text": "Equipoise"},
    "header_links_before_dropdown": 7,
    "navbar_align": "left",
    "navbar_end": ["version-switcher", "theme-switcher"],
    "switcher": {"json_url": "_static/versions.json", "version_match": version},
    "check_switcher": False,
    "show_prev_next": True,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": ["release"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
copybutton_exclude = ".linenos, .gp, .go"
