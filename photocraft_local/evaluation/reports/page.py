"""Figures and failures → one HTML file: no script, no font, no address outside of itself.

A policy in its head forbids a browser to fetch anything. Every text of the data set, the model
and the run's configuration passes ``markup``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

from photocraft_local.evaluation.reports import charts
from photocraft_local.evaluation.reports.failures import Failure
from photocraft_local.evaluation.reports.markup import Markup, joined, tag
from photocraft_local.evaluation.reports.thumbnails import SIDE, Thumbnails
from photocraft_local.evaluation.results import ResultRow
from photocraft_local.records import Json

GENERATOR = "photocraft eval report"
_MOST_PHOTOS = 12  # of one failure and kind
_MOST_PARTS = 12  # of a plot and its table: a set may have a group for each few questions
_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
_STYLE = """
body{font:15px/1.45 sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1a202c}
table{border-collapse:collapse;margin:.5rem 0}
th,td{padding:.2rem .7rem;border-bottom:1px solid #ddd;text-align:left;vertical-align:top}
td{white-space:pre-wrap}.texts td{overflow-wrap:anywhere}.texts td+td{min-width:9em}
.wide,figure{overflow-x:auto}
figure{margin:1rem 0}figcaption{font-weight:bold}svg{max-width:100%;min-width:34rem;height:auto}
article{border-top:2px solid #2b6cb0;margin-top:1.5rem}
.photos figure{overflow:visible;display:inline-block;width:110px;margin:.2rem}
.photos figure{vertical-align:top;font-size:11px}
.photos figcaption{font-weight:normal;overflow-wrap:anywhere}
"""
_SECTIONS = {
    "by_kind": "By kind",
    "by_hops": "By number of hops",
    "by_group": "By group",
    "by_gold": "With and without a right photo",
}


def page(
    title: str,
    head: Mapping[str, Json],
    figures: Mapping[str, Json],
    cost_of: Sequence[ResultRow],
    failures: Sequence[Failure],
    thumbnails: Thumbnails,
) -> str:
    """The whole file. ``head`` is the run's ``run.json``."""
    body = joined(
        tag("h1", title),
        _overall(figures),
        *[_scores(name, figures[key]) for key, name in _SECTIONS.items() if figures[key]],
        _text(figures["text"]),
        _turns(figures["turns"]),
        _tools(figures["tools"]),
        _cost(figures["cost"], cost_of),
        _counts("How the questions ended", "status", figures["status"]),
        _counts("Classes of failure", "class", figures["failure_classes"]),
        _failures(failures, thumbnails),
        _run(head),
    )
    meta = joined(
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        tag("meta", name="generator", content=GENERATOR),
        tag("meta", name="viewport", content="width=device-width"),
        tag("title", title),
        tag("style", Markup(_STYLE)),
    )
    return "<!DOCTYPE html>\n" + tag("html", tag("head", meta), tag("body", body), lang="en") + "\n"


def percent(share: Any) -> str:
    return "-" if share is None or share != share else f"{100 * share:.1f}"


def _overall(figures: Mapping[str, Any]) -> Markup:
    found = figures["all"]
    words = " · ".join(f"{name.upper()} {_with_interval(found[name])}" for name in ("em", "f1"))
    note = (
        "In %. In brackets: where the mean of such questions lies with 95 % probability"
        f" ({figures['unit']['note']}). EM: exactly the right photos; F1: of the sets."
    )
    if not found["num"]:
        return tag("p", "Of no question the set of photos is known: see the answers in words.")
    return joined(tag("p", tag("strong", f"{found['num']} questions · {words}")), tag("p", note))


def _scores(name: str, all_parts: Mapping[str, Any]) -> Markup:
    largest = sorted(all_parts, key=lambda label: -all_parts[label]["num"])[:_MOST_PARTS]
    parts = {label: part for label, part in all_parts.items() if label in largest}
    left_out = f"The {len(parts)} largest of {len(all_parts)}; --json has all of them."
    rows = [
        [label, str(part["num"]), *(_with_interval(part[key]) for key in ("em", "f1"))]
        for label, part in parts.items()
    ]
    plot = [
        charts.Bar(
            f"{label} {key.upper()}",
            part[key][0],
            percent(part[key][0]),
            low=part[key][1],
            high=part[key][2],
            colour=charts.COLOURS[at],
        )
        for label, part in parts.items()
        for at, key in enumerate(("em", "f1"))
    ]
    return tag(
        "section",
        tag("h2", name),
        charts.bars(f"EM and F1, {name.lower()} (%)", plot),
        _table([name.removeprefix("By ").capitalize(), "n", "EM", "F1"], rows),
        tag("p", left_out) if len(parts) < len(all_parts) else Markup(),
    )


def _with_interval(values: Sequence[float]) -> str:
    mean, low, high = map(percent, values)
    return mean if low == high == "-" else f"{mean} [{low}, {high}]"


def _text(found: Mapping[str, Any]) -> Markup:
    if not found:
        return Markup()
    names = {
        "text_exact": "the same characters",
        "text_normalised": "the same words, numbers and dates",
        "text_contained": "holds them",
    }
    rows = [
        [told, _with_interval([found[key], *found["intervals"][key]])]
        for key, told in names.items()
    ]
    heading = tag("h2", f"Answers in words ({found['num']} questions)")
    alone = found["without_gold"]
    note = f"Of {alone} of them no set of photos is known: they count here alone." if alone else ""
    return tag("section", heading, _table(["Rule", "Right, %"], rows), tag("p", note))


def _turns(points: Sequence[Mapping[str, Any]]) -> Markup:
    if len(points) < 2:
        return Markup()
    series = {
        "finished by itself by turn N": [point["finished"] for point in points],
        "right by turn N": [point["right"] for point in points],
        "right of those finished": [point["accuracy"] for point in points],
    }
    turns = [float(point["turn"]) for point in points]
    plot = charts.lines("Shares of the questions by number of turns", "turn", turns, series)
    return tag("section", tag("h2", "Accuracy against turns"), plot)


def _tools(tools: Mapping[str, Any]) -> Markup:
    if not tools:
        return Markup()
    rows = [
        [name, f"{one['calls']:,}", percent(one["share"]), percent(one["questions"])]
        for name, one in tools.items()
    ]
    plot = charts.bars(
        "Share of all calls (%)",
        [charts.Bar(name, one["share"], percent(one["share"])) for name, one in tools.items()],
    )
    head = ["Tool", "Calls", "Of all calls, %", "Used in % of questions"]
    return tag("section", tag("h2", "Tool calls"), plot, _table(head, rows))


def _cost(cost: Mapping[str, Any], rows: Sequence[ResultRow]) -> Markup:
    names = [name for name in cost if not isinstance(cost[name], dict) and name != "cached_share"]
    told = [[name.replace("_", " "), _number(cost[name])] for name in names]
    shares = [name for name in ("tokens", "seconds", "turns") if cost[f"{name}_per_question"]]
    spread = [
        [name, *(_number(cost[f"{name}_per_question"][key]) for key in _SPREAD)] for name in shares
    ]
    parts = [tag("h2", "Tokens and cost"), _table(["What", "In all"], told)]
    if cost["prompt_tokens"]:
        cached = cost["cached_share"]
        plot = [
            charts.Bar("from the cache", cached, percent(cached), colour=charts.COLOURS[2]),
            charts.Bar("through prefill", 1 - cached, percent(1 - cached)),
        ]
        parts.append(charts.bars("Where the tokens of prompts came from (%)", plot))
    if spread:
        parts.append(_table(["A question", *_SPREAD], spread))
    tokens = [row.prompt_tokens - row.cached_tokens + row.generated_tokens for row in rows]
    if any(tokens):
        values = [float(number) for number in tokens]
        parts.append(charts.histogram("Tokens a question, cached ones apart", "tokens", values))
    if rows:
        seconds = [row.seconds for row in rows]
        parts.append(charts.histogram("Seconds a question", "s", seconds))
    return tag("section", *parts)


_SPREAD = ("mean", "median", "p90", "max")


def _number(value: Any) -> str:
    return "-" if value is None else f"{value:,.0f}" if value == int(value) else f"{value:,}"


def _counts(name: str, what: str, counts: Mapping[str, int]) -> Markup:
    if not counts:
        return Markup()
    rows = [[label, f"{number:,}"] for label, number in counts.items()]
    return tag("section", tag("h2", name), _table([what.capitalize(), "Questions"], rows))


def _failures(failures: Sequence[Failure], thumbnails: Thumbnails) -> Markup:
    if not failures:
        return Markup()
    heading = tag("h2", f"The worst {len(failures)} answers")
    return tag("section", heading, *[_failure(one, thumbnails) for one in failures])


def _failure(failure: Failure, thumbnails: Thumbnails) -> Markup:
    row = failure.row
    facts = {
        "kind": row.kind,
        "library": row.library,
        "status": row.status,
        "error": row.error,
        "class of failure": row.failure_class,
        "F1": percent(row.f1) if row.has_gold else "",
        "turns": str(row.turns),
        "said": row.text,
        "in short": row.value,
        "should say": row.gold_text,
        "reason": row.reason,
    }
    right = set(row.gold) & set(row.predicted)
    sets = {
        "Right": [name for name in row.predicted if name in right],
        "Given": [] if row.has_gold else list(row.predicted),
        "Wrong": [name for name in row.predicted if row.has_gold and name not in right],
        "Missed": [name for name in row.gold if name not in right],
    }
    parts = [
        tag("h3", f"{row.question}: {row.asked or '(no words)'}"),
        _table(["What", "Value"], [list(one) for one in facts.items() if one[1]], "texts"),
        *chain.from_iterable(
            _photos(name, names, row.library, thumbnails) for name, names in sets.items() if names
        ),
    ]
    if failure.steps:
        head = ["Turn", "Thought", "Call", "Result"]
        table = _table(head, failure.steps, "texts")
        parts.append(tag("details", tag("summary", f"{len(failure.steps)} turns"), table))
    else:
        parts.append(tag("p", failure.problem))
    return tag("article", *parts)


def _photos(
    name: str, photos: Sequence[str], library: str, thumbnails: Thumbnails
) -> Iterable[Markup]:
    yield tag("h4", f"{name}: {len(photos)}")
    shown = [_photo(name, photo, thumbnails.uri(library, photo)) for photo in photos[:_MOST_PHOTOS]]
    yield tag("div", *shown, class_="photos")
    if len(photos) > _MOST_PHOTOS:
        yield tag("p", f"and {len(photos) - _MOST_PHOTOS} more")


def _photo(verdict: str, name: str, uri: str) -> Markup:
    if not uri:
        return tag("figure", tag("figcaption", name))
    picture = tag("img", src=uri, alt=f"{verdict}: {name}", width=SIDE)
    return tag("figure", picture, tag("figcaption", name))


def _run(head: Mapping[str, Any]) -> Markup:
    text = json.dumps(head, ensure_ascii=False, indent=1, sort_keys=True)
    return tag("section", tag("h2", "The run"), tag("details", tag("summary", "run.json"),
                                                    tag("pre", text)))  # fmt: skip


def _table(head: Sequence[str], rows: Iterable[Sequence[str]], what: str = "figures") -> Markup:
    """Of ``texts``, which break anywhere, or of ``figures``, which scroll where they are wide."""
    top = tag("tr", *[tag("th", name, scope="col") for name in head])
    lines = [tag("tr", *[tag("td", cell) for cell in row]) for row in rows]
    table = tag("table", tag("thead", top), tag("tbody", *lines), class_=what)
    return tag("div", table, class_="wide")
