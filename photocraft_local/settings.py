"""One frozen, self-validating settings object.

Order of sources, later wins: defaults, the TOML file (``~/.config/photocraft/config.toml`` or
``PHOTOCRAFT_CONFIG``), ``PHOTOCRAFT_*`` variables, keyword arguments. Unknown keys are errors.
Nothing is read at import.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from photocraft_local.errors import SettingsError

_PREFIX = "PHOTOCRAFT_"
HEMISPHERES = ("north", "south")
VECTOR_STORES = ("auto", "native", "faiss", "numpy", "faiss-gpu")
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


def _home(variable: str, fallback: str) -> Path:
    value = os.environ.get(variable)
    if value:
        return Path(value)
    try:
        return Path.home() / fallback
    except RuntimeError as exc:  # a user without HOME and without an account entry
        raise SettingsError(
            f"your home folder is not known, and {variable} is not set: {exc}",
            hint=f"set HOME, or {variable}",
        ) from exc


def default_library_path() -> Path:
    return _home("XDG_DATA_HOME", ".local/share") / "photocraft" / "library"


def default_memory_path() -> Path:
    return _home("XDG_DATA_HOME", ".local/share") / "photocraft" / "memory"


def default_cache_path() -> Path:
    return _home("XDG_CACHE_HOME", ".cache") / "photocraft"


def default_config_path() -> Path:
    value = os.environ.get(_PREFIX + "CONFIG")
    return Path(value) if value else _home("XDG_CONFIG_HOME", ".config") / "photocraft/config.toml"


def _option(description: str, **kwargs: Any) -> Any:
    return field(metadata={"description": description}, **kwargs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything that a person can set; each field carries its description."""

    library: Path = _option(
        "folder of the library (database, vectors, crops, traces)",
        default_factory=default_library_path,
    )
    cache: Path = _option(
        "folder of derived data that can be rebuilt (converted models, gazetteer)",
        default_factory=default_cache_path,
    )
    encoder: str = _option(
        "'labels' (the embedded default), 'null', or the path of a folder: an ONNX dual encoder"
        " or Qwen3-VL-Embedding (weights.md says which and how)",
        default="labels",
    )
    backbone: str = _option(
        "who drives the agent loop: 'planner' (rules), 'vllm' (a Qwen-VL model on a server),"
        " 'transformers' (the model in this process), or 'auto': a model where weights or"
        " backbone_url are set",
        default="auto",
    )
    weights: Path | None = _option(
        "folder of the Qwen-VL backbone's weights (weights.md says which and how)", default=None
    )
    backbone_url: str = _option(
        "a model server that you run yourself: http://127.0.0.1:PORT or unix:/PATH;"
        " without it photocraft starts its own",
        default="",
    )
    server_port: int = _option(
        "loopback port (1024 to 65535) of photocraft's own model server; 0 = a Unix socket",
        default=0,
    )
    server_start_seconds: float = _option(
        "how long the model server may take to start", default=1200.0
    )
    reply_seconds: float = _option(
        "how long the model server may take for one reply", default=300.0
    )
    max_pixels: int = _option(
        "largest picture that is decoded, in pixels of its header", default=300_000_000
    )
    workers: int = _option("decode threads; 0 = one per usable core", default=0)
    batch_size: int = _option("photos that are embedded and committed together", default=16)
    max_turns: int = _option("tool calls that one question may take", default=30)
    compact_at: float = _option(
        "share of the backbone's window at which older turns become a summary", default=0.8
    )
    verify: bool = _option(
        "a model looks at each photo again before an answer with it is accepted", default=True
    )
    verify_threshold: float = _option(
        "probability of yes from which a photo passes that check, calibrated", default=0.5
    )
    event_gap_hours: float = _option("a longer pause starts a new event", default=3.0)
    event_gap_km: float = _option("a longer jump starts a new event", default=5.0)
    crops_megabytes: int = _option(
        "room that pictures of crops may take after a compaction; cleared ones are cut again",
        default=500,
    )
    crops_days: float = _option(
        "a compaction clears pictures of crops that were not used for so many days", default=90.0
    )
    lock_wait_seconds: float = _option("how long to wait for a locked library", default=10.0)
    hemisphere: str = _option("whose seasons are meant: 'north' or 'south'", default="north")
    first_weekday: str = _option(
        "the day on which a week begins, e.g. 'monday' or 'sunday'", default="monday"
    )
    memory: bool = _option("keep episodes and skills for later questions", default=True)
    skills: bool = _option(
        "learn ways of searching from answers that hold, and give them as hints (needs memory)",
        default=True,
    )
    skill_seeds: bool = _option("give the package's own hints, too (needs skills)", default=True)
    memory_folder: Path = _option(
        "folder of the person's skills, for all libraries", default_factory=default_memory_path
    )
    summary: str = _option(
        "who writes the summary of older turns: 'code' with a few sentences of the model, or the"
        " 'model' all of it, for comparison",
        default="code",
    )
    encoder_device: str = _option(
        "where a placed encoder runs: 'cuda', 'cpu', or 'auto': CUDA where it works", default="auto"
    )
    encoder_engine: str = _option(
        "what runs a Qwen3-VL-Embedding folder: 'vllm', 'transformers', or 'auto': vLLM on a GPU"
        " where it is installed",
        default="auto",
    )
    encoder_dim: int = _option(
        "numbers kept of a Qwen3-VL-Embedding vector, 64 up to all of them; 0 = all", default=0
    )
    encoder_pixels: int = _option(
        "the most pixels of a photo that Qwen3-VL-Embedding sees", default=1_843_200
    )
    encoder_instruction: str = _option(
        "what Qwen3-VL-Embedding is told to do with the words of a search",
        default="Retrieve images or text relevant to the user's query.",
    )
    episodic: bool = _option(
        "keep what a question wants, its plan and what came of it; reflect on the way, and recall"
        " earlier questions",
        default=True,
    )
    vector_store: str = _option(
        "what searches vectors: 'auto', 'native' (the C extension), 'faiss', 'numpy', 'faiss-gpu',"
        " or 'qdrant:URL' for a Qdrant server on this machine",
        default="auto",
    )
    vector_hosts: str = _option(
        "other machines whose Qdrant server may have the vectors, separated by commas; by default"
        " none",
        default="",
    )
    vector_key_file: Path | None = _option(
        "file that holds the key of the Qdrant server, if it wants one", default=None
    )
    max_tokens: int = _option(
        "tokens of prompts and replies that one question may take, those from a cache not counted;"
        " 0 = any number",
        default=0,
    )
    max_seconds: float = _option("seconds that one question may take; 0 = any number", default=0.0)
    restarts: int = _option(
        "fresh attempts after one that brought no answer, each with what is left of it", default=1
    )
    working: bool = _option(
        "older turns become a summary; without it they are dropped, for comparison", default=True
    )

    runs: int = _option(
        "independent runs of a question by a model (1 to 16), whose candidates are judged by"
        " evidence",
        default=1,
    )
    decoded_megabytes: int = _option(
        "memory that decoded photos may take between two looks at them; 0 = none is kept",
        default=512,
    )
    decode_device: str = _option(
        "what decodes JPEG files when photos are indexed: 'cpu', or 'gpu' (nvImageCodec, the extra"
        " gpu-decode; never proven yet)",
        default="cpu",
    )
    cutoff_shift: float = _option(
        "what is added to the encoder's cut-off, as `photocraft eval retrieval` recommends: above 0"
        " searches return less, below 0 more",
        default=0.0,
    )

    def __post_init__(self) -> None:
        checks = {
            "server_port": self.server_port == 0 or 1024 <= self.server_port <= 65535,
            "server_start_seconds": self.server_start_seconds > 0,
            "reply_seconds": self.reply_seconds > 0,
            "max_pixels": self.max_pixels >= 1_000_000,
            "workers": 0 <= self.workers <= 256,
            "batch_size": 1 <= self.batch_size <= 4096,
            "max_turns": 1 <= self.max_turns <= 1000,
            "compact_at": 0.2 <= self.compact_at <= 0.95,
            "verify_threshold": 0 < self.verify_threshold < 1,
            "event_gap_hours": self.event_gap_hours > 0,
            "event_gap_km": self.event_gap_km > 0,
            "crops_megabytes": self.crops_megabytes >= 0,
            "crops_days": self.crops_days >= 0,
            "lock_wait_seconds": self.lock_wait_seconds >= 0,
            "hemisphere": self.hemisphere in HEMISPHERES,
            "vector_store": self.vector_store in VECTOR_STORES
            or self.vector_store.startswith("qdrant:"),
            "runs": 1 <= self.runs <= 16,
            "first_weekday": self.first_weekday in WEEKDAYS,
            "summary": self.summary in ("code", "model"),
            "encoder_device": self.encoder_device in ("auto", "cuda", "cpu"),
            "encoder_engine": self.encoder_engine in ("auto", "vllm", "transformers"),
            "encoder_dim": self.encoder_dim >= 0,
            "encoder_pixels": self.encoder_pixels >= 4096,
            "max_tokens": self.max_tokens >= 0,
            "max_seconds": self.max_seconds >= 0,
            "restarts": 0 <= self.restarts <= 10,
            "decoded_megabytes": self.decoded_megabytes >= 0,
            "decode_device": self.decode_device in ("cpu", "gpu"),
            "cutoff_shift": -5 <= self.cutoff_shift <= 5,
        }
        for name, good in checks.items():
            if not good:
                raise SettingsError(
                    f"setting {name!r} is out of range: {getattr(self, name)!r}",
                    hint=f"it means: {describe()[name]}",
                )

    @classmethod
    def load(cls, **overrides: Any) -> Settings:
        """Settings from file, environment and ``overrides`` (``None`` = not given)."""
        values: dict[str, Any] = {}
        if config := _config_file():
            values |= _checked(_read_toml(config), f"settings file {config}")
        environment = {
            key.removeprefix(_PREFIX).lower(): value
            for key, value in os.environ.items()
            if key.startswith(_PREFIX)
            and key != _PREFIX + "CONFIG"
            # those of whoever runs the test suite (CONTRIBUTING.md) reach its child processes
            and not key.startswith(_PREFIX + "TEST_")
        }
        values |= _checked(environment, f"{_PREFIX}* environment variables")
        given = {key: value for key, value in overrides.items() if value is not None}
        return cls(**(values | _checked(given, "arguments")))


def describe() -> dict[str, str]:
    """Field name → description."""
    return {f.name: str(f.metadata["description"]) for f in fields(Settings)}


def _config_file() -> Path | None:
    """The settings file, None if there is none; one that was named has to be there."""
    path = default_config_path()
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        if not os.environ.get(_PREFIX + "CONFIG"):
            return None
    except OSError:
        pass  # reading it says why
    return path


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except OSError as exc:
        raise SettingsError(
            f"settings file {path} cannot be read: {exc.strerror}",
            hint="check that it is a file and yours; "
            f"{_PREFIX}CONFIG names another one, unset it for the usual place",
        ) from exc
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as exc:
        raise SettingsError(
            f"settings file {path} cannot be read: {exc}",
            hint="mend or remove the file; it is TOML with one key per line",
        ) from exc


def _checked(raw: Mapping[str, Any], source: str) -> dict[str, Any]:
    kinds: dict[str, str] = {f.name: str(f.type) for f in fields(Settings)}
    values: dict[str, Any] = {}
    for key, value in raw.items():
        if key not in kinds:
            raise SettingsError(
                f"unknown setting {key!r} in {source}",
                hint=f"known settings: {', '.join(sorted(kinds))}",
            )
        values[key] = _converted(key, value, kinds[key], source)
    return values


_FALSE_WORDS = {"0", "false", "no", "off"}
_TRUE_WORDS = {"1", "true", "yes", "on"}


def _converted(key: str, value: Any, kind: str, source: str) -> Any:
    try:
        if value == "":  # a variable of a script that was never set; a Path of it is "."
            raise ValueError("empty")
        if "\0" in str(value):
            raise ValueError("a NUL character")
        if kind in ("Path", "Path | None"):
            return Path(value).expanduser().absolute()
        if kind == "bool":
            return value if isinstance(value, bool) else _boolean(str(value))
        if isinstance(value, bool):
            raise TypeError("a yes or no")
        if kind == "int":
            if isinstance(value, float) and not value.is_integer():  # of a TOML file; inf, nan too
                raise ValueError("a fraction")
            return int(value)
        if kind == "float":
            return float(value)
        return str(value)
    # RuntimeError: the home of nobody; OSError: the folder that the command runs in is gone
    except (TypeError, ValueError, RuntimeError, OSError) as exc:
        raise SettingsError(
            f"setting {key!r} in {source} is not a valid {kind.split()[0].lower()}: {value!r}",
            hint=f"it means: {describe()[key]}",
        ) from exc


def _boolean(word: str) -> bool:
    if word.lower() in _TRUE_WORDS:
        return True
    if word.lower() in _FALSE_WORDS:
        return False
    raise ValueError(word)
