"""Window and stores of the transformers backbone from free memory, at published shapes."""

from __future__ import annotations

from pathlib import Path

import pytest

from photocraft_local.errors import ModelError
from photocraft_local.serving.transformers.memory import (
    CHUNK,
    LONGEST_ON_CPU,
    check,
    check_passage,
    plan,
    weight_bytes,
)
from photocraft_local.serving.vllm.checkpoint import Checkpoint
from photocraft_local.serving.vllm.memory import GIB


def shape(**changes: object) -> Checkpoint:
    """Qwen2.5-VL-7B-Instruct as published, 16.6 GB in bfloat16."""
    sizes: dict[str, object] = {
        "folder": Path("/weights/Qwen2.5-VL-7B-Instruct"),
        "model_type": "qwen2_5_vl",
        "row": "Qwen2.5-VL-7B-Instruct",
        "weight_bytes": 16_584_333_312,
        "vision_bytes": 1_353_000_000,
        "wide_bytes": 13_000_000_000,
        "dtype": "bfloat16",
        "quantization": "",
        "layers": 28,
        "hidden_size": 3584,
        "intermediate_size": 18944,
        "heads": 28,
        "kv_heads": 4,
        "head_dim": 128,
        "vocabulary": 152064,
        "longest_window": 128000,
        "min_pixels": 3136,
        "max_pixels": 12845056,
    }
    return Checkpoint(**(sizes | changes))  # type: ignore[arg-type]


TOKEN = 2 * 28 * 4 * 128 * 2  # bytes of keys and values, 16 bits


@pytest.mark.parametrize(
    ("free_gib", "window"), [(62, 65536), (10, 65536), (6.5, 32768), (4.5, 24576), (3.4, 8192)]
)
def test_the_window_follows_what_is_free_beside_the_model(free_gib: float, window: int) -> None:
    made = plan(shape(), on_gpu=True, number=2, free=int(free_gib * GIB))
    assert made.window == window
    used = TOKEN * window * (1 + 1 / 28) + made.kept + made.features
    assert used <= free_gib * GIB - GIB  # the reserve
    assert TOKEN * window * 0.8 <= made.kept <= 4 * TOKEN * window


def test_a_cpu_keeps_a_quarter_free_and_its_windows_short() -> None:
    made = plan(shape(), on_gpu=False, number=4, free=64 * GIB)
    assert made.window == LONGEST_ON_CPU
    assert made.kept + made.features + 2 * TOKEN * made.window <= 48 * GIB
    assert plan(shape(longest_window=4096), on_gpu=False, number=4, free=64 * GIB).window == 4096


def test_weights_count_in_the_numbers_that_they_are_loaded_in() -> None:
    assert weight_bytes(shape(), 2) == 16_584_333_312
    assert weight_bytes(shape(), 4) == 2 * 16_584_333_312
    assert weight_bytes(shape(dtype="float32"), 2) == 16_584_333_312 // 2


def test_too_little_memory_says_how_much_and_names_a_smaller_row() -> None:
    check(shape(), on_gpu=True, number=2, free=24 * GIB)
    with pytest.raises(
        ModelError, match=r"needs \d+\.\d GiB on the GPU, 16\.0 GiB are free"
    ) as gpu:
        check(shape(), on_gpu=True, number=2, free=16 * GIB)
    assert "Qwen2.5-VL-3B-Instruct" in gpu.value.hint
    with pytest.raises(ModelError, match="of the system's memory"):
        check(shape(), on_gpu=False, number=4, free=32 * GIB)
    with pytest.raises(ModelError, match="GiB are free"):
        plan(shape(), on_gpu=True, number=2, free=GIB)


def test_a_model_for_the_gpu_needs_room_in_the_system_while_it_loads() -> None:
    check_passage(shape(), number=2, free=16 * GIB)
    with pytest.raises(ModelError, match=r"15\.4 GiB, of which 15\.0 GiB are free"):
        check_passage(shape(), number=2, free=15 * GIB)


@pytest.mark.parametrize(("on_gpu", "number"), [(True, 2), (False, 4)])
def test_what_is_said_to_be_needed_is_enough_and_hardly_less_is_not(
    on_gpu: bool, number: int
) -> None:
    with pytest.raises(ModelError) as caught:
        check(shape(), on_gpu=on_gpu, number=number, free=1)
    need = float(caught.value.message.split("needs ")[1].split(" GiB")[0])
    check(shape(), on_gpu=on_gpu, number=number, free=int((need + 6) * GIB))
    with pytest.raises(ModelError):
        check(shape(), on_gpu=on_gpu, number=number, free=int((need - 12) * GIB))


def test_pictures_take_a_sixteenth_of_the_window_or_what_the_family_shows() -> None:
    small = plan(shape(), on_gpu=True, number=2, free=int(3.4 * GIB))
    assert small.picture_tokens(shape()) == 1024
    large = plan(shape(), on_gpu=True, number=2, free=62 * GIB)
    assert large.picture_tokens(shape()) == 4096
    assert large.picture_tokens(shape(max_pixels=256 * 28 * 28)) == 256
    assert (small.max_pictures, large.max_pictures) == (32, 128)
    assert CHUNK >= 1024
