"""zoom_in: a part of a photo, cut in original upright pixels, becomes a crop with its own UID."""

from __future__ import annotations

from photocraft_local.imaging.crops import crop_view
from photocraft_local.imaging.geometry import Box
from photocraft_local.imaging.pictures import png_bytes
from photocraft_local.records import Json, Observation
from photocraft_local.tools import schema
from photocraft_local.tools.context import ToolContext
from photocraft_local.tools.photos import library_source, present_path
from photocraft_local.tools.ports import Arguments

_FAR = 100_000  # px; no picture has a longer side


class ZoomIn:
    name = "zoom_in"
    description = (
        "Cut a part out of a photo and look at it enlarged, e.g. to read a sign. x and y are "
        "the upper left corner, all four numbers are pixels of the upright original (see "
        'fetch_image or get_metadata with fields ["size"] for its size), counted from the '
        "upper left. The crop gets a UID such as p7k3mq.c1 that search_photos (like), "
        "view_photos, fetch_image and zoom_in take. A box that reaches outside is refused, "
        "never cut to fit. In a crop, count in the pixels of the original that it covers."
    )
    parameters = schema.arguments(
        "uid",
        "x",
        "y",
        "width",
        "height",
        uid=schema.uid("The photo, or a crop to zoom in further."),
        x=schema.whole("Left edge in pixels, 0 is the picture's left border.", 0, _FAR),
        y=schema.whole("Upper edge in pixels, 0 is the picture's upper border.", 0, _FAR),
        width=schema.whole("Width in pixels.", 1, _FAR),
        height=schema.whole("Height in pixels.", 1, _FAR),
    )

    def run(self, arguments: Arguments, context: ToolContext) -> Observation:
        shown, photo = library_source(context, arguments["uid"])
        asked = Box(*(arguments[key] for key in ("x", "y", "width", "height")))
        box = asked
        if shown.box is not None:
            asked.check(shown.box.width, shown.box.height)
            box = asked.moved(shown.box.x, shown.box.y)
        path = present_path(photo)
        view = crop_view(path, box, max_pixels=context.settings.max_pixels)
        png = png_bytes(view.pixels)
        uid = context.library.add_crop(photo.uid, box.corners(), png)
        data: dict[str, Json] = {
            "uid": uid,
            "of": photo.uid,
            "box": {"x": box.x, "y": box.y, "width": box.width, "height": box.height},
            "shown": {"width": view.width, "height": view.height},
        }
        return Observation(
            self.name, data=data, images=((uid, png),), brief=f"{uid}: part of {photo.uid}"
        )
