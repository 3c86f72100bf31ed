"""The table of an ablation: which variants there are, and rows held against the full system."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from made_runs import made_run

from photocraft_local.errors import UsageError
from photocraft_local.evaluation.ablation import (
    NAMED_SETS,
    SWITCHES,
    Variant,
    ablate,
    table,
    variants,
)
from photocraft_local.evaluation.disbench.presets import PRESETS
from photocraft_local.evaluation.questions import EvalQuestion, Reply
from photocraft_local.evaluation.results import RunFolder, row_of
from photocraft_local.settings import Settings
from photocraft_local.tools.sets import NAME_PATTERN
from photocraft_local.tools.standard import standard_tools

TOOLS = [tool.name for tool in standard_tools()]


def test_every_switch_and_every_tool_has_a_variant() -> None:
    made = variants(TOOLS)
    assert [one.name for one in made[: len(SWITCHES) + 1]] == ["full", *SWITCHES]
    left_out = {one.without[0] for one in made if one.without}
    assert left_out == set(TOOLS) - {"submit_answer"} | {NAMED_SETS}
    assert len({one.name for one in made}) == len(made)
    for one in made:
        Settings(**one.settings)


def test_only_what_is_named_after_the_full_system() -> None:
    made = variants(TOOLS, ["no-tool:zoom_in", "runs-4", "full", "no-skills", "no-skills"])
    assert [one.name for one in made] == ["full", "no-tool:zoom_in", "runs-4", "no-skills"]
    assert made[2].settings == {"runs": 4}


def test_without_named_sets_nothing_writes_or_reads_one() -> None:
    whole, bare = PRESETS["imageseeker"], PRESETS["imageseeker"].lacking([NAMED_SETS])
    fields = {one.name: set(one.parameters["properties"]) for one in bare.tools(True, True)}
    assert fields["ImageSearch"] == {"text", "photos", "top_k"}
    assert fields["FilterMetadata"] == {"expression"}
    assert fields["submit_answer"] == {"photos"}
    assert "save_as" in next(iter(whole.tools(True, True))).parameters["properties"]
    own = {one.name: one.parameters for one in PRESETS["photocraft"].lacking([NAMED_SETS]).tools(
        True, True)}  # fmt: skip
    assert set(own) == set(TOOLS) - {"combine_sets"}
    assert NAME_PATTERN not in json.dumps(own).replace("\\\\", "\\")


@pytest.mark.parametrize(
    "name", ["no-tool:submit_answer", "no-tool:", "runs-", "runs-x", "else", "", "no-tool:../a"]
)
def test_a_name_that_is_none(name: str) -> None:
    with pytest.raises(UsageError, match="there is no variant"):
        variants(TOOLS, [name])


def test_the_table_holds_each_against_the_full_system(tmp_path: Path) -> None:
    skills = {"full": 0.9, "no-skills": 0.9, "no-tool:around": 0.3}

    def run(variant: Variant, folder: Path) -> RunFolder:
        return made_run(folder, 120, skill=skills[variant.name])

    lines = ablate(variants(TOOLS, list(skills)[1:]), tmp_path, run)
    rows = {row["variant"]: row for row in table(lines)}
    assert list(rows) == ["full", "no-skills", "no-tool:around"]
    assert rows["full"]["F1 change"] is None
    assert rows["no-skills"]["F1 change"] == 0
    assert rows["no-skills"]["EM p"] == 1
    assert rows["no-tool:around"]["F1 change"] < -30
    assert rows["no-tool:around"]["F1 p"] < 0.01
    assert rows["no-tool:around"]["F1 change"] == pytest.approx(
        rows["no-tool:around"]["overall F1"] - rows["full"]["overall F1"], abs=0.11
    )
    assert {"intra-event EM", "inter-event F1", "not answered"} <= set(rows["full"])
    assert (tmp_path / "no-tool_around/run.json").is_file()
    json.dumps(table(lines), allow_nan=False)


def test_questions_that_are_judged_by_their_words_alone_are_in_the_table(tmp_path: Path) -> None:
    def run(variant: Variant, folder: Path) -> RunFolder:
        made = RunFolder.begin(folder, {}, {})
        with made.held():
            for at, status in enumerate(("answered", "answered", "answered", "failed")):
                asked = EvalQuestion(str(at), "u", "when?", frozenset(), "", 0, (), "2021", False)
                made.add(row_of(asked, Reply(text="2021" if at < 2 else "", status=status)))
            made.finish({})
        return made

    (row,) = table(ablate(variants(TOOLS, ["full"]), tmp_path, run))
    assert (row["n"], row["overall EM"]) == (0, None)
    assert (row["words"], row["not answered"]) == (50, 1)
