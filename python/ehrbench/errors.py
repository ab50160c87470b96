"""Errors that end as one clear line: what is wrong, where, and the mend."""

from __future__ import annotations


class EhrbenchError(Exception):
    """Bad input or set-up; the command line prints the message and exits 1 without a trace."""


class EngineUnavailable(EhrbenchError):
    """The engine as a whole cannot serve: no attempt is used up."""


def one_line(error: BaseException | str, limit: int = 300) -> str:
    """The first non-empty line of an error's text, shortened to `limit` characters."""
    text = str(error).strip()
    line = next((part.strip() for part in text.splitlines() if part.strip()), "")
    if not line and isinstance(error, BaseException):
        line = type(error).__name__
    return line if len(line) <= limit else line[: limit - 1] + "…"
