"""The object detector as an ONNX graph: SSD over MobileNet-V2, built from a frozen graph's weights.

Owns the published layout (six maps of features, a class predictor on each) and what is kept of
it: how surely each thing is anywhere in the picture. Boxes are not computed. Like the
classifier it is fully convolutional, so a picture keeps its shape.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from photocraft_local.embeddings.labels.graph import Graph, folded
from photocraft_local.errors import EncoderError, MissingExtraError

_SCOPE = "FeatureExtractor/MobilenetV2"
_NUM_BLOCKS = 17
_HALVING = {1, 3, 6, 13}  # blocks with stride 2
_ADDING = {2, 4, 5, 7, 8, 9, 11, 12, 14, 15}  # blocks whose input is added to their output
_FIRST_MAP = 13  # the expanded features of this block are the finest map
_EXTRA = ((256, 512), (128, 256), (128, 256), (64, 128))  # channels of the four coarsest maps
_NUM_SLOTS = 91  # COCO's numbers, 0 is the background
_HALF_RANGE = 127.5  # pixels become -1 … 1


def build_detector(weights: Mapping[str, NDArray[Any]], numbers: Sequence[int]) -> bytes:
    """A serialised ONNX model. Input ``pixels`` uint8 (n, height, width, 3), any size; output
    ``objects`` float32 (n, len(numbers)): the highest logit of each of COCO's ``numbers`` over
    all places and sizes.

    Raises:
        EncoderError: the weights are not those of this detector.
        MissingExtraError: onnx is not installed.
    """
    try:
        graph = _Graph(weights)
        tops = [graph.best(level, name, numbers) for level, name in enumerate(graph.maps())]
        graph.node("Max", *tops, output="objects")
        return graph.serialised("ssd-mobilenet-v2", {"objects": ["n", len(numbers)]})
    except ImportError as exc:
        raise MissingExtraError("onnx", "cpu", "converting the object detector") from exc
    except (KeyError, ValueError, IndexError) as exc:
        raise EncoderError(
            f"the weights are not those of SSD MobileNet-V2: {exc}",
            hint="reinstall the package that ships them",
        ) from exc


class _Graph(Graph):
    def __init__(self, weights: Mapping[str, NDArray[Any]]) -> None:
        super().__init__()
        self._weights = weights

    def maps(self) -> list[str]:
        """The six feature maps, finest first."""
        self.constant("half_range", np.array(_HALF_RANGE, np.float32))
        self.constant("one", np.array(1, np.float32))
        self.node("Cast", "pixels", to=1)
        self.node("Div", self.value, "half_range")
        self.node("Sub", self.value, "one")
        self.node("Transpose", self.value, perm=[0, 3, 1, 2])
        self._unit("Conv", stride=2)
        maps = [self._block(number) for number in range(_NUM_BLOCKS)][_FIRST_MAP : _FIRST_MAP + 1]
        self._unit("Conv_1")
        maps.append(self.value)
        for number, (narrow, wide) in enumerate(_EXTRA, 2):
            self._unit(f"layer_19_1_Conv2d_{number}_1x1_{narrow}")
            name = f"layer_19_2_Conv2d_{number}_3x3_s2_{wide}"
            self._unit(f"{name}_depthwise", stride=2, depthwise=True)
            self._unit(name)
            maps.append(self.value)
        return maps

    def best(self, level: int, features: str, numbers: Sequence[int]) -> str:
        """(n, len(numbers)) the highest logits on one map."""
        scope = f"BoxPredictor_{level}/ClassPredictor"
        weight, bias = self._weights[f"{scope}/weights"], self._weights[f"{scope}/biases"]
        shapes = len(bias) // _NUM_SLOTS  # boxes of different shapes at each place
        kept = [shape * _NUM_SLOTS + number for shape in range(shapes) for number in numbers]
        self.value = features
        self.convolution(scope, weight.transpose(3, 2, 0, 1)[kept], bias[kept])
        apart = np.array([0, shapes, len(numbers), -1], np.int64)
        self.node("Reshape", self.value, self.constant(f"{scope}.apart", apart))
        return self.node("ReduceMax", self.value, axes=[1, 3], keepdims=0)

    def _block(self, number: int) -> str:
        """An inverted residual; returns its expanded features."""
        name, entry = f"expanded_conv_{number}" if number else "expanded_conv", self.value
        if number:
            self._unit(f"{name}/expand")
        expanded = self.value
        stride = 2 if number in _HALVING else 1
        self._unit(f"{name}/depthwise", stride=stride, depthwise=True)
        self._unit(f"{name}/project", clips=False)
        if number in _ADDING:
            self.node("Add", self.value, entry)
        return expanded

    def _unit(
        self, name: str, *, stride: int = 1, depthwise: bool = False, clips: bool = True
    ) -> None:
        scope = f"{_SCOPE}/{name}"
        weight = self._weights[f"{scope}/{'depthwise_' if depthwise else ''}weights"]
        weight = weight.transpose(2, 3, 0, 1) if depthwise else weight.transpose(3, 2, 0, 1)
        parts = ("gamma", "beta", "moving_mean", "moving_variance")
        statistics = [self._weights[f"{scope}/BatchNorm/{part}"] for part in parts]
        groups = len(weight) if depthwise else 1
        self.convolution(name, *folded(weight, *statistics), stride=stride, groups=groups)
        if clips:
            self.relu6()
