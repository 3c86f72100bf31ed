"""The derived command: on many cards, for many models, with the reasons, or why it cannot be."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from server_parts import GIB, QWEN3_8B, install_smi, weights

from photocraft_local.errors import ModelError
from photocraft_local.serving.endpoint import Endpoint
from photocraft_local.serving.vllm import devices
from photocraft_local.serving.vllm.checkpoint import Checkpoint
from photocraft_local.serving.vllm.command import ServeCommand, derive_command
from photocraft_local.serving.vllm.deriving import needs
from photocraft_local.serving.vllm.devices import choose_device
from photocraft_local.serving.vllm.gpus import Gpu, GpuReport
from photocraft_local.serving.vllm.memory import RESERVE
from photocraft_local.serving.vllm.program import Program

CUDA = Program(Path("/env/bin/vllm"), "0.32.0", for_cpu=False)
CPU = Program(Path("/env/bin/vllm"), "0.32.0", for_cpu=True)
SOCKET = Endpoint.at_socket(Path("/run/x.sock"))


def card(total: float, capability: tuple[int, int] = (8, 9), used: float = 0.5, n: int = 0) -> Gpu:
    return Gpu(n, f"GPU-{n}", "A card", int(total * GIB), int((total - used) * GIB), capability)


@pytest.fixture(scope="module")
def eight(tmp_path_factory: pytest.TempPathFactory) -> Checkpoint:
    """As large as Qwen3-VL-8B in 16 bits."""
    folder = tmp_path_factory.mktemp("w") / "Qwen3-VL-8B-Instruct"
    return Checkpoint.read(weights(folder, sizes=QWEN3_8B, size=int(17.5e9), files=4))


def derived(checkpoint: Checkpoint, *gpus: Gpu, program: Program = CUDA) -> ServeCommand:
    chosen = choose_device(checkpoint, program, GpuReport(gpus, "no GPU" * (not gpus), "get one"))
    return derive_command(program, checkpoint, chosen, SOCKET, Path("/media"))


def options(command: ServeCommand) -> dict[str, str]:
    return {flag.name: flag.value for flag in command.flags}


def test_a_thinking_variant_gets_a_parser_and_others_do_not(
    eight: Checkpoint, tmp_path: Path
) -> None:
    assert "--reasoning-parser" not in options(derived(eight, card(80)))
    folder = weights(tmp_path / "Qwen3-VL-8B-Thinking", sizes=QWEN3_8B, size=int(17.5e9))
    template = "{{- '<|im_start|>assistant\\n<think>\\n' }}"
    (folder / "chat_template.json").write_text(json.dumps({"chat_template": template}), "utf-8")
    command = derived(Checkpoint.read(folder), card(80))
    assert options(command)["--reasoning-parser"] == "qwen3"
    # The schema must not hold the reasoning: vLLM's own default, which nothing here overrides.
    assert "enable_in_reasoning" not in options(command)["--structured-outputs-config"]


def test_every_flag_has_a_reason_and_the_words_are_those_of_the_command(eight: Checkpoint) -> None:
    command = derived(eight, card(80, (9, 0)))
    assert all(flag.why for flag in command.flags)
    assert len({flag.name for flag in command.flags}) == len(command.flags)
    assert command.argv[:3] == ["/env/bin/vllm", "serve", str(eight.folder)]
    assert "--enable-prefix-caching" in command.argv
    found = options(command)
    assert found["--uds"] == "/run/x.sock"
    assert found["--allowed-local-media-path"] == "/media"
    assert found["--max-model-len"] == "65536"
    assert found["--tensor-parallel-size"] == "1"
    assert found["--kv-cache-dtype"] == "auto"
    assert "--quantization" not in found
    guided = {"backend": "guidance", "disable_any_whitespace": True}
    assert json.loads(found["--structured-outputs-config"]) == guided


def test_a_port_is_one_of_loopback(eight: Checkpoint) -> None:
    chosen = choose_device(eight, CUDA, GpuReport((card(80),)))
    endpoint = Endpoint("http://127.0.0.1:8123", token="s3cret")
    command = derive_command(CUDA, eight, chosen, endpoint, Path("/media"))
    found = options(command)
    assert (found["--host"], found["--port"]) == ("127.0.0.1", "8123")
    assert "--uds" not in found
    assert "s3cret" not in " ".join(command.argv)


@pytest.mark.parametrize(
    ("gpu", "expected"),
    [  # window, KV cache, weights
        (card(80, (9, 0)), (65536, "auto", None)),
        (card(48, (8, 9)), (65536, "auto", None)),
        (card(24, (8, 9)), (49152, "fp8", None)),
        (card(24, (8, 6)), (24576, "auto", None)),
        (card(16, (8, 9)), (32768, "fp8", "fp8")),
    ],
)
def test_smaller_cards_get_fp8_where_they_compute_it_and_less_window(
    eight: Checkpoint, gpu: Gpu, expected: tuple[int, str, str | None]
) -> None:
    found = options(derived(eight, gpu))
    window, kv, quantization = expected
    assert int(found["--max-model-len"]) == window
    assert (found["--kv-cache-dtype"], found.get("--quantization")) == (kv, quantization)


def test_an_older_card_runs_in_the_numbers_it_has(eight: Checkpoint) -> None:
    assert options(derived(eight, card(48, (7, 5))))["--dtype"] == "float16"
    assert options(derived(eight, card(48, (8, 0))))["--dtype"] == "bfloat16"
    with pytest.raises(ModelError, match=r"capability 7\.0, vLLM needs 7\.5"):
        derived(eight, card(48, (7, 0)))


def test_the_memory_that_is_free_decides_not_that_which_is_built_in(eight: Checkpoint) -> None:
    busy = options(derived(eight, card(80, (9, 0), used=55)))
    assert float(busy["--gpu-memory-utilization"]) == pytest.approx(24 / 80, abs=0.011)
    assert int(busy["--max-model-len"]) < 65536 or busy["--kv-cache-dtype"] == "fp8"
    assert options(derived(eight, card(80, (9, 0))))["--gpu-memory-utilization"] == "0.92"


@pytest.mark.parametrize(
    ("gpus", "count"), [(1, "1"), (2, "2"), (3, "2"), (4, "4"), (6, "4"), (8, "8"), (9, "8")]
)
def test_several_cards_share_a_model_that_divides(eight: Checkpoint, gpus: int, count: str) -> None:
    found = derived(eight, *(card(24, (8, 6), n=n) for n in range(gpus)))
    assert options(found)["--tensor-parallel-size"] == count
    assert options(found).get("--mm-encoder-tp-mode") == ("data" if count != "1" else None)
    assert len(found.chosen.gpus) == int(count)
    if gpus in (3, 6, 9):
        assert "cannot share 32 attention heads evenly" in found.chosen.why


def test_unlike_cards_are_not_mixed_and_the_freest_are_taken(eight: Checkpoint) -> None:
    small = Gpu(0, "GPU-0", "Small", 8 * GIB, 8 * GIB, (8, 6))
    alike = [card(24, (8, 6), used=used, n=n) for n, used in enumerate((9, 1, 2), start=1)]
    chosen = derived(eight, small, *alike).chosen
    assert [gpu.index for gpu in chosen.gpus] == [2, 3]
    assert chosen.device.free == alike[2].free  # the fuller one of the two


def test_a_model_that_does_not_fit_says_how_much_and_which_would(
    eight: Checkpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = install_smi(tmp_path, "", processes="4021, /usr/bin/game, 1300")
    monkeypatch.setenv("PATH", f"{home}:{os.environ['PATH']}")
    with pytest.raises(ModelError) as info:
        derived(eight, card(8, (8, 9)))
    assert info.value.message.startswith("Qwen3-VL-8B-Instruct needs 1")
    assert "6.5 GiB of 8.0 GiB can be used now" in info.value.message
    assert "weights.md has smaller rows, e.g. Qwen3-VL-4B-Instruct" in info.value.hint
    assert "(now game (process 4021): 1,300 MiB)" in info.value.hint


def test_no_gpu_is_said_and_what_would_be_needed(eight: Checkpoint) -> None:
    with pytest.raises(ModelError, match="no GPU") as info:
        derived(eight)
    assert info.value.hint == "get one"
    full, least, fp8 = needs(eight)
    assert "16-bit: 30 GiB for a window of 65,536 tokens" in full
    assert "for a window of 8,192 tokens" in least
    assert fp8.startswith("FP8 (compute capability 8.9 or newer): 1")


def test_the_cpu_is_taken_where_vllm_is_built_for_it(tmp_path: Path) -> None:
    tiny = Checkpoint.read(weights(tmp_path / "w", torch_dtype="float32"))
    command = derived(tiny, card(80), program=CPU)
    found = options(command)
    assert command.chosen.device.kind == "cpu"
    assert "1 GPU unused" in command.chosen.why
    assert "--enforce-eager" in found
    assert "--gpu-memory-utilization" not in found
    assert "--tensor-parallel-size" not in found
    assert found["--dtype"] == "float32"
    assert int(found["--kv-cache-memory-bytes"]) == 4 * 65536 * 2 * 2 * 2 * 32 * 4


def test_the_cpu_needs_memory_too(eight: Checkpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "system_memory", lambda: (16 * GIB, 12 * GIB))
    with pytest.raises(ModelError, match=r"of the system's memory .*10\.9 GiB of 16\.0 GiB"):
        derived(eight, program=CPU)


def test_memory_of_a_container_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "_GROUP", tmp_path)
    total, free = devices.system_memory()
    assert 0 < free <= total
    (tmp_path / "memory.max").write_text(f"{GIB}\n")
    (tmp_path / "memory.current").write_text(f"{GIB // 4}\n")
    assert devices.system_memory() == (GIB, GIB - GIB // 4)
    (tmp_path / "memory.max").write_text("max\n")
    assert devices.system_memory()[0] == total


def test_a_card_that_shares_the_systems_memory(
    eight: Checkpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(devices, "system_memory", lambda: (119 * GIB, 100 * GIB))
    command = derived(eight, Gpu(0, "GPU-0", "NVIDIA GB10", 0, 0, (12, 1)))
    assert options(command)["--gpu-memory-utilization"] == "0.83"
    assert "shares the system's memory" in command.chosen.why


@pytest.mark.parametrize(
    ("method", "gpu", "said"),
    [("fp8", card(48, (8, 6)), "FP8 needs 8.9"), ("awq", card(48, (8, 6)), "")],
)
def test_a_folder_that_is_quantised_already(
    tmp_path: Path, method: str, gpu: Gpu, said: str
) -> None:
    config: dict[str, Any] = {"quantization_config": {"quant_method": method}}
    found = Checkpoint.read(
        weights(tmp_path / "Qwen3-VL-8B-Instruct-FP8", sizes=QWEN3_8B, size=9 * GIB, **config)
    )
    if said:
        with pytest.raises(ModelError, match=said) as info:
            derived(found, gpu)
        assert "row Qwen3-VL-8B-Instruct" in info.value.hint
    assert "--quantization" not in options(derived(found, card(24, (8, 9))))
    with pytest.raises(ModelError, match="which the CPU cannot run"):
        derived(found, program=CPU)


@given(
    total=st.floats(2, 200),
    used=st.floats(0, 1),
    capability=st.sampled_from([(7, 5), (8, 0), (8, 6), (8, 9), (9, 0), (10, 0), (12, 0)]),
    count=st.integers(1, 5),
)
def test_whatever_is_derived_fits_and_holds_a_picture(
    eight: Checkpoint, total: float, used: float, capability: tuple[int, int], count: int
) -> None:
    gpus = [card(total, capability, used=total * used, n=n) for n in range(count)]
    try:
        command = derived(eight, *gpus)
    except ModelError as error:
        assert "needs" in error.message  # noqa: PT017
        return
    found, fit, limits = options(command), command.fit, command.limits
    free = command.chosen.device.free
    assert float(found["--gpu-memory-utilization"]) * total * GIB <= free - RESERVE + 1e-6 * free
    assert fit.needed <= float(found["--gpu-memory-utilization"]) * total * GIB + 1
    assert limits.picture_tokens <= int(found["--max-num-batched-tokens"])
    assert limits.max_pixels == limits.picture_tokens * 32**2
    assert 0 < limits.min_pixels <= limits.max_pixels
    assert limits.picture_tokens * 4 <= limits.window
    assert json.loads(found["--limit-mm-per-prompt"])["image"] == limits.pictures >= 24
