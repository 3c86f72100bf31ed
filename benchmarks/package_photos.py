"""Real photos that ship inside the packages of the ``demo`` extra, and what shows on them.

The files are read where pip put them; none of the packages is imported. The queries were
written from the photos before any of them was scored.
"""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

_SKIMAGE = ("scikit-image", "skimage/data/")
_SKLEARN = ("scikit-learn", "sklearn/datasets/images/")
PHOTOS = {  # name here → (distribution, folder), file
    "astronaut": (_SKIMAGE, "astronaut.png"),
    "bricks": (_SKIMAGE, "brick.png"),
    "cameraman": (_SKIMAGE, "camera.png"),
    "cat": (_SKIMAGE, "chelsea.png"),
    "coffee": (_SKIMAGE, "coffee.png"),
    "coins": (_SKIMAGE, "coins.png"),
    "dahlia": (_SKLEARN, "flower.jpg"),
    "galaxies": (_SKIMAGE, "hubble_deep_field.jpg"),
    "grass": (_SKIMAGE, "grass.png"),
    "gravel": (_SKIMAGE, "gravel.png"),
    "handwriting": (_SKIMAGE, "text.png"),
    "moon": (_SKIMAGE, "moon.png"),
    "motorcycle": (_SKIMAGE, "motorcycle_left.png"),
    "page": (_SKIMAGE, "page.png"),
    "palace": (_SKLEARN, "china.jpg"),
    "retina": (_SKIMAGE, "retina.jpg"),
    "rocket": (_SKIMAGE, "rocket.jpg"),
    "tissue": (_SKIMAGE, "ihc.png"),
}
QUERIES = {  # text → the photos that show it
    "a woman astronaut in an orange space suit": ("astronaut",),
    "portrait of a smiling woman": ("astronaut",),
    "a wall of bricks": ("bricks",),
    "a man with a camera on a tripod": ("cameraman",),
    "a cat": ("cat",),
    "face of a ginger animal with whiskers": ("cat",),
    "a cup of coffee on a saucer": ("coffee",),
    "hot drink with a spoon": ("coffee",),
    "old coins": ("coins",),
    "a collection of small round metal things": ("coins",),
    "an orange flower": ("dahlia",),
    "something growing in a garden": ("dahlia", "grass"),
    "stars and galaxies in space": ("galaxies",),
    "grass": ("grass",),
    "small stones on the ground": ("gravel",),
    "handwritten notes": ("handwriting",),
    "a document with text": ("page", "handwriting"),
    "the surface of the moon": ("moon",),
    "craters": ("moon",),
    "a red motorcycle in a garage": ("motorcycle",),
    "a printed page of a book": ("page",),
    "a chinese temple building": ("palace",),
    "an old tower with trees around it": ("palace",),
    "the inside of an eye": ("retina",),
    "a rocket on the launch pad": ("rocket",),
    "the sky at dusk with bright lights": ("rocket",),
    "a microscope picture of cells": ("tissue",),
}


def locate() -> dict[str, Path]:
    """Name → installed file.

    Raises:
        SystemExit: the ``demo`` extra is not installed.
    """
    found = {}
    for name, ((distribution, folder), file) in PHOTOS.items():
        try:
            path = Path(str(metadata.distribution(distribution).locate_file(folder + file)))
        except metadata.PackageNotFoundError:
            raise SystemExit(
                f"{distribution} is not installed: pip install 'photocraft-local[demo]'"
            ) from None
        found[name] = path
    return found
