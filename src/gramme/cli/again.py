"""The command that does the same again, for the page of a fit or of a benchmark."""

from __future__ import annotations

import shlex

import typer

OPTIONS_WITHOUT_EFFECT = ("overwrite", "quiet", "as_json", "force", "jobs", "backend")
"""Options that do not change the result: they say what is printed or replaced, and where the work is done."""


def command_line(context: typer.Context) -> str:
    """The command that was given, for anyone who wants to repeat it."""
    words, arguments = ["gramme", context.info_name or "fit"], []
    for parameter in context.command.params:
        name = parameter.name or ""
        source = context.get_parameter_source(name)
        if source is None or source.name != "COMMANDLINE" or name in OPTIONS_WITHOUT_EFFECT:
            continue
        value = context.params[name]
        if parameter.param_type_name == "argument":
            arguments += [
                str(one) for one in (value if isinstance(value, list | tuple) else [value])
            ]
        elif isinstance(value, bool):
            words.append((parameter.opts if value else parameter.secondary_opts or [""])[0])
        else:
            for one in value if isinstance(value, (list, tuple)) else [value]:
                words += [parameter.opts[0], str(one)]
    if any(one.startswith("-") for one in arguments):  # a name, not an option
        return shlex.join([*words, "--", *arguments])
    return shlex.join([*words[:2], *arguments, *words[2:]])
