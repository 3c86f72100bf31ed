"""Collects the nodes and constants of an ONNX graph that is built by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

OPSET = 17


class Graph:
    """``value`` is the name of the newest tensor; the first is the input ``pixels``, uint8
    (n, height, width, 3). The constants ``zero`` and ``six`` are there for ReLU6."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.value = "pixels"
        self.constant("zero", np.array(0, np.float32))
        self.constant("six", np.array(6, np.float32))

    def constant(self, name: str, array: NDArray[Any]) -> str:
        from onnx import numpy_helper

        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def node(self, kind: str, *inputs: str, output: str = "", **attributes: Any) -> str:
        from onnx import helper

        self.value = output or f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [self.value], **attributes))
        return self.value

    def relu6(self, output: str = "") -> None:
        self.node("Clip", self.value, "zero", "six", output=output)

    def convolution(
        self,
        name: str,
        weight: NDArray[np.float32],
        bias: NDArray[np.float32],
        *,
        stride: int = 1,
        groups: int = 1,
    ) -> None:
        """Weight (out, in, height, width), padded like TensorFlow's SAME."""
        self.node(
            "Conv",
            self.value,
            self.constant(f"{name}.w", weight),
            self.constant(f"{name}.b", bias),
            auto_pad="SAME_UPPER",
            kernel_shape=list(weight.shape[2:]),
            strides=[stride, stride],
            group=groups,
        )

    def serialised(self, name: str, outputs: dict[str, list[Any]]) -> bytes:
        """The checked model. ``outputs``: name → shape, all float32."""
        from onnx import TensorProto, checker, helper

        pixels = helper.make_tensor_value_info(
            "pixels", TensorProto.UINT8, ["n", "height", "width", 3]
        )
        results = [
            helper.make_tensor_value_info(output, TensorProto.FLOAT, shape)
            for output, shape in outputs.items()
        ]
        model = helper.make_model(
            helper.make_graph(self.nodes, name, [pixels], results, self.constants),
            opset_imports=[helper.make_opsetid("", OPSET)],
            ir_version=8,
            producer_name="photocraft-local",
        )
        checker.check_model(model)
        return bytes(model.SerializeToString())


def folded(
    weight: NDArray[Any],
    gain: NDArray[Any],
    shift: NDArray[Any],
    mean: NDArray[Any],
    variance: NDArray[Any],
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """A convolution's weight (out, …) and its batch norm as one weight and bias."""
    factor = gain.astype(np.float64) / np.sqrt(variance.astype(np.float64) + NORM_EPSILON)
    scaled = weight * factor[:, None, None, None]
    return scaled.astype(np.float32), (shift - mean * factor).astype(np.float32)


NORM_EPSILON = 1e-3
