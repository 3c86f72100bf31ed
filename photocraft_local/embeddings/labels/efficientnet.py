"""EfficientNet-lite as an ONNX graph, built from a state dict.

Owns the published layout (MobileNet-V2 blocks without squeeze-and-excitation, fixed stem and
head) and the folding of batch norm into the convolutions. The activation is ReLU6: with the
swish of the full-size family every prediction of the lite weights turns to nonsense.
The graph is fully convolutional: any picture whose sides are multiples of 32 gives a map of
features, 1/32 of its size, from which it also pools the class evidence of the whole picture
and of its small regions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from photocraft_local.embeddings.labels.graph import Graph, folded
from photocraft_local.errors import EncoderError, MissingExtraError

STRIDE = 32  # picture pixels per cell of the feature map
_MEAN, _SCALE = 127.0, 128.0  # the lite family's preprocessing: (pixel - 127) / 128
_STAGES = (  # repeats, stride, output channels (before scaling)
    (1, 1, 16),
    (2, 2, 24),
    (2, 2, 40),
    (3, 2, 80),
    (3, 1, 112),
    (4, 2, 192),
    (1, 1, 320),
)


@dataclass(frozen=True, slots=True)
class Variant:
    """Scaling of one member of the family."""

    name: str
    width: float
    depth: float
    side: int  # picture side it was trained at


LITE2 = Variant("lite2", 1.1, 1.2, 260)


@dataclass(frozen=True, slots=True)
class _Block:
    name: str
    stride: int
    expands: bool
    keeps_shape: bool


def _channels(base: int, width: float) -> int:
    """Scaled to a multiple of 8, never more than 10 % below."""
    scaled = base * width
    rounded = max(8, int(scaled + 4) // 8 * 8)
    return rounded + 8 if rounded < 0.9 * scaled else rounded


def _blocks(variant: Variant) -> list[_Block]:
    blocks: list[_Block] = []
    previous = 32
    for stage, (repeats, stride, base) in enumerate(_STAGES):
        fixed = stage in (0, len(_STAGES) - 1)
        count = repeats if fixed else math.ceil(repeats * variant.depth)
        channels = _channels(base, variant.width)
        for turn in range(count):
            step = stride if turn == 0 else 1
            keeps = step == 1 and previous == channels
            blocks.append(_Block(f"_blocks.{len(blocks)}", step, stage > 0, keeps))
            previous = channels
    return blocks


class _Graph(Graph):
    """With the weights of the state dict."""

    def __init__(self, weights: Mapping[str, NDArray[Any]]) -> None:
        super().__init__()
        self.weights = weights

    def normed(self, name: str, norm: str, *, stride: int = 1, depthwise: bool = False) -> None:
        """Convolution and its batch norm as one node."""
        weight = self.weights[f"{name}.weight"]
        parts = ("weight", "bias", "running_mean", "running_var")
        statistics = [self.weights[f"{norm}.{part}"] for part in parts]
        groups = len(weight) if depthwise else 1
        self.convolution(name, *folded(weight, *statistics), stride=stride, groups=groups)

    def block(self, block: _Block) -> None:
        entry = self.value
        if block.expands:
            self.normed(f"{block.name}._expand_conv", f"{block.name}._bn0")
            self.relu6()
        depthwise = f"{block.name}._depthwise_conv"
        self.normed(depthwise, f"{block.name}._bn1", stride=block.stride, depthwise=True)
        self.relu6()
        self.normed(f"{block.name}._project_conv", f"{block.name}._bn2")
        if block.keeps_shape:
            self.node("Add", self.value, entry)


@dataclass(frozen=True, slots=True)
class Pooling:
    """How class probabilities of a picture are made of its feature map."""

    temperature: float  # of the softmax
    whole_share: float  # weight of the whole picture; the rest is the mean over its regions
    region: int  # side of a region in cells; regions overlap with a step of one cell


def build_model(variant: Variant, weights: Mapping[str, NDArray[Any]], pooling: Pooling) -> bytes:
    """Classifier and pooling as a serialised ONNX model.

    Input ``pixels`` uint8 (n, height, width, 3), sides multiples of 32 and at least
    ``region`` cells. Outputs, float32: ``map`` (n, 1280, height/32, width/32), each in [0, 6];
    ``features`` (n, 1280), its mean; ``evidence`` (n, 1000), class probabilities
    of the whole; ``classes`` (n, 1000), the highest probability of each class in any region.

    Raises:
        EncoderError: the weights are not those of this variant.
    """
    try:
        graph = _Graph(weights)
        _fill(graph, variant)
        _pool(graph, pooling)
        outputs: dict[str, list[Any]] = {
            "map": ["n", 1280, "rows", "columns"],
            "features": ["n", 1280],
            "evidence": ["n", len(weights["_fc.bias"])],
            "classes": ["n", len(weights["_fc.bias"])],
        }
        return graph.serialised(f"efficientnet-{variant.name}", outputs)
    except ImportError as exc:
        raise MissingExtraError("onnx", "cpu", "converting the classifier") from exc
    except (KeyError, ValueError) as exc:
        raise EncoderError(
            f"the weights are not those of EfficientNet-{variant.name}: {exc}",
            hint="reinstall the package that ships them",
        ) from exc


def _fill(graph: _Graph, variant: Variant) -> None:
    for name, number in {"mean": _MEAN, "scale": _SCALE}.items():
        graph.constant(name, np.array(number, np.float32))
    graph.node("Cast", "pixels", to=1)
    graph.node("Sub", graph.value, "mean")
    graph.node("Div", graph.value, "scale")
    graph.node("Transpose", graph.value, perm=[0, 3, 1, 2])
    graph.normed("_conv_stem", "_bn0", stride=2)
    graph.relu6()
    for block in _blocks(variant):
        graph.block(block)
    graph.normed("_conv_head", "_bn1")
    graph.relu6(output="map")


def _pool(graph: _Graph, pooling: Pooling) -> None:
    """``features`` and ``evidence`` from ``map``. Logits are linear, so a region's are those
    of its mean cell."""
    weight = graph.weights["_fc.weight"] / pooling.temperature
    bias = graph.weights["_fc.bias"] / pooling.temperature
    graph.constant("fc.w", weight.T.astype(np.float32))
    graph.constant("fc.conv", weight[:, :, None, None].astype(np.float32))
    graph.constant("fc.b", bias.astype(np.float32))
    graph.constant("whole_share", np.array(pooling.whole_share, np.float32))
    graph.constant("region_share", np.array(1 - pooling.whole_share, np.float32))
    graph.node("GlobalAveragePool", "map")
    features = graph.node("Flatten", graph.value, output="features")
    graph.node("Gemm", features, "fc.w", "fc.b")
    whole = graph.node("Softmax", graph.value, axis=1)
    graph.node("AveragePool", "map", kernel_shape=[pooling.region] * 2, strides=[1, 1])
    graph.node("Conv", graph.value, "fc.conv", "fc.b", kernel_shape=[1, 1])
    logits = graph.value
    graph.constant("temperature", np.array(pooling.temperature, np.float32))
    graph.node("Mul", logits, "temperature")
    graph.node("Softmax", graph.value, axis=1)
    graph.node("ReduceMax", graph.value, axes=[2, 3], keepdims=0, output="classes")
    graph.node("Softmax", logits, axis=1)
    graph.node("GlobalAveragePool", graph.value)
    regions = graph.node("Flatten", graph.value)
    mine = graph.node("Mul", whole, "whole_share")
    theirs = graph.node("Mul", regions, "region_share")
    graph.node("Add", mine, theirs, output="evidence")


def expected_features(weights: Mapping[str, NDArray[Any]]) -> NDArray[np.float32]:
    """Mean of ``features`` over the pictures that the classifier was trained on, (1280,).

    Its last batch norm holds it: before ReLU6 a channel has mean ``bias`` and standard
    deviation ``weight`` there; taken as normal, the mean after clipping to [0, 6] is exact.
    """
    mean = weights["_bn1.bias"].astype(np.float64)
    spread = np.abs(weights["_bn1.weight"].astype(np.float64)) + 1e-12
    low, high = (0.0 - mean) / spread, (6.0 - mean) / spread
    inside = _normal_mass(high) - _normal_mass(low)
    clipped = mean * inside + spread * (_normal_density(low) - _normal_density(high))
    return (clipped + 6.0 * (1.0 - _normal_mass(high))).astype(np.float32)


def _normal_mass(z: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.array([0.5 * math.erfc(-value / math.sqrt(2)) for value in z])


def _normal_density(z: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.exp(-0.5 * z * z) / math.sqrt(2 * math.pi))
