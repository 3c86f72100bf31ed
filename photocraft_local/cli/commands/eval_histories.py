"""``photocraft eval histories``: a made-up life, and how many of its questions get their photos."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from photocraft_local.cli import evaluation, exit_codes
from photocraft_local.cli.commands.index import stages
from photocraft_local.cli.console import Console

if TYPE_CHECKING:
    from photocraft_local.app.histories import Indexed
    from photocraft_local.evaluation.histories.dials import Dials
    from photocraft_local.evaluation.histories.history import History
    from photocraft_local.records import Json

_DEFAULT_AGENTS = "backbone,oracle,random,empty"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("out", metavar="OUT", type=Path, help="the history's folder; resumes it")
    parser.add_argument(
        "--photos",
        metavar="FOLDER",
        type=Path,
        required=True,
        help="labelled photos: captions.csv with file, labels, labels_complete",
    )
    parser.add_argument("--size", metavar="N", type=int, help="photos, 200 to 20000 (2000)")
    parser.add_argument("--questions", metavar="N", type=int, help="how many (300)")
    parser.add_argument("--seed", metavar="N", type=int, help="another one is another life (1)")
    parser.add_argument("--hops", metavar="N", type=int, help="the most links of a question (5)")
    parser.add_argument(
        "--missing", metavar="SHARE", type=float, help="of files without time or position (0.1)"
    )
    parser.add_argument(
        "--wrong", metavar="SHARE", type=float, help="of files that state a wrong one (0.02)"
    )
    parser.add_argument(
        "--lookalikes", metavar="SHARE", type=float, help="of sights beside a photo like them (0.3)"
    )
    parser.add_argument(
        "--unanswerable", metavar="SHARE", type=float, help="of questions without a photo (0.15)"
    )
    parser.add_argument(
        "--agents",
        metavar="A,B",
        default=_DEFAULT_AGENTS,
        help=f"of backbone, true-eyes, oracle, random, empty (default: {_DEFAULT_AGENTS})",
    )
    parser.add_argument(
        "--strict", action="store_true", help="stop at the first fault of the labelled photos"
    )
    parser.add_argument("--make-only", action="store_true", help="write the history, ask nothing")
    evaluation.add_asking_options(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    from photocraft_local.app import histories
    from photocraft_local.evaluation.histories.history import compose
    from photocraft_local.evaluation.histories.scores import table
    from photocraft_local.evaluation.histories.sources import read_sources

    agents = histories.checked_agents(args.agents.split(","))
    settings = evaluation.settings_of(args)
    sources = read_sources(args.photos.absolute(), strict=args.strict)
    evaluation.show_faults(sources.problems, console, "--json")
    history, out = compose(sources, _dials(args)), args.out.absolute()
    if args.make_only:
        return _made(history, out, args, console)
    with stages(console) as progress:
        true_eyes = bool({"oracle", "true-eyes"} & set(agents))
        made = histories.indexed(history, out, settings, true_eyes=true_eyes, progress=progress)
    evaluation.note_rules(settings, console)
    told = {agent: _asked(made, agent, args, console) for agent in agents}
    if args.json:
        console.json({**_head(history, out), "agents": told})
        return exit_codes.OK
    for line in table(told):
        console.line(line)
    console.note(f"card: {out / 'card.md'}; runs: {out / 'runs'}")
    report, photos = shlex.quote(str(out / "runs" / agents[0])), shlex.quote(str(out))
    console.note(f"next: photocraft eval report {report} --photos {photos}")
    return exit_codes.OK


def _made(history: History, out: Path, args: argparse.Namespace, console: Console) -> int:
    history.write(out)
    console.note(f"history: {out}")
    if args.json:
        console.json(_head(history, out))
    return exit_codes.OK


def _head(history: History, out: Path) -> dict[str, Json]:
    """What ``--json`` tells of the history itself."""
    return {
        "out": str(out),
        "fingerprint": history.fingerprint(),
        "dials": history.dials.to_json(),
        "counts": history.counts(),
        "problems": history.sources.problems.to_json(),
    }


def _asked(
    made: Indexed, agent: str, args: argparse.Namespace, console: Console
) -> dict[str, Json]:
    """The scores of one agent."""
    from photocraft_local.app import histories
    from photocraft_local.app.benchmarking import Options
    from photocraft_local.evaluation.histories.scores import scores

    console.note(f"asking: {agent}")
    heard = evaluation.listeners(console, made.dataset(), made.folder)
    console.after_ctrl_c = "the same command goes on where it stopped"
    _, rows = histories.run(
        made,
        agent,
        made.folder / "runs" / agent,
        concurrency=args.concurrency,
        on_row=heard.on_row,
        options=Options(on_doubt="abstain", retry_failed=args.retry_failed),
    )
    return scores(rows)


def _dials(args: argparse.Namespace) -> Dials:
    from photocraft_local.evaluation.histories.dials import Dials

    given = {name: getattr(args, name) for name in Dials.names()}
    return Dials(**{name: value for name, value in given.items() if value is not None})
