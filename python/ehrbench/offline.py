"""What the libraries beside us read from the environment: nothing is reported home, nothing fetched.

Importing the package sets it, so it holds for every command, for what the tests and benchmarks start,
and for the processes that those start. dbt started by hand goes by dbt_project.yml (`flags`).
"""

from __future__ import annotations

import os

SETTINGS = {
    # The word that several tools heed: dbt, vLLM, huggingface_hub.
    "DO_NOT_TRACK": "1",
    "DBT_SEND_ANONYMOUS_USAGE_STATS": "false",
    "VLLM_NO_USAGE_STATS": "1",
    "RAY_USAGE_STATS_ENABLED": "0",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    # Models and data sets come from folders on this machine (transformers and datasets ask it too).
    "HF_HUB_OFFLINE": "1",
}


def set_defaults() -> None:
    """Set what is not set: what the user says wins."""
    for name, value in SETTINGS.items():
        os.environ.setdefault(name, value)
