"""Runs by itself: forks a process a time that indexes a second space, or drops it, and is killed
where it is about to touch a file of the spaces. Prints what the next run found after each kill."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import signal
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from photocraft_local import PhotoSearch
from photocraft_local.embeddings.null import NullEncoder
from photocraft_local.embeddings.pipeline import index_pending
from photocraft_local.embeddings.space import VectorSpace
from photocraft_local.settings import Settings

EVENTS = {"open", "os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.truncate"}


class Second(NullEncoder):
    """A space of its own."""

    @property
    def spec(self) -> Any:
        return dataclasses.replace(super().spec, encoder_id="second")


def settings_of(library: Path) -> Settings:
    return Settings(library=library, encoder="null")


def index_second(library: Path) -> int:
    with PhotoSearch(settings_of(library)) as photos:
        inner, encoder = photos._parts.library(), Second()
        folder = inner.spaces_folder / encoder.spec.space_id
        space = VectorSpace.open(folder, encoder.spec, create=True)
        return index_pending(inner, space, encoder, batch_size=2, workers=1).indexed


def drop_second(library: Path) -> int:
    with PhotoSearch(settings_of(library)) as photos:
        names = [space.name for space in photos.spaces.list() if space.encoder == "second"]
        return len([photos.spaces.remove(name) for name in names])


def state(library: Path) -> dict[str, Any]:
    """What a reader sees: vectors of each space by photo, and the answers by the first."""
    with PhotoSearch(settings_of(library)) as photos:
        found = {one.photo.uid: one.score for one in photos.search("red", top_k=99).photos}
        inner, seen = photos._parts.library(), {}
        for encoder in (NullEncoder(), Second()):
            folder = inner.spaces_folder / encoder.spec.space_id
            if not (folder / "header.json").exists():
                continue
            space = VectorSpace.open(folder, encoder.spec)
            ids = space.photo_ids.tolist()
            assert len(set(ids)) == len(ids)
            assert np.isin(ids, inner.present_ids()).all()
            seen[encoder.spec.encoder_id] = {
                photo: vector.tobytes().hex()
                for photo, vector in zip(ids, space.vectors, strict=True)
            }
    return {"found": found, "vectors": seen}


def killed_at(number: int, spaces: Path, work: Any) -> bool:
    """Whether a child that does ``work`` was killed at its n-th touch of the spaces."""
    child = os.fork()
    if child:
        return os.WIFSIGNALED(os.waitpid(child, 0)[1])
    count = 0

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal count
        if event in EVENTS and any(str(spaces) in str(one) for one in arguments):
            count += 1
            if count == number:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)
    try:
        work()
    except BaseException as error:
        print("child failed:", repr(error), flush=True)
    os._exit(0)


def main(prepared: Path, scratch: Path) -> None:
    index_second(shutil.copytree(prepared, scratch / "whole"))
    whole = state(scratch / "whole")
    for name, start, work, again in (
        ("index", prepared, index_second, index_second),
        ("drop", scratch / "whole", drop_second, drop_second),
        ("drop, then index", scratch / "whole", drop_second, index_second),
    ):
        kills, partly = 0, set()
        while True:
            library = shutil.copytree(start, scratch / "one")
            killed = killed_at(kills + 1, library / "spaces", partial(work, library))
            after = state(library)
            assert after["found"] == whole["found"], (name, kills)
            for encoder, vectors in after["vectors"].items():
                assert vectors.items() <= whole["vectors"][encoder].items(), (name, kills)
            partly.add(len(after["vectors"].get("second", ())))
            again(library)
            wanted = dict(whole["vectors"])
            if again is drop_second:
                del wanted["second"]
            assert state(library)["vectors"] == wanted, (name, kills)
            shutil.rmtree(library)
            if not killed:
                break
            kills += 1
        print(json.dumps({"work": name, "kills": kills, "states": sorted(partly)}), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
