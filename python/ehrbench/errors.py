"""Errors that end as one clear line: what is wrong, where, and the mend."""

from __future__ import annotations

import re

# DuckDB's errors of these kinds quote values, or give them as numbers; what is said of files (and by
# the model of the generator all_pairs) does not.
ON_VALUES = r"(?:Conversion|Invalid Input|Out of Range|Constraint|Mismatch Type) Error: "
OF_A_VALUE = re.compile(
    rf"({ON_VALUES}"
    r"(?!CSV Error on Line|Error when sniffing file|No magic bytes|File is not|File '|all_pairs is for)"
    r"[^'\"(\n]*?)\s*(?:['\"(]|(?<!\w)\d\d).*",
    re.S,
)
TO_TYPE = re.compile(
    r" to (?:U?INT\d+|BOOL|DECIMAL|DOUBLE|FLOAT|DATE|TIME\w*|INTERVAL|UUID|VARCHAR)\b"
)
FROM_COLUMN = re.compile(r" when casting from source column \w+")


class EhrbenchError(Exception):
    """Bad input or set-up; the command line prints the message and exits 1 without a trace."""


class EngineUnavailable(EhrbenchError):
    """The engine as a whole cannot serve: no attempt is used up."""


def without_values(text: str) -> str:
    """An error's text without the values of the data that DuckDB quotes: they may be patients'.

    What is said of a value ends the text; of it the type and the column stay that it was cast to and
    read from.
    """

    def kept(found: re.Match) -> str:
        ends = (TO_TYPE.findall(found[0])[-1:], FROM_COLUMN.findall(found[0])[-1:])
        return found[1] + "".join(part for end in ends for part in end)

    return OF_A_VALUE.sub(kept, text)


def one_line(error: BaseException | str, limit: int = 300) -> str:
    """The first non-empty line of an error's text, shortened to `limit` characters, no value of the
    data in it."""
    text = without_values(str(error)).strip()
    line = next((part.strip() for part in text.splitlines() if part.strip()), "")
    if not line and isinstance(error, BaseException):
        line = type(error).__name__
    return shortened(line, limit)


def shortened(line: str, limit: int) -> str:
    """A line, cut to `limit` characters."""
    return line if len(line) <= limit else line[: limit - 1] + "…"
