"""``photocraft eval synthesize``: questions about your own photos, proposed for you to review."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from photocraft_local.cli import exit_codes
from photocraft_local.cli.console import Console
from photocraft_local.cli.parser import add_encoder_option, positive, settings_overrides
from photocraft_local.cli.rendering import count_text
from photocraft_local.cli.reviewing import review
from photocraft_local.cli.sheets import write_sheet
from photocraft_local.settings import Settings

if TYPE_CHECKING:
    from photocraft_local.app.parts import Parts
    from photocraft_local.evaluation.synthesis import Proposal
    from photocraft_local.records import Photo

_MOST_ON_A_SHEET = 60


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "out", metavar="FOLDER", type=Path, help="where proposals.jsonl and contact sheets go"
    )
    parser.add_argument(
        "--review",
        action="store_true",
        help="accept or reject, in a terminal one by one; check the file, write the accepted ones",
    )
    parser.add_argument(
        "--count", metavar="N", type=positive, default=40, help="proposals at most (default: 40)"
    )
    parser.add_argument("--hops", metavar="N", type=int, default=3, help="most links (default: 3)")
    parser.add_argument("--seed", metavar="N", type=int, default=1, help="other ones (default: 1)")
    parser.add_argument(
        "--things", metavar="FILE", type=Path, help="what to look for, one thing a line"
    )
    add_encoder_option(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    from photocraft_local.app.parts import Parts

    parts = Parts(Settings.load(**settings_overrides(args, "encoder")))
    try:
        parts.library()
        return _reviewed(parts, args, console) if args.review else _proposed(parts, args, console)
    finally:
        parts.close()


def _proposed(parts: Parts, args: argparse.Namespace, console: Console) -> int:
    from photocraft_local.app.synthesizing import proposed
    from photocraft_local.evaluation import synthesis
    from photocraft_local.evaluation.histories.dials import Dials

    dials = Dials(questions=args.count, hops=args.hops, seed=args.seed, unanswerable=0.1)
    synthesis.check_free(args.out)
    made, dropped = proposed(parts, dials, args.things)
    if not made:
        return _nothing(dropped, args, console)
    args.out.mkdir(parents=True, exist_ok=True, mode=0o700)
    made = [_with_sheet(parts, one, args.out) for one in made]
    path = synthesis.write(args.out, made)
    if args.json:
        console.json({"file": str(path), "proposals": len(made), "not_taken": dropped})
    else:
        console.line(f"{count_text(len(made), 'proposal')} in {path}, a contact sheet each")
        console.line('set "status" of each to "accepted" or "rejected", or edit it, then --review')
        console.line("--review in a terminal asks for each; eval own runs what was accepted")
    return exit_codes.OK


def _nothing(dropped: Mapping[str, int], args: argparse.Namespace, console: Console) -> int:
    """Leaves no file, so that other words or another seed may be tried in the same folder."""
    if args.json:
        console.json({"file": None, "proposals": 0, "not_taken": dict(dropped)})
    else:
        reasons = ", ".join(f"{num} {reason}" for reason, num in dropped.items())
        console.line(f"no question could be proposed; drafts not taken: {reasons or 'none'}")
        console.line("more photos with time and place help, --things FILE, or another --seed")
    return exit_codes.NOTHING_FOUND


def _with_sheet(parts: Parts, one: Proposal, folder: Path) -> Proposal:
    """First the photos of the answer, then what the question leans on."""
    shown = [(uid, "answer") for uid in one.photos]
    shown += [
        (uid, f"leans on, link {number}")
        for number, link in enumerate(one.links, start=1)
        for uid in link
    ]
    if not shown:
        return one
    shown = shown[:_MOST_ON_A_SHEET]
    photos = [parts.library().photo(uid) for uid, _ in shown]
    name = f"{one.id}.png"
    write_sheet(folder / name, photos, [what for _, what in shown], title=one.question)
    return replace(one, sheet=name)


def shown_name(photo: Photo) -> str:
    when = f", {photo.taken.local:%Y-%m-%d %H:%M}" if photo.taken else ""
    return f"{os.fsdecode(photo.paths[0])}{when}" if photo.paths else photo.uid


def _reviewed(parts: Parts, args: argparse.Namespace, console: Console) -> int:
    from photocraft_local.evaluation import synthesis

    known = {photo.uid for photo in parts.library().photos()}
    found = synthesis.reviewed(args.out, known)
    if sys.stdin.isatty() and not args.json:
        console.after_ctrl_c = "what you decided is kept; the same command asks for the rest"
        names = {photo.uid: shown_name(photo) for photo in parts.library().photos()}
        keep = partial(synthesis.rewrite, args.out)
        found = review(found, console, input, keep, names.__getitem__)
    counts = Counter(one.status for one in found)
    path = synthesis.write_accepted(args.out, found, parts.library().path.name)
    if args.json:
        console.json({"file": str(path), **{name: counts[name] for name in synthesis.STATUSES}})
    else:
        told = ", ".join(f"{counts[name]} {name}" for name in synthesis.STATUSES)
        console.line(f"{told}; accepted ones in {path}")
        if counts["accepted"]:
            console.line(f"next: photocraft eval own {shlex.quote(str(args.out))}")
    return exit_codes.OK if counts["accepted"] else exit_codes.NOTHING_FOUND
