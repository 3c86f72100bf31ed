"""An engine in this process behind the ``Chat`` protocol: what a server would answer."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from photocraft_local.errors import PictureUnknown, PromptTooLong
from photocraft_local.records import Usage
from photocraft_local.serving.qwen.completion import ChatRequest, Completion
from photocraft_local.serving.vllm.choices import Chooser


class EngineChat:
    """``requests`` keeps what was asked; ``cached`` of a reply counts the engine's own hits."""

    def __init__(self, llm: Any) -> None:
        self.llm = llm
        self.requests: list[ChatRequest] = []

    def chat(self, request: ChatRequest) -> Completion:
        if request.choices:
            self.requests.append(request)
            return asyncio.run(Chooser(self._post, "tiny").chosen(request))
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

    async def _post(self, path: str, body: Mapping[str, Any]) -> Any:
        """What vLLM's server makes of these requests, as plain JSON."""
        from vllm import SamplingParams

        tokenizer = self.llm.get_tokenizer()
        if path == "/tokenize":
            return {"tokens": tokenizer.encode(body["prompt"], add_special_tokens=False)}
        if path == "/detokenize":
            return {"prompt": tokenizer.decode(body["tokens"])}
        assert body["logprobs"] is True
        (output,) = self.llm.chat(
            body["messages"],
            SamplingParams(
                temperature=body["temperature"],
                max_tokens=body["max_tokens"],
                logprob_token_ids=body["logprob_token_ids"],
            ),
            use_tqdm=False,
            add_generation_prompt=body.get("add_generation_prompt", True),
            continue_final_message=body.get("continue_final_message", False),
        )
        (first,) = output.outputs[0].logprobs
        top = [{"token": f"token_id:{id}", "logprob": one.logprob} for id, one in first.items()]
        usage = {
            "prompt_tokens": len(output.prompt_token_ids),
            "prompt_tokens_details": {"cached_tokens": output.num_cached_tokens or 0},
            "completion_tokens": 1,
        }
        choice = {"message": {"content": ""}, "logprobs": {"content": [{"top_logprobs": top}]}}
        return {"choices": [choice], "usage": usage}


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
