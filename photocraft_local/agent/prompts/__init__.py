"""Prompts as files: ``render("system", …)`` fills ``{{ name }}`` places of system.md, strictly.

A variable that is missing, or given but unused, is an error. Values go in as they are and are
never rendered again; whoever passes text of a person or a photo passes it as JSON.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

from photocraft_local.errors import AgentError

_PLACE = re.compile(r"\{\{ *([a-z_]+) *\}\}")


@cache
def _template(name: str) -> str:
    source = files(__package__).joinpath(f"{name}.md")
    if not source.is_file():
        raise AgentError(f"there is no prompt file {name}.md", hint="reinstall photocraft-local")
    return source.read_text("utf-8").strip()


def render(name: str, **variables: str | int) -> str:
    """The text of prompt file ``name`` with its variables filled in."""
    template = _template(name)
    wanted = set(_PLACE.findall(template))
    if wanted != set(variables):
        missing, unused = sorted(wanted - set(variables)), sorted(set(variables) - wanted)
        raise AgentError(f"prompt {name}.md: missing variables {missing}, unused {unused}")
    return _PLACE.sub(lambda place: str(variables[place.group(1)]), template)
