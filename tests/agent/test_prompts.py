"""Prompt files: strict rendering, nothing rendered twice, all of them shipped."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

from photocraft_local.agent.prompts import render
from photocraft_local.errors import AgentError


def test_every_prompt_file_renders_with_its_own_variables() -> None:
    names = [item.name for item in files("photocraft_local.agent.prompts").iterdir()]
    prompts = [name.removesuffix(".md") for name in names if name.endswith(".md")]
    assert "system" in prompts
    for name in prompts:
        text = files("photocraft_local.agent.prompts").joinpath(f"{name}.md").read_text("utf-8")
        variables = set(re.findall(r"\{\{ *(\w+) *\}\}", text))
        rendered = render(name, **dict.fromkeys(variables, "VALUE"))
        assert "{{" not in rendered
        assert ("VALUE" in rendered) is bool(variables)


def test_a_missing_variable_is_an_error() -> None:
    with pytest.raises(AgentError, match=r"missing variables \['question'\]"):
        render("question", today="2024-01-01")


def test_an_unused_variable_is_an_error() -> None:
    with pytest.raises(AgentError, match=r"unused \['answer'\]"):
        render("question", today="2024-01-01", question="q", answer="a")


def test_a_prompt_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(AgentError, match="no prompt file"):
        render("nothing")


def test_values_are_not_rendered_again() -> None:
    text = render("question", today="{{ question }}", question="{{ today }}")
    assert "Today is {{ question }}." in text
