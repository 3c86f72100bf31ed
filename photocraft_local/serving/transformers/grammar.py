"""Holds the reply to a JSON schema, token by token, as the server's guidance back end does.

The same library, the same options (no idle whitespace): the same tokens are allowed. Knows no
model.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from photocraft_local.errors import ModelError

_KEPT = 32  # compiled grammars; a question uses a handful


class Grammars:
    """Of one tokenizer; compiled grammars are kept."""

    def __init__(self, tokenizer: Any, vocabulary: int) -> None:
        from llguidance.hf import from_tokenizer

        self._tokens = from_tokenizer(tokenizer, max(vocabulary, len(tokenizer)))
        self._compiled: dict[str, Any] = {}

    def held_to(self, schema: dict[str, Any]) -> Held:
        """Raises ModelError for a schema that is no grammar."""
        name = json.dumps(schema)
        if name not in self._compiled:
            while len(self._compiled) >= _KEPT:
                del self._compiled[next(iter(self._compiled))]
            self._compiled[name] = self._compile(schema)
        return Held(self._compiled[name].deep_copy())

    def _compile(self, schema: dict[str, Any]) -> Any:
        from llguidance import LLMatcher

        options: Any = {"whitespace_flexible": False}
        grammar = LLMatcher.grammar_from_json_schema(schema, defaults=options)
        matcher = LLMatcher(self._tokens, grammar, log_level=0)
        if matcher.is_error():
            raise ModelError(
                f"no grammar can be made of the schema: {matcher.get_error()[:200]}",
                hint="a tool's parameters use words of JSON schema that llguidance does not know",
            )
        return matcher


class Held:
    """One reply."""

    def __init__(self, matcher: Any) -> None:
        self._matcher = matcher

    def forbidden(self, vocabulary: int) -> np.ndarray:
        """(vocabulary,) True for each token that cannot come next; the end is a token too."""
        bits = np.frombuffer(self._matcher.compute_bitmask(), dtype=np.uint8)
        allowed = np.unpackbits(bits, bitorder="little")[:vocabulary]
        if len(allowed) < vocabulary:  # rows of the embedding that no token has
            allowed = np.pad(allowed, (0, vocabulary - len(allowed)))
        forbidden: np.ndarray = allowed == 0
        return forbidden

    def take(self, token: int) -> None:
        """Raises ModelError where the grammar broke down; never for an allowed token."""
        if not self._matcher.consume_token(token):
            raise ModelError(
                f"the grammar refused a token: {self._matcher.get_error()[:200]}",
                hint="ask again; if it comes back, please report it",
            )
