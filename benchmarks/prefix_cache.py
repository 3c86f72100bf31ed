"""Claim: photocraft's context sends less than half as much through prefill as other ways to keep
a long episode inside a window.

A recorded episode of 30 turns (real photos, real tool results, the album's made-up life) is
replayed on the real vLLM under five policies and some more; _policies.py says what each does.
``ours`` is the package's own loop, context and compaction. All get the same blocks, turns, high
mark, window and block size, and each begins on a server that has answered another question about
the same library, as all but the first do: the first pays for system text, tools and card as well
(``cold_tokens``). Counts are the engine's own, and its two counters must agree.

The window is 24,576 tokens, of those that the package derives: with this tiny tokenizer some 2.7
characters each, about as much text as 16,384 of a real one; system text and tools take 10,000. The
high mark is the setting ``compact_at``. Without ``--quick``: both families, two larger windows,
and compact_rewrite with our summary, word for word.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from _common import arguments, finish, machine, table
from _engine import checkpoints, engine_counters, require_engine

from photocraft_local.settings import default_cache_path

WINDOW = 24576
LARGER = (32768, 49152)
FAMILY = "qwen3-vl"
PICTURE_TOKENS = 1536  # of one picture, as the package derives it for that window
NAMED = ("none", "sliding", "blank_old_results", "compact_rewrite")
LEAST_SHARE, MOST_PREFILL, LEAST_RATIO = 0.95, 1.15, 2.0


def policies(episodes: Any, *, same_words: bool) -> dict[str, Any]:
    """Name → what runs it."""
    import _policies as known

    def batches(material: Any, full: Any) -> Any:
        return known.sliding_in_batches(material, full, episodes.longer_than_compacted)

    def with_our_words(material: Any, full: Any) -> Any:
        return known.compact_rewrite(replace(material, rewritten=material.summary), full)

    rows = {name: getattr(known, name) for name in NAMED}
    rows["compact_rewrite_without_tools"] = known.compact_rewrite_without_tools
    rows["compact_rewrite_aligned"] = known.compact_rewrite_aligned
    rows["sliding_in_batches"] = batches
    if same_words:
        rows["compact_rewrite_same_words"] = with_our_words
    return rows


def row_of(tally: Any, counted: Mapping[str, int], window: int) -> dict[str, Any]:
    """The figures of one policy. Raises AssertionError if the engine's counters disagree."""
    totals = counted["prefix_cache_queries"], counted["prefix_cache_hits"]
    assert totals == (tally.prompt_tokens, tally.cached_tokens), (totals, tally)
    return {
        "prompt_tokens": tally.prompt_tokens,
        "cached_tokens": tally.cached_tokens,
        "prefill_tokens": tally.prefill_tokens,
        "new_tokens": tally.new_tokens,
        "generated_tokens": tally.generated_tokens,
        "wall_s": round(tally.wall_s, 2),
        "summaries": tally.summaries,
        "longest": tally.longest,
        "inside_window": tally.longest <= window,
        "share_cached": round(tally.share, 4),
        "share_of_whole_blocks": round(tally.share_rounded, 4),
        "pictures_asked": counted["mm_cache_queries"],
        "pictures_prepared": counted["mm_cache_queries"] - counted["mm_cache_hits"],
    }


def measured(episodes: Any, replay: Any, names: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    rows = {}
    for name, policy in names.items():
        rows[name] = row_of(episodes.policy(policy), replay.counted(), episodes.window)
    tally, trace = episodes.ours()
    rows["ours"] = row_of(tally, replay.counted(), episodes.window)
    assert rows["ours"]["summaries"] == len(trace.compactions), "a compaction without a request"
    return rows


def ratios(rows: Mapping[str, Mapping[str, Any]], cold: int) -> dict[str, float]:
    """How many times as much the best of the named others puts through prefill, and how many
    times the truly new tokens ours does."""
    others = [rows[name] for name in NAMED if name in rows and rows[name]["inside_window"]]
    best = min(row["prefill_tokens"] for row in others)
    ours = rows["ours"]
    return {
        "best_other_over_ours": round(best / ours["prefill_tokens"], 3),
        "best_other_over_ours_cold": round((best + cold) / (ours["prefill_tokens"] + cold), 3),
        "ours_over_new": round(ours["prefill_tokens"] / ours["new_tokens"], 3),
        "cold_tokens": cold,
    }


def missed(family: str, rows: Mapping[str, Any], found: Mapping[str, float], num: int) -> list[str]:
    """The targets that do not hold, in words; ``num`` different pictures were shown."""
    ours = rows["ours"]
    checks = {
        f"{found['best_other_over_ours']} times fewer tokens than the best other": (
            found["best_other_over_ours"] >= LEAST_RATIO
        ),
        f"{found['ours_over_new']} times the new tokens": found["ours_over_new"] <= MOST_PREFILL,
        f"{ours['share_cached']} of the last prompt from the cache": (
            ours["share_cached"] >= LEAST_SHARE
        ),
        f"a prompt of {ours['longest']} tokens": ours["inside_window"],
        f"{ours['pictures_prepared']} pictures prepared, of {num}": (
            ours["pictures_prepared"] == num
        ),
    }
    return [f"{family}: {told}" for told, holds in checks.items() if not holds]


def show(title: str, rows: Mapping[str, Mapping[str, Any]], found: Mapping[str, float]) -> None:
    print(f"\n{title}")
    columns = ("prompt_tokens", "cached_tokens", "prefill_tokens", "new_tokens")
    table(
        [
            (
                name,
                *(f"{row[column]:,}" for column in columns),
                f"{row['prefill_tokens'] / row['new_tokens']:.2f}",
                f"{100 * row['share_cached']:.1f} / {100 * row['share_of_whole_blocks']:.1f}",
                row["summaries"],
                f"{row['longest']:,}",
                "yes" if row["inside_window"] else "no",
                f"{row['wall_s']:.1f}",
            )
            for name, row in rows.items()
        ],
        [
            "policy",
            *(column.replace("_tokens", "") for column in columns),
            "prefill/new",
            "% of the last prompt cached, raw / of whole blocks",
            "summaries",
            "longest",
            "in window",
            "wall s",
        ],
    )
    print(", ".join(f"{name} {value}" for name, value in found.items()))


def family_of(folder: Path, recorded: Any, quick: bool, name: str) -> dict[int, Any]:
    """Window → (rows, ratios) of one family."""
    import _replay
    from _episodes import Episodes

    from photocraft_local.serving.tokens import PictureRule, PromptCounter

    windows = (WINDOW,) if quick or name != FAMILY else (WINDOW, *LARGER)
    replay = _replay.Replay(_replay.start(folder, max(windows)), engine_counters)
    rule = PictureRule.of_folder(folder).at_most(PICTURE_TOKENS)
    found: dict[int, Any] = {}
    for window in windows:
        episodes = Episodes(replay, recorded, PromptCounter(folder, rule), window)
        names = policies(episodes, same_words=not quick)
        rows = measured(episodes, replay, names)
        told = ratios(rows, episodes.cold_tokens())
        show(f"{name}, window {window:,}, high mark {episodes.high:,.0f}", rows, told)
        found[window] = (rows, told)
    return found


def main() -> int:
    quick = arguments(__doc__.split("\n", 1)[0]).quick
    cache = default_cache_path()  # the engine gets a home folder of its own
    require_engine()
    from _trajectory import record

    with tempfile.TemporaryDirectory() as scratch, checkpoints() as folders:
        recorded = record(Path(scratch).resolve(), cache)
        print(machine(["transformers"]))
        print(f"{len(recorded.steps)} turns, {recorded.num_pictures} different pictures")
        chosen = [FAMILY] if quick else [name for name in folders if name != FAMILY] + [FAMILY]
        found = {
            name: family_of(folders[name], recorded, quick, name)
            for name in chosen  # counters are those of the engine that was started last
        }
    lines = [
        line
        for name in chosen
        for line in missed(name, *found[name][WINDOW], recorded.num_pictures)
    ]
    for line in lines:
        print(f"MISSED: {line}")
    rows, told = found[FAMILY][WINDOW]
    result: dict[str, Any] = {**rows, **told, "window": WINDOW, "missed": lines}
    if not quick:
        result["other_windows"] = {
            str(window): {"prefill_tokens": {n: r["prefill_tokens"] for n, r in more.items()}} | was
            for window, (more, was) in found[FAMILY].items()
            if window != WINDOW
        }
        result["families"] = {name: windows[WINDOW][1] for name, windows in found.items()}
    finish(result)
    return 1 if lines else 0


if __name__ == "__main__":
    raise SystemExit(main())
