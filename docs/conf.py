"""How Sphinx builds the documentation; `make docs` calls it."""

import re
import sys
from pathlib import Path

import typer
from pygments.lexers import TextLexer
from sphinx.application import Sphinx
from typer.cli import get_docs_for_click

import gramme
import gramme.cli.app

sys.path.insert(0, str(Path(__file__).parent))  # for the extensions beside this file

project = "gramme"
author = "the gramme developers"
copyright = "the gramme developers"
version = release = gramme.__version__

extensions = [
    "myst_nb",  # pages in Markdown, and the notebooks of stories/, which are run
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",  # numpy docstrings; part of Sphinx, and it needs no stub files
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "mathml",  # these two stand beside this file
    "references",
]
source_suffix = {".md": "myst-nb", ".ipynb": "myst-nb"}
nb_execution_mode = "cache"  # a notebook that has not changed is not run again
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_execution_timeout = 600
nb_execution_show_tb = True
nb_output_stderr = "remove"  # what libraries say of the machine they run on
exclude_patterns = ["_build"]
smartquotes = False  # --out stays --out

html_theme = "furo"
html_title = f"gramme {version}"
html_static_path = ["_static"]
html_css_files = ["gramme.css"]
html_show_sphinx = False
html_math_renderer = "mathml"  # formulas without a script from elsewhere
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0b5d8a", "color-brand-content": "#0b5d8a"},
    "dark_css_variables": {"color-brand-primary": "#7cc4ec", "color-brand-content": "#7cc4ec"},
}

myst_enable_extensions = ["dollarmath", "deflist", "colon_fence"]
myst_heading_anchors = 3
# One cell that is copied, without the prompts and without what is printed.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

autodoc_typehints = "none"  # the docstrings say it in words
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_custom_sections = [("Attributes", "params_style")]  # in a list, and with their last underscore

# Every reference to gramme must lead somewhere. Types in docstrings are words ("array of int"), not names.
nitpicky = True
nitpick_ignore_regex = [(r"py:class", r"(?!gramme\b).*")]


def add_commands(app: Sphinx, docname: str, source: list[str]) -> None:
    """Append to the page of the command line what every command says of itself."""
    if docname != "reference/commands":
        return
    group = typer.main.get_command(gramme.cli.app.app)
    context = typer.Context(group)
    for name, command in group.commands.items():
        text = get_docs_for_click(obj=command, ctx=context, name=name, call_prefix="gramme")
        source[0] += "\n" + re.sub(r"^#", "##", text, flags=re.MULTILINE)


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("source-read", add_commands)
    app.add_lexer("csv", TextLexer)  # a name that GitHub knows and Pygments does not
