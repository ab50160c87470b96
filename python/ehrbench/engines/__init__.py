"""Engines: ways to have a request completed. SQL never knows which one answered.

`vllm` runs the weights in this process, `ray` runs that in many processes on one machine or
several, `openai` asks servers with that API (vLLM's own, or a provider's). Tests register others
with `register`.
"""

from __future__ import annotations

from collections.abc import Callable

from ehrbench.engines.base import (
    Completion,
    Engine,
    ModelSpec,
    Request,
    StoringEngine,
    complete,
    failed,
    parse_request,
    rows_of,
    too_long,
)
from ehrbench.errors import EhrbenchError

__all__ = [
    "Completion",
    "Engine",
    "ModelSpec",
    "Request",
    "StoringEngine",
    "complete",
    "create",
    "failed",
    "names",
    "parse_request",
    "register",
    "rows_of",
    "too_long",
]


def _vllm(spec: ModelSpec, options: dict) -> Engine:
    from ehrbench.engines.vllm_offline import VllmEngine

    return VllmEngine(spec, **options)


def _openai(spec: ModelSpec, options: dict) -> Engine:
    from ehrbench.engines.openai_server import OpenAIEngine

    return OpenAIEngine(spec, **options)


def _ray(spec: ModelSpec, options: dict) -> Engine:
    from ehrbench.engines.ray_data import RayEngine

    return RayEngine(spec, **options)


_FACTORIES: dict[str, Callable[[ModelSpec, dict], Engine]] = {
    "vllm": _vllm,
    "openai": _openai,
    "ray": _ray,
}


def register(name: str, factory: Callable[[ModelSpec, dict], Engine]) -> None:
    """Add an engine under a name (`--engine NAME`)."""
    _FACTORIES[name] = factory


def names() -> list[str]:
    """Names of the engines that can be asked for."""
    return sorted(_FACTORIES)


def create(name: str, spec: ModelSpec, options: dict) -> Engine:
    """Start an engine for a model; EngineUnavailable says in one line why it cannot."""
    if name not in _FACTORIES:
        raise EhrbenchError(f"unknown engine {name!r}: known are {', '.join(names())}")
    return _FACTORIES[name](spec, options)
