"""An engine in this process behind the ``Chat`` protocol: what a server would answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from photocraft_local.errors import PictureUnknown, PromptTooLong
from photocraft_local.records import Usage
from photocraft_local.serving.qwen.completion import ChatRequest, Completion


class EngineChat:
    """``requests`` keeps what was asked; ``cached`` of a reply counts the engine's own hits."""

    def __init__(self, llm: Any) -> None:
        self.llm = llm
        self.requests: list[ChatRequest] = []

    def chat(self, request: ChatRequest) -> Completion:
        return self.batch([request])[0]

    def batch(self, requests: Sequence[ChatRequest]) -> list[Completion]:
        self.requests += requests
        try:
            outputs = self.llm.chat(
                [request.messages for request in requests],
                [sampling(request) for request in requests],
                use_tqdm=False,
            )
        except Exception as exc:  # two classes of vLLM's, told apart by their words
            if "data is not provided" in str(exc):
                raise PictureUnknown(str(exc)) from exc
            if "maximum context length" in str(exc):
                raise PromptTooLong(str(exc)) from exc
            raise
        return [completion(output) for output in outputs]


def sampling(request: ChatRequest) -> Any:
    from vllm import SamplingParams
    from vllm.sampling_params import StructuredOutputsParams

    held = StructuredOutputsParams(json=request.schema) if request.schema else None
    return SamplingParams(
        temperature=request.temperature,
        seed=request.seed,
        max_tokens=request.max_tokens,
        structured_outputs=held,
    )


def completion(output: Any) -> Completion:
    (said,) = output.outputs
    usage = Usage(len(output.prompt_token_ids), output.num_cached_tokens or 0, len(said.token_ids))
    return Completion(said.text, finish=str(said.finish_reason), usage=usage)
