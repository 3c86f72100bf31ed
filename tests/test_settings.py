"""Settings: sources in order, conversion, and errors that name key, source and way out."""

from __future__ import annotations

from pathlib import Path

import pytest

from photocraft_local.errors import SettingsError
from photocraft_local.settings import Settings, default_config_path, describe


def write_config(text: str) -> None:
    path = default_config_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def test_defaults_live_in_the_users_folders(tmp_path: Path) -> None:
    settings = Settings.load()
    assert settings.library == tmp_path / "home/data/photocraft/library"
    assert settings.cache == tmp_path / "home/cache/photocraft"


def test_arguments_beat_environment_beats_file(monkeypatch: pytest.MonkeyPatch) -> None:
    write_config("batch_size = 3\nworkers = 3\nmax_turns = 3\n")
    monkeypatch.setenv("PHOTOCRAFT_WORKERS", "4")
    monkeypatch.setenv("PHOTOCRAFT_MAX_TURNS", "4")
    settings = Settings.load(max_turns=5)
    assert (settings.batch_size, settings.workers, settings.max_turns) == (3, 4, 5)


def test_an_argument_of_none_is_not_given() -> None:
    assert Settings.load(workers=None) == Settings.load()


def test_paths_are_absolute_and_the_home_sign_is_understood() -> None:
    assert Settings.load(library="~/photos-index").library == Path.home() / "photos-index"


@pytest.mark.parametrize("name", ["library", "cache", "encoder", "workers"])
def test_an_empty_value_is_not_the_current_folder(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A script's variable that was never set must not make the folder it runs in a library."""
    with pytest.raises(SettingsError, match=f"'{name}' in arguments .*''"):
        Settings.load(**{name: ""})
    monkeypatch.setenv(f"PHOTOCRAFT_{name.upper()}", "")
    with pytest.raises(SettingsError, match=f"'{name}' in PHOTOCRAFT_"):
        Settings.load()


@pytest.mark.parametrize("path", ["~nobody-has-this-name/x", "a\0b"])
def test_a_path_that_cannot_be_one_is_an_error(path: str) -> None:
    with pytest.raises(SettingsError, match="library"):
        Settings.load(library=path)


@pytest.mark.parametrize("value", ["true", "1.5", "inf", "nan", "[1]"])
def test_what_is_no_whole_number_is_an_error(value: str) -> None:
    write_config(f"workers = {value}\n")
    with pytest.raises(SettingsError, match="'workers'"):
        Settings.load()


def test_a_settings_file_that_was_named_has_to_be_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in (tmp_path / "absent.toml", tmp_path):
        monkeypatch.setenv("PHOTOCRAFT_CONFIG", str(path))
        with pytest.raises(SettingsError, match="cannot be read") as refused:
            Settings.load()
        assert "Errno" not in refused.value.message
        assert "PHOTOCRAFT_CONFIG" in refused.value.hint


def test_a_user_without_a_home_is_told_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", homeless)
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    with pytest.raises(SettingsError, match="XDG_CONFIG_HOME"):
        Settings.load()


def test_unknown_keys_name_their_source_and_the_known_keys() -> None:
    write_config("batchsize = 3\n")
    with pytest.raises(SettingsError, match=r"'batchsize' in settings file .*config\.toml") as info:
        Settings.load()
    assert "batch_size" in info.value.hint


def test_an_unknown_variable_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PHOTOCRAFT_LIBARY", "/x")
    with pytest.raises(SettingsError, match="libary"):
        Settings.load()


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("workers", "many"),
        ("workers", "-1"),
        ("batch_size", "0"),
        ("memory", "perhaps"),
        ("event_gap_hours", "0"),
        ("max_pixels", "12"),
        ("compact_at", "0.1"),
        ("compact_at", "1"),
    ],
)
def test_bad_values_say_what_the_setting_means(
    monkeypatch: pytest.MonkeyPatch, key: str, value: str
) -> None:
    monkeypatch.setenv(f"PHOTOCRAFT_{key.upper()}", value)
    with pytest.raises(SettingsError, match=key) as info:
        Settings.load()
    assert describe()[key] in info.value.hint


def test_a_broken_file_is_named() -> None:
    write_config("= nonsense")
    with pytest.raises(SettingsError, match=r"config\.toml"):
        Settings.load()


@pytest.mark.parametrize(("word", "value"), [("yes", True), ("0", False), ("Off", False)])
def test_booleans_take_words(monkeypatch: pytest.MonkeyPatch, word: str, value: bool) -> None:
    monkeypatch.setenv("PHOTOCRAFT_MEMORY", word)
    assert Settings.load().memory is value
