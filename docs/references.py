"""A Sphinx extension: references find an object by any of its names, and what is inherited from others is left out.

``gramme.load``, ``gramme.methods.load`` and ``gramme.methods.registry.load`` are one function, documented once. Sphinx
knows only the name it is documented by; this asks Python whether two names mean the same.
"""

import pydoc
import re
from typing import Any

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

# scikit-learn's own, which every estimator has and its documentation explains
INHERITED = re.compile(r"set_\w+_request|get_metadata_routing|[gs]et_params")


def documented_name(env: BuildEnvironment, node: pending_xref) -> str | None:
    """The name under which the object that a reference means is documented, if it is."""
    target = node["reftarget"]
    leaf = target.rpartition(".")[2]
    candidates = [name for name in env.domains["py"].objects if name.rpartition(".")[2] == leaf]
    homes = ("", node.get("py:module"), "gramme", "gramme.graph", "gramme.evaluation")
    for home in homes:
        meant = pydoc.locate(f"{home}.{target}" if home else target)
        if meant is None:
            continue
        for name in candidates:
            if pydoc.locate(name) is meant:
                return name
    return None


def resolve(app: Sphinx, env: BuildEnvironment, node: pending_xref, content: Any) -> nodes.Node | None:
    """Called for a reference that Sphinx could not resolve by itself."""
    if node.get("refdomain") != "py":
        return None
    name = documented_name(env, node)
    if name is None:
        return None
    return env.domains["py"].resolve_xref(env, node["refdoc"], app.builder, node["reftype"], name, node, content)


def skip(app: Sphinx, what: str, name: str, member: Any, skipped: bool, options: Any) -> bool | None:
    """Whether to leave a member out; None leaves it to Sphinx."""
    return True if INHERITED.fullmatch(name) else None


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.connect("missing-reference", resolve)
    app.connect("autodoc-skip-member", skip)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
