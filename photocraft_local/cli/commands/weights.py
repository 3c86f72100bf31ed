"""``photocraft weights list|verify|manifest``: what can be placed, and whether it is whole."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from photocraft_local.app.weights import (
    Progress,
    Verification,
    WeightsRow,
    rows,
    verify,
    write_manifest,
)
from photocraft_local.cli import exit_codes
from photocraft_local.cli.console import Console
from photocraft_local.cli.parser import settings_overrides
from photocraft_local.cli.rendering import count_text
from photocraft_local.errors import UsageError
from photocraft_local.records import Json, path_text
from photocraft_local.settings import Settings

_EXAMPLE = "photocraft weights verify /models/Qwen3-VL-8B-Instruct"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=("list", "verify", "manifest"))
    parser.add_argument(
        "folder", metavar="FOLDER", nargs="?", type=Path, help="a folder of weights"
    )
    parser.add_argument(
        "--all", action="store_true", help="with verify: every folder that the settings name"
    )


def run(args: argparse.Namespace, console: Console) -> int:
    _check(args)
    if args.action == "list":
        return _list(args.json, console)
    if args.action == "manifest":
        return _manifest(args.folder, args.json, console)
    folders = [args.folder] if args.folder else _placed(Settings.load(**settings_overrides(args)))
    checked = [_verify(folder, args.json, console) for folder in folders]
    return exit_codes.OK if all(one.good for one in checked) else exit_codes.FAULT_FOUND


def _check(args: argparse.Namespace) -> None:
    if args.action == "list" and (args.folder or args.all):
        raise UsageError("weights list stands alone", hint="photocraft weights list")
    if args.action == "manifest" and (args.all or not args.folder):
        hint = "photocraft weights manifest /models/Qwen3-VL-8B-Instruct"
        raise UsageError("weights manifest takes one FOLDER", hint=hint)
    if args.action == "verify" and bool(args.folder) == args.all:
        raise UsageError("weights verify takes one FOLDER, or --all", hint=_EXAMPLE)


def _placed(settings: Settings) -> list[Path]:
    """The folders of weights that the settings name, each once."""
    named = [settings.weights]
    if settings.encoder not in ("labels", "null"):
        named.append(Path(settings.encoder))
    folders = list(dict.fromkeys(folder for folder in named if folder))
    if not folders:
        raise UsageError(
            "no setting names a folder of weights (the embedded encoder checks its own files)",
            hint=_EXAMPLE,
        )
    return folders


def _list(as_json: bool, console: Console) -> int:
    for row in rows():
        if as_json:
            console.json(_row_json(row))
            continue
        size = f"{row.bytes / 1e9:.1f} GB {row.dtype}"
        console.line(
            f"{row.id}  {row.role}  {size}  from {row.gpu_gib} GiB of GPU memory  {row.licence}"
        )
    console.note("sizes and memory by arithmetic; weights.md shows it, and how to place a folder")
    return exit_codes.OK


def _row_json(row: WeightsRow) -> dict[str, Json]:
    return {
        "id": row.id,
        "role": row.role,
        "family": row.family,
        "setting": row.settings,
        "revision": row.revision or None,
        "licence": row.licence,
        "dtype": row.dtype,
        "parameters": row.parameters,
        "bytes": row.bytes,
        "gpu_gib": row.gpu_gib,
        "unverified": list(row.unverified),
    }


def _verify(folder: Path, as_json: bool, console: Console) -> Verification:
    with _progress("checking", console) as tell:
        found = verify(folder, tell)
    if as_json:
        console.json(_verification_json(found))
        return found
    for fault in found.faults:
        console.line(f"{fault.kind.upper()}  {_name(fault.file)}: {fault.detail}")
    size = _size(found)
    if found.good:
        console.line(f"whole: {found.folder} ({size}, every SHA-256 as listed)")
    elif found.faults:
        console.line(
            f"NOT WHOLE: {found.folder} ({size}): {count_text(len(found.faults), 'fault')}"
        )
    else:
        console.line(f"NOT PROVEN: {found.folder} ({size}): nothing is missing or cut short")
    if not found.sums:
        console.warning(
            "no SHA256SUMS lies in the folder, so no hash was compared; photocraft weights"
            " manifest writes one where the weights were fetched, carry it over with them"
        )
    return found


def _manifest(folder: Path, as_json: bool, console: Console) -> int:
    with _progress("hashing", console) as tell:
        made = write_manifest(folder, tell)
    if as_json:
        console.json(_verification_json(made))
    else:
        console.line(f"written: {made.folder / 'SHA256SUMS'} ({_size(made)})")
    return exit_codes.OK


def _verification_json(found: Verification) -> dict[str, Json]:
    state = "whole" if found.good else "faulty" if found.faults else "unproven"
    return {
        "folder": str(found.folder),
        "state": state,
        "files": found.files,
        "bytes": found.bytes,
        "sums": found.sums,
        "faults": [
            {"file": _name(fault.file), "kind": fault.kind, "detail": fault.detail}
            for fault in found.faults
        ],
    }


def _size(found: Verification) -> str:
    number = f"{found.bytes / 1e9:.1f} GB" if found.bytes >= 1e9 else f"{found.bytes / 1e6:.1f} MB"
    return f"{count_text(found.files, 'file')}, {number}"


def _name(file: str) -> str:
    return path_text(os.fsencode(file))


@contextmanager
def _progress(what: str, console: Console) -> Iterator[Progress]:
    line = console.progress(f"{what} (MB)")
    try:
        yield lambda done, total: line.update(done // 1_000_000, max(1, total // 1_000_000))
    finally:
        line.finish()
