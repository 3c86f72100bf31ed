"""fetch_image: one picture at higher resolution, without a label strip."""

from __future__ import annotations

from photocraft_local.imaging.pictures import jpeg_bytes
from photocraft_local.records import Json, Observation
from photocraft_local.tools import schema
from photocraft_local.tools.context import ToolContext
from photocraft_local.tools.photos import decoded, source
from photocraft_local.tools.ports import Arguments

_LONGEST = {"normal": 1024, "high": 2048}  # px of the longer side


class FetchImage:
    name = "fetch_image"
    description = (
        "Look at one photo, crop or picture of the question in more detail. normal: longer side "
        "up to 1024 pixels, high: up to 2048. The result gives the size of the original in "
        "pixels: coordinates for zoom_in are counted in the original, so take what you read off "
        "the shown picture, minus 'padding' if there is one, and multiply x by scale.x and y by "
        "scale.y."
    )
    parameters = schema.arguments(
        "uid",
        uid=schema.uid("The photo, crop or picture, e.g. p7k3mq, p7k3mq.c1, q1 or k4d2wz."),
        detail=schema.choice("normal (default) or high.", tuple(_LONGEST)),
    )

    def run(self, arguments: Arguments, context: ToolContext) -> Observation:
        shown = source(context, arguments["uid"])
        longest = _LONGEST[arguments.get("detail", "normal")]
        picture = decoded(context, shown, short_side=longest)
        view = context.viewing.view(picture.pixels, longest=longest)
        width, height = shown.original_size() or (picture.width, picture.height)
        data: dict[str, Json] = {
            "uid": shown.uid,
            "original": {"width": width, "height": height},
            "shown": {"width": view.width, "height": view.height},
            "scale": {
                "x": round(width / view.content.width, 3),
                "y": round(height / view.content.height, 3),
            },
        }
        if (view.content.width, view.content.height) != (view.width, view.height):
            data["padding"] = {"left": view.content.x, "top": view.content.y}
        return Observation(
            self.name,
            data=data,
            images=((shown.uid, jpeg_bytes(view.pixels)),),
            brief=f"looked at {shown.uid} at {view.width}x{view.height}",
        )
