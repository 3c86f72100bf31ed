"""The page of a run: true figures, one file without an address, inert texts, a browser's view."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from statistics import fmean

import html5lib
import pytest
from made_runs import ATTACKS, made_run, photos, rows

from photocraft_local.errors import EvaluationError
from photocraft_local.evaluation.questions import EvalQuestion, Reply
from photocraft_local.evaluation.reports.failures import worst
from photocraft_local.evaluation.reports.figures import by_turns, cost, figures, tool_calls
from photocraft_local.evaluation.reports.page import page, percent
from photocraft_local.evaluation.reports.report import report, write_html
from photocraft_local.evaluation.reports.thumbnails import Thumbnails
from photocraft_local.evaluation.results import RunFolder, row_of

HTML = "{http://www.w3.org/1999/xhtml}"
SVG = "{http://www.w3.org/2000/svg}"


def parsed(text: str):
    """By the standard's parser; a single mistake of ours raises."""
    return html5lib.HTMLParser(strict=True).parse(text)


def test_figures_are_those_of_the_rows() -> None:
    made = rows(60)
    told = figures(made)
    assert told["all"]["num"] == 60
    assert told["all"]["em"][0] == pytest.approx(fmean(row.em for row in made), abs=1e-4)
    assert told["all"]["f1"][1] <= told["all"]["f1"][0] <= told["all"]["f1"][2]
    for kind, part in told["by_kind"].items():
        mine = [row for row in made if row.kind == kind]
        assert part["num"] == len(mine)
        assert part["f1"][0] == pytest.approx(fmean(row.f1 for row in mine), abs=1e-4)
    assert list(told["by_hops"]) == ["1", "2", "3"]
    assert told["by_group"]["vision"]["num"] == 60
    assert told["by_group"]["metadata"]["num"] == 15
    assert told["by_gold"]["no photo"]["num"] == sum(not row.gold for row in made)
    assert sum(told["status"].values()) == 60
    assert told["text"]["num"] == 9
    json.dumps(told, allow_nan=False)


def test_a_set_that_is_not_known_is_in_no_figure_of_sets(tmp_path: Path) -> None:
    """Neither right nor wrong as a set: it counts in words, and nothing passes for an empty set."""
    words = [
        EvalQuestion(f"w{at}", "user", "when?", frozenset(), gold_text="2021", has_gold=False)
        for at in range(3)
    ]
    none = EvalQuestion("none", "user", "which?", frozenset())
    said = ["in 2021", "2022", ""]
    made = [row_of(one, Reply(text=text)) for one, text in zip(words, said, strict=True)]
    assert [row.right for row in made] == [1, 0, 0]
    told = figures([*made, row_of(none, Reply(("a",)))])
    assert told["all"]["num"] == 1
    assert told["all"]["em"][0] == 0
    assert list(told["by_gold"]) == ["no photo"]
    assert told["by_gold"]["no photo"]["num"] == 1
    assert (told["text"]["num"], told["text"]["without_gold"]) == (3, 3)
    assert told["text"]["text_normalised"] == pytest.approx(1 / 3, abs=1e-4)
    alone = figures(made)
    assert alone["all"] == {"num": 0, "em": [None] * 3, "f1": [None] * 3}
    assert alone["by_kind"] == alone["by_gold"] == {}
    assert alone["turns"][-1]["right"] == pytest.approx(1 / 3, abs=1e-4)
    json.dumps(alone, allow_nan=False)
    run = RunFolder.begin(tmp_path / "run", {}, {})
    with run.held():
        for row in made:
            run.add(row)
        run.finish({})
    found = report(tmp_path / "run")
    assert {failure.row.question for failure in found.failures} == {"w1", "w2"}
    assert "no set of photos is known" in found.html()
    assert "Of no question the set of photos is known" in found.html()
    parsed(found.html())


def test_accuracy_against_turns_counts_who_ended_by_themselves() -> None:
    made = rows(60)
    points = by_turns(made)
    for point in points:
        ended = [r for r in made if r.finished_by_itself and r.turns <= point["turn"]]
        assert point["finished"] == pytest.approx(len(ended) / 60, abs=1e-4)
        assert point["right"] == pytest.approx(sum(r.em for r in ended) / 60, abs=1e-4)
    shares = [point["finished"] for point in points]
    assert shares == sorted(shares)
    assert points[0]["accuracy"] is None  # none had ended
    assert shares[-1] < 1


def test_tools_and_cost() -> None:
    made = rows(60)
    tools = tool_calls(made)
    assert {name: one["calls"] for name, one in tools.items()} == {
        name: sum(row.tools[name] for row in made) for name in tools
    }
    assert sum(one["share"] for one in tools.values()) == pytest.approx(1, abs=1e-3)
    spent = cost(made)
    assert spent["cached_share"] == 0.7
    assert spent["new_tokens"] == sum(300 * number for number in range(60))
    assert spent["seconds_per_question"]["max"] == pytest.approx(6.4)
    assert spent["seconds_per_question"]["p90"] == sorted(row.seconds for row in made)[53]


def test_a_plot_holds_the_largest_groups_and_its_texts_lie_inside() -> None:
    """A set of questions may have a group for each of them, by names of any length and script."""
    names = ["\u7167\u7247" * 40, "photos that I took at the beach in Lisbon", *map(str, range(40))]
    made = [
        replace(row, groups=(names[at % 2 if at < 40 else at - 38],))
        for at, row in enumerate(rows(60))
    ]
    told = figures(made)
    assert len(told["by_group"]) == 22
    text = page("x", {}, told, made, [], Thumbnails(None))
    assert "The 12 largest of 22" in text
    (group,) = [
        section for section in parsed(text).iter(f"{HTML}section")
        if section[0].text == "By group"
    ]  # fmt: skip
    labels = [one.text for one in group.iter(f"{SVG}text") if one.get("text-anchor") == "end"]
    assert len(labels) == 24
    assert {label[-3:] for label in labels} == {" EM", " F1"}
    assert max(len(label) + label.count("\u7167") + label.count("\u7247") for label in labels) <= 26
    for plot in parsed(text).iter(f"{SVG}svg"):
        low = int(plot.get("height")) - 4  # room for what hangs below a line of text
        assert all(0 <= float(one.get("y")) <= low for one in plot.iter(f"{SVG}text"))


def test_shares_are_rounded_once() -> None:
    """20 of 37 is 54.05…, which is 54.1 %; of 0.5405 it would be 54.0."""
    made = [replace(row, em=float(at < 20)) for at, row in enumerate(rows(37))]
    assert percent(figures(made)["all"]["em"][0]) == "54.1"


def test_one_row_and_rows_without_anything() -> None:
    for num in (1, 2):
        for row in rows(num, skill=0.0):
            bare = type(row)("q", "u", (), (), "", 0, (), 0.0, 0.0)
            told = figures([row, bare])
            assert told["cost"]["cached_share"] in (None, 0.7)


def test_a_page_is_one_file_with_sound_parts(tmp_path: Path) -> None:
    run = made_run(tmp_path / "run")
    text = report(run.path).html(photos(tmp_path / "data"))
    page = parsed(text)
    assert not list(page.iter(f"{HTML}script"))
    pictures = list(page.iter(f"{HTML}img"))
    assert pictures
    assert all(picture.get("alt") for picture in pictures)
    assert all(picture.get("src").startswith("data:image/jpeg;base64,") for picture in pictures)
    plots = list(page.iter(f"{SVG}svg"))
    assert len(plots) >= 8
    assert all(plot.get("role") == "img" and plot.get("aria-label") for plot in plots)
    assert all(plot.find(f"{SVG}title") is not None for plot in plots)
    assert "nan" not in text.lower().replace("finance", "")
    assert no_address(text)
    headings = " ".join("".join(h.itertext()) for h in page.iter(f"{HTML}h2"))
    for part in ("kind", "turns", "Tool calls", "Tokens and cost", "worst", "in words"):
        assert part in headings


def no_address(text: str) -> bool:
    """Nothing that a browser would fetch or run; an address may stand in a text."""
    page = parsed(text)
    for element in page.iter():
        for name, value in element.attrib.items():
            if name.startswith("on") or name in ("href", "action", "style", "srcset", "data"):
                return False
            if name == "src" and not value.startswith("data:"):
                return False
    styles = "".join("".join(style.itertext()) for style in page.iter(f"{HTML}style"))
    return "url(" not in styles and "@import" not in styles


def test_hostile_texts_are_inert(tmp_path: Path) -> None:
    run = made_run(tmp_path / "run", attack=True, skill=0.2)
    text = report(run.path).html(photos(tmp_path / "data"))
    page = parsed(text)
    kinds = {element.tag.rpartition("}")[2] for element in page.iter() if str(element.tag) != "x"}
    assert not kinds & {"script", "iframe", "object", "embed", "link", "base", "form", "a"}
    assert no_address(text)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202e]", text)
    text.encode("utf-8")
    shown = "".join(page.itertext())
    for attack in ATTACKS[:3]:
        assert attack in shown  # as a text
    assert r"\x1b[2J" in shown


def test_photos_come_from_the_named_folder_only(tmp_path: Path) -> None:
    data = photos(tmp_path / "data")
    (tmp_path / "secret.jpg").write_bytes((data / "images/user0/photo0.jpg").read_bytes())
    (data / "link.jpg").symlink_to(tmp_path / "secret.jpg")
    (data / "broken.jpg").write_bytes(b"no picture")
    thumbnails = Thumbnails(data)
    assert thumbnails.uri("user0", "photo0").startswith("data:image/jpeg;base64,")
    (data / "loop.jpg").symlink_to(data / "loop.jpg")
    for name in ("../secret.jpg", str(tmp_path / "secret.jpg"), "link.jpg", "broken.jpg", "",
                 "loop.jpg", "a\0b", "x" * 5000, "images"):  # fmt: skip
        assert thumbnails.uri("user0", name) == ""
    assert Thumbnails(None).uri("user0", "photo0") == ""
    small = Thumbnails(data, budget=100)
    assert [small.uri("user0", "photo0"), small.uri("user1", "photo1")] == ["", ""]


@pytest.mark.parametrize(
    "place",
    ["photos/{}", "user0/{}", "user0/images/{}", "dataset/user0/{}", "albums/user0/images/{}"],
)
def test_photos_stand_where_the_layouts_have_them(tmp_path: Path, place: str) -> None:
    path = tmp_path / place.format("IMG 1.JPG")
    path.parent.mkdir(parents=True)
    path.write_bytes((photos(tmp_path / "data") / "images/user0/photo0.jpg").read_bytes())
    assert Thumbnails(tmp_path).uri("user0", "IMG 1.JPG").startswith("data:image/jpeg;base64,")
    assert Thumbnails(tmp_path).uri("other", "IMG 2.JPG") == ""


def test_what_a_trace_lacks_is_said(tmp_path: Path) -> None:
    run = made_run(tmp_path / "run", 12, skill=0.0)
    failures = report(run.path).failures
    assert failures[0].row.status == "failed"
    assert [step[0] for step in failures[0].steps] == ["1", "2", "3"]
    (run.path / failures[0].row.trace).write_text("{")
    (run.path / failures[1].row.trace).unlink()
    again = report(run.path).failures
    assert "cannot be read" in again[0].problem
    assert "no trace" in again[1].problem
    assert len(report(run.path, failures=2).failures) == 2
    (run.path / "loop.json").symlink_to(run.path / "loop.json")
    for place in ("../secret.json", "loop.json", "a\0b", "x" * 5000):
        rows = [replace(row, trace=place) for row in run.sorted_rows()]
        assert "no trace" in worst(rows, run.path, 1)[0].problem
    json.dumps(report(run.path).to_json(), allow_nan=False)


def test_a_file_of_someone_else_is_never_written_over(tmp_path: Path) -> None:
    text = report(made_run(tmp_path / "run", 5).path).html()
    mine = tmp_path / "report.html"
    write_html(mine, text)
    write_html(mine, text)
    other = tmp_path / "index.html"
    other.write_text("<html>my page</html>")
    for path in (other, tmp_path / "no/folder.html"):
        with pytest.raises(EvaluationError):
            write_html(path, text)
    assert other.read_text() == "<html>my page</html>"


def test_a_run_without_rows_is_refused(tmp_path: Path) -> None:
    RunFolder.begin(tmp_path / "empty", {}, {})
    with pytest.raises(EvaluationError, match="no result yet"):
        report(tmp_path / "empty")


def test_a_browser_opens_it(tmp_path: Path) -> None:
    """A real one, without a network: it draws the page, runs nothing of it and fetches nothing."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if browser is None:
        pytest.skip("NO BROWSER TESTED: chromium is not installed; the other tests parse the page")
    run = made_run(tmp_path / "run", attack=True)
    page = tmp_path / "report.html"
    write_html(page, report(run.path).html(photos(tmp_path / "data")))
    common = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
              f"--user-data-dir={tmp_path / 'profile'}", "--no-first-run",
              "--proxy-server=127.0.0.1:9", "--virtual-time-budget=2000"]  # fmt: skip
    log = tmp_path / "net.json"
    done = subprocess.run(
        [*common, "--dump-dom", f"--log-net-log={log}", page.as_uri()],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    assert "The worst" in done.stdout
    assert done.stdout.count("<svg") >= 8
    assert "<script" not in done.stdout
    assert "evil.example" not in log.read_text()
