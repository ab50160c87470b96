"""What the converters share: packed files, one line of progress, Parquet that appears whole."""

from __future__ import annotations

import contextlib
import errno
import gzip
import os
import sys
import time
import xml.etree.ElementTree as ElementTree
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pyarrow as pa
import pyarrow.parquet as pq

from ehrbench.errors import EhrbenchError, one_line
from ehrbench.progress import PLAIN_EVERY_S, duration, say

WRITE_OPTIONS = {"compression": "zstd", "compression_level": 3, "version": "2.6"}

# What Python raises for a packed file that is cut off or damaged.
PACKING_ERRORS = (EOFError, zlib.error, gzip.BadGzipFile, zipfile.BadZipFile)


class Line:
    """Progress of one long job on one line of a terminal, or a plain line every 15 seconds."""

    def __init__(self, label: str, unit: str = "rows"):
        self.label, self.unit = label, unit
        self.started = self.shown = time.monotonic()
        self.on_terminal = sys.stdout.isatty()
        self.first = 0
        self.begun: tuple[float, float] | None = None  # the first share that was said, and when

    def show(self, count: int, share: float | None = None) -> None:
        """Say how far the job is: `count` units, `share` of the input (0 to 1) when known."""
        now = time.monotonic()
        if self.begun is None and share is not None:
            self.begun = (share, now)
        if now - self.shown < (0.5 if self.on_terminal else PLAIN_EVERY_S):
            return
        self.shown = now
        rate = (count - self.first) / max(now - self.started, 1e-9)
        done = "" if share is None else f"{100 * share:.0f} %, "
        text = f"{self.label}: {done}{count:,} {self.unit} ({rate:,.0f}/s{self._left(share, now)})"
        if self.on_terminal:
            print(f"\r\x1b[K{text}", end="", flush=True)
        else:
            say(text)

    def _left(self, share: float | None, now: float) -> str:
        """How long the rest will take, once some share of the input was read."""
        if share is None or self.begun is None or share <= self.begun[0]:
            return ""
        seconds = (now - self.begun[1]) * (1 - share) / (share - self.begun[0])
        return f", about {duration(seconds)} left"

    def close(self, count: int, more: str = "") -> None:
        """The closing line."""
        seconds = time.monotonic() - self.started
        rate = (count - self.first) / max(seconds, 1e-9)
        if self.on_terminal:
            print("\r\x1b[K", end="")
        say(f"{self.label}: {count:,} {self.unit} in {duration(seconds)} ({rate:,.0f}/s){more}")


def share_read(file: Path) -> float | None:
    """Share of a file that this process, which has it open, has read; None where nobody knows.

    DuckDB does not say how far a streamed read is, but Linux does.
    """
    with contextlib.suppress(OSError):
        name, whole = str(file.resolve()), max(file.stat().st_size, 1)
        for handle in Path("/proc/self/fd").iterdir():
            # Others come and go meanwhile.
            with contextlib.suppress(OSError):
                if os.readlink(handle) == name:
                    said = Path("/proc/self/fdinfo", handle.name).read_text(encoding="ascii")
                    at = int(said.split(maxsplit=2)[1])
                    return at / whole if at else None
    return None


@contextlib.contextmanager
def space_in(folder: Path) -> Iterator[None]:
    """Turn a full disk into one line that says where and what to do."""
    try:
        yield
    except OSError as error:
        full = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        if error.errno in full or "No space left" in str(error):
            raise EhrbenchError(
                f"no space left in {folder}: free some and run again; what is finished is kept"
            ) from error
        raise


@contextlib.contextmanager
def opened(file: Path) -> Iterator[tuple[IO[bytes], IO[bytes], int]]:
    """Open an XML file, plain, .gz or the one inside a .zip; yields (text bytes, raw file, size).

    `raw.tell() / size` is the share of the file that has been read. Raises EhrbenchError when the
    file is missing or not what its name says.
    """
    if not file.is_file():
        raise EhrbenchError(f"no file {file}: name an existing one")
    size = max(file.stat().st_size, 1)
    with file.open("rb") as raw:
        magic = raw.read(4)
        raw.seek(0)
        if magic[:2] == b"\x1f\x8b":
            with gzip.open(raw, "rb") as text:
                yield text, raw, size
        elif magic[:2] == b"PK":
            try:
                with zipfile.ZipFile(raw) as archive:
                    names = [n for n in archive.namelist() if n.lower().endswith(".xml")]
                    if len(names) != 1:
                        raise EhrbenchError(
                            f"{file} holds {len(names)} XML files, not one: unpack the right one"
                        )
                    with archive.open(names[0]) as text:
                        yield text, raw, size
            except zipfile.BadZipFile as error:
                raise EhrbenchError(
                    f"{file} is cut off or no zip archive: fetch it again"
                ) from error
        elif file.suffix.lower() in (".gz", ".zip"):
            raise EhrbenchError(f"{file} is not packed as its name says: fetch it again")
        else:
            yield raw, raw, size


def elements(
    file: Path, text: IO[bytes], root_tag: str, what: str
) -> Iterator[tuple[ElementTree.Element, int]]:
    """The children of an XML file's root, one after the other; memory holds one at a time.

    Yields (element, its number from 1). `root_tag` is the only accepted root (with `{namespace}`).
    Raises EhrbenchError, naming the place, when the root is another or the file is cut off.
    """
    depth = count = 0
    root = None
    parser = ElementTree.XMLPullParser(("start", "end"))
    try:
        while True:
            block = text.read(1 << 20)
            if block:
                parser.feed(block)
            else:
                parser.close()
            for event, element in parser.read_events():
                if event == "start":
                    depth += 1
                    if depth == 1:
                        root = element
                        if element.tag != root_tag:
                            raise EhrbenchError(
                                f"{file} is not {what}: its root is {element.tag}, not {root_tag}"
                            )
                    continue
                depth -= 1
                if depth == 1:
                    count += 1
                    yield element, count
                    root.clear()
            if not block:
                return
    except ElementTree.ParseError as error:
        line, column = error.position
        place = f"at line {line}, column {column}, after {count} whole entries"
        kind = "is no XML" if root is None else "is cut off or broken"
        raise EhrbenchError(f"{file} {kind} {place}: fetch it again") from error
    except PACKING_ERRORS as error:
        raise EhrbenchError(
            f"{file} is cut off or broken ({one_line(error, 80)}) after {count} whole entries: "
            "fetch it again"
        ) from error


class Table:
    """A Parquet file written in row groups of `rows` and given its name when it is whole."""

    def __init__(self, file: Path, schema: pa.Schema, rows: int = 100_000):
        self.file, self.schema, self.rows = file, schema, rows
        self.count = 0
        self._temporary = file.with_name(f".{file.name}.tmp")
        self._pending: list[tuple] = []
        self._writer = pq.ParquetWriter(self._temporary, schema, **WRITE_OPTIONS)

    def add(self, *values: object) -> None:
        """Append one row, values in the order of the schema."""
        self._pending.append(values)
        self.count += 1
        if len(self._pending) == self.rows:
            self._flush()

    def _flush(self) -> None:
        columns = list(zip(*self._pending, strict=True)) or [()] * len(self.schema)
        arrays = [
            pa.array(column, kind.type) for column, kind in zip(columns, self.schema, strict=True)
        ]
        self._writer.write_table(pa.Table.from_arrays(arrays, schema=self.schema))
        self._pending = []

    def finish(self) -> None:
        """Write what is pending; the file is whole but has no name yet."""
        if self._pending or not self.count:
            self._flush()
        self._writer.close()

    def publish(self) -> None:
        """Give the finished file its name."""
        os.replace(self._temporary, self.file)

    def close(self) -> None:
        """Write what is pending and give the file its name."""
        self.finish()
        self.publish()

    def discard(self) -> None:
        """Leave nothing behind."""
        with contextlib.suppress(OSError):
            self._writer.close()
        self._temporary.unlink(missing_ok=True)
