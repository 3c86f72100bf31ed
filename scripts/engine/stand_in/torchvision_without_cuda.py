"""Lets a torchvision that was built for CUDA import beside a torch that was built for the CPU.

Its compiled operators cannot load there, yet the import registers their shapes and fails where
an operator was never declared. The hook declares the two; calling one still fails, as it should.
"""

import sys
from importlib.abc import MetaPathFinder

SIGNATURE = "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"
_declared = []  # a torch library lives as long as its object


class _BeforeTorchvision(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name == "torchvision":
            sys.meta_path.remove(self)
            _declare_operators()
        return None  # noqa: RET501 – "not found here", for the next finder


def _declare_operators():
    import torch

    if torch.version.cuda is not None:
        return
    library = torch.library.Library("torchvision", "DEF")
    for operator in ("nms", "qnms"):
        library.define(operator + SIGNATURE)
    _declared.append(library)


sys.meta_path.insert(0, _BeforeTorchvision())
