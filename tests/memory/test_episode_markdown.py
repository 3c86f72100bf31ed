"""Episodes as Markdown: there and back again, whatever is in them; foreign files are refused."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from photocraft_local.errors import UsageError
from photocraft_local.memory.episode import EpisodeRecord, Intent, PlanStep, Reflection, Verdict
from photocraft_local.memory.markdown import from_markdown, to_markdown

ODD = """(none)|## question|# Episode x|- a|"|{}|yes|no|    in|<script>|```| |[link](http://x)"""
texts = st.text() | st.sampled_from(
    [*ODD.split("|"), "a\n\nb", "a\r\nb", "\x1b[2J", "\u2028", "\n"]
)


def full(question: str, text: str = "two", line: str = "1 find") -> EpisodeRecord:
    return EpisodeRecord(
        episode_id="20240102-101500-ab12cd",
        started="2024-01-02T10:15:00+00:00",
        question=question,
        backbone="planner",
        intent=Intent("a walk", (line, "then"), text),
        plan=(PlanStep(line, "done"), PlanStep(text, "ruled out", "few", line)),
        verdicts=(Verdict(1, text, line, "empty"),),
        reflections=(Reflection(1, "empty result", line),),
        digest=(line, "2 submit_answer"),
        tools=("find", "submit_answer"),
        uids=("p7k3mq", "p7k3mq.c1"),
        text=text,
        accepted=True,
    )


@given(texts, texts, texts)
def test_what_comes_back_is_what_was_written(question: str, text: str, line: str) -> None:
    record = full(question, text, line)
    markdown = to_markdown(record)
    assert from_markdown(markdown, "x.md") == record
    assert from_markdown(markdown.replace("\n", "\r\n"), "x.md") == record
    shown = [letter for letter in markdown if letter != "\n" and not letter.isprintable()]
    assert shown == []


@given(texts)
def test_no_text_gets_out_of_its_block(text: str) -> None:
    plain = to_markdown(full("a", "b", "c"))
    heads = [line for line in plain.split("\n") if line and not line.startswith("    ")]
    hostile = to_markdown(full(text, text, text))
    assert [line for line in hostile.split("\n") if line and line[:4] != "    "] == heads


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("# Episode 2", "# Skill 2", "x.md, line 1: no title"),
        ("# Episode 2", "# Episode ../../2", "x.md, line 1: no title"),
        ("## question", "## wish", "x.md, line 9: the part 'wish' is unknown"),
        ("## backbone", "## question", "x.md, line 13: the part 'question' is there twice"),
        ("    a dog", "a dog", "x.md, line 11: a line of data is indented"),
        ("    yes", "    perhaps", "accepted: 'perhaps' is neither yes nor no"),
        ("    - 1 find", "    1 find", "digest: '1 find' does not begin with '- '"),
        ("    - p7k3mq\n", "    - ../p\n", "x.md: this is no episode: '../p' is no UID"),
        ("    - p7k3mq\n", "    - {}\n", "x.md: this is no episode"),
        ('"outcome": "empty"', '"outcome"', "verdicts: "),
        ('"goal"', '"aim"', "x.md: this is no episode"),
        ('"status": "done"', '"status": "won"', "x.md: this is no episode: 'won' is none of open"),
        ('"trigger": "empty result"', '"trigger": "whim"', "x.md: this is no episode: 'whim'"),
        ('"words": "1 find"', '"words": 1', "x.md: this is no episode: intent, plan"),
        ("    2024-01-02T", "    soon", "x.md: this is no episode"),
        ("## started\n\n    2024-01-02T10:15:00+00:00\n", "", "the part 'started' is not there"),
    ],
)
def test_a_mistake_is_named_with_file_and_line(old: str, new: str, told: str) -> None:
    text = to_markdown(full("a dog"))
    assert old in text
    with pytest.raises(UsageError) as caught:
        from_markdown(text.replace(old, new, 1), "x.md")
    assert told in caught.value.message
    assert caught.value.hint


@given(st.text())
def test_any_other_file_is_refused_or_read_but_never_a_fault(text: str) -> None:
    for whole in (text, to_markdown(full("a"))[:40] + text):
        with pytest.raises(UsageError):
            from_markdown(whole, "x.md")


def test_every_cut_of_a_file_is_refused_or_is_a_whole_episode_with_less() -> None:
    text = to_markdown(full("a dog"))
    for length in range(0, len(text), 7):
        try:
            record = from_markdown(text[:length], "x.md")
        except UsageError:
            continue
        assert record.question == "a dog"
        assert set(record.uids) <= {"p7k3mq", "p7k3mq.c1"} | {"p7k3mq"[:n] for n in range(6)}


def test_a_file_of_an_older_version_is_read() -> None:
    record = full("a dog")
    text = to_markdown(record)
    text = text[: text.index("## reflections")] + text[text.index("## digest") :]
    text = text.replace(', "expect": "", "why": ""', "")
    assert '- {"goal": "1 find", "status": "done"}\n' in text
    assert from_markdown(text, "x.md") == replace(record, reflections=())
