"""Which backbone runs: by the settings, by what is installed; each refusal says the way out."""

from __future__ import annotations

from pathlib import Path

import pytest

from photocraft_local import PhotoSearch, Settings
from photocraft_local.app import backbones
from photocraft_local.app.backbones import (
    LocalBackbone,
    ServedBackbone,
    available,
    chosen,
    make_backbone,
)
from photocraft_local.errors import MissingExtraError, SettingsError
from photocraft_local.serving.transformers import libraries
from photocraft_local.serving.vllm import program


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> object:
    """Makes engines look installed, or not."""

    def install(*, vllm: bool, transformers: bool) -> None:
        def find() -> program.Program:
            if not vllm:
                raise MissingExtraError("vllm", "gpu", "the served backbone")
            return program.Program(tmp_path / "vllm", program.TESTED, False)

        monkeypatch.setattr(program, "find_program", find)
        names = ["os" if transformers else "no_such_module"]
        monkeypatch.setattr(libraries, "MODULES", names)

    return install


@pytest.mark.parametrize(
    ("vllm", "transformers", "expected"),
    [
        (True, True, "vllm"),
        (True, False, "vllm"),
        (False, True, "transformers"),
        (False, False, "vllm"),  # whose error says what to install
    ],
)
def test_auto_takes_what_is_installed(
    installed: object, tmp_path: Path, vllm: bool, transformers: bool, expected: str
) -> None:
    installed(vllm=vllm, transformers=transformers)  # type: ignore[operator]
    assert chosen(Settings(weights=tmp_path)) == expected
    assert chosen(Settings()) == "planner"
    assert chosen(Settings(weights=tmp_path, backbone_url="unix:/s")) == "vllm"
    assert {ability.name: ability.able for ability in available()} == {
        "planner": True,
        "vllm": vllm,
        "transformers": transformers,
    }


def test_what_cannot_run_names_what_is_missing(installed: object) -> None:
    installed(vllm=False, transformers=False)  # type: ignore[operator]
    why = {ability.name: ability.why for ability in available()}
    assert why["vllm"] == "vllm is not installed (the 'gpu' extra)"
    assert why["transformers"] == "no_such_module is not installed (the 'transformers' extra)"


def test_each_name_makes_its_backbone(tmp_path: Path) -> None:
    local = make_backbone(Settings(weights=tmp_path, backbone="transformers"))
    assert isinstance(local, LocalBackbone)
    served = make_backbone(Settings(weights=tmp_path, backbone="vllm"))
    assert isinstance(served, ServedBackbone)
    local.close()
    served.close()


def test_a_server_and_transformers_contradict_each_other(tmp_path: Path) -> None:
    settings = Settings(weights=tmp_path, backbone="transformers", backbone_url="unix:/s")
    with pytest.raises(SettingsError, match="unix:/s") as caught:
        chosen(settings)
    assert "leave backbone_url out" in caught.value.hint


def test_transformers_without_a_model_says_what_is_missing() -> None:
    with pytest.raises(SettingsError, match="weights"):
        LocalBackbone(Settings(backbone="transformers")).brain(print)


def test_transformers_that_is_not_installed_names_its_extra(
    installed: object, tmp_path: Path
) -> None:
    installed(vllm=True, transformers=False)  # type: ignore[operator]
    settings = Settings(weights=tmp_path, backbone="transformers")
    with pytest.raises(MissingExtraError) as caught:
        LocalBackbone(settings).brain(print)
    assert "photocraft-local[transformers]" in caught.value.hint


def test_without_any_engine_both_ways_out_are_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def missing(*_: object) -> None:
        raise MissingExtraError("vllm", "gpu", "the served backbone")

    monkeypatch.setattr(backbones.ServedBackbone, "_opened", missing)
    with pytest.raises(MissingExtraError) as caught:
        ServedBackbone(Settings(weights=tmp_path)).brain(print)
    assert "[gpu]" in caught.value.hint
    assert "[cpu,transformers]" in caught.value.hint


def test_the_parts_hold_one_backbone(tmp_path: Path) -> None:
    with PhotoSearch(Settings(library=tmp_path / "library", weights=tmp_path)) as search:
        assert search._parts.backbone() is search._parts.backbone()
