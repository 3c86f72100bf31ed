"""zoom_in: a part of a picture, cut in original upright pixels, becomes a crop with its own UID."""

from __future__ import annotations

from photocraft_local.imaging.crops import model_view
from photocraft_local.imaging.geometry import COMFORT_SIDE, MAX_SIDE, Box
from photocraft_local.imaging.pictures import png_bytes
from photocraft_local.records import Json, Observation
from photocraft_local.tools import schema
from photocraft_local.tools.context import ToolContext
from photocraft_local.tools.photos import Source, present_path, source
from photocraft_local.tools.ports import Arguments

_FAR = 100_000  # px; no picture has a longer side


class ZoomIn:
    name = "zoom_in"
    description = (
        "Cut a part out of a photo, or of a picture of the question or of a page, and look at it "
        "enlarged, e.g. to read a sign. x and y are the upper left corner, all four numbers are "
        "pixels of the upright original (see fetch_image, or get_metadata with fields "
        '["size"], for its size), counted from the upper left. The crop gets a UID such as '
        "p7k3mq.c1 or q1.c1 "
        "that search_photos (like), view_photos, fetch_image and zoom_in take. A box that "
        "reaches outside is refused, never cut to fit. In a crop, count in the pixels of the "
        "original that it covers."
    )
    parameters = schema.arguments(
        "uid",
        "x",
        "y",
        "width",
        "height",
        uid=schema.uid("The photo or picture, or a crop to zoom in further."),
        x=schema.whole("Left edge in pixels, 0 is the picture's left border.", 0, _FAR),
        y=schema.whole("Upper edge in pixels, 0 is the picture's upper border.", 0, _FAR),
        width=schema.whole("Width in pixels.", 1, _FAR),
        height=schema.whole("Height in pixels.", 1, _FAR),
    )

    def run(self, arguments: Arguments, context: ToolContext) -> Observation:
        shown = source(context, arguments["uid"])
        box = _box_in_whole(arguments, shown)
        path = present_path(shown.photo) if shown.photo else shown.path
        pixels = context.decoded.region(path, box, max_pixels=context.settings.max_pixels)
        if shown.photo is None:
            uid = _kept(context, shown.whole or shown.uid, box)
        else:
            png = png_bytes(model_view(pixels).pixels)
            uid = context.library.add_crop(shown.photo.uid, box.corners(), png)
        view = context.viewing.view(pixels, longest=MAX_SIDE, at_least=COMFORT_SIDE)
        of = shown.photo.uid if shown.photo else shown.whole or shown.uid
        data: dict[str, Json] = {
            "uid": uid,
            "of": of,
            "box": {"x": box.x, "y": box.y, "width": box.width, "height": box.height},
            "shown": {"width": view.width, "height": view.height},
        }
        images = ((uid, png_bytes(view.pixels)),)
        return Observation(self.name, data=data, images=images, brief=f"{uid}: part of {of}")


def _box_in_whole(arguments: Arguments, shown: Source) -> Box:
    """The box in pixels of the whole original. Raises UsageError outside what is shown."""
    asked = Box(*(arguments[key] for key in ("x", "y", "width", "height")))
    size = shown.original_size()
    if size is not None:
        asked.check(*size)  # before a large file is decoded for nothing
    return asked if shown.box is None else asked.moved(shown.box.x, shown.box.y)


def _kept(context: ToolContext, whole: str, box: Box) -> str:
    """The id of that part of a picture that is no photo: q1.c1, q1.c2 …, the same for the same box.

    Only the box is kept, for this episode; the picture's file holds the pixels.
    """
    for uid, known in context.crops.items():
        if known == (whole, box):
            return uid
    number = 1 + sum(of == whole for of, _ in context.crops.values())
    uid = f"{whole}.c{number}"
    context.crops[uid] = (whole, box)
    return uid
