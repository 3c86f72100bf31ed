"""``photocraft doctor``: what is installed, which engines will run, and why."""

from __future__ import annotations

import argparse

from photocraft_local.app.doctor import Finding, examine
from photocraft_local.cli import exit_codes
from photocraft_local.cli.console import Console
from photocraft_local.cli.parser import (
    add_backbone_options,
    add_encoder_option,
    settings_overrides,
)
from photocraft_local.settings import Settings

_LOOKED_AT = ("encoder", "backbone", "weights", "backbone_url")
_MARKS = {"ok": "ok     ", "warning": "WARNING", "fault": "FAULT  "}


def configure(parser: argparse.ArgumentParser) -> None:
    add_encoder_option(parser)
    add_backbone_options(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    findings = examine(Settings.load(**settings_overrides(args, *_LOOKED_AT)))
    for finding in findings:
        if args.json:
            console.json(_json(finding))
        else:
            console.line(f"{_MARKS[finding.state]}  {finding.name}: {finding.detail}")
            if finding.hint:
                console.line(f"         hint: {finding.hint}")
    faulty = any(finding.state == "fault" for finding in findings)
    return exit_codes.FAULT_FOUND if faulty else exit_codes.OK


def _json(finding: Finding) -> dict[str, str]:
    return {
        "check": finding.name,
        "state": finding.state,
        "detail": finding.detail,
        "hint": finding.hint,
    }
