"""Titles and years from PubMed's baseline and update files, as the one Parquet that dbt reads."""

from __future__ import annotations

import json
import re
import shutil
import xml.parsers.expat as expat
from collections.abc import Callable, Sequence
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from ehrbench import sql
from ehrbench.convert.common import PACKING_ERRORS, Line, Table, opened, space_in
from ehrbench.errors import EhrbenchError, one_line
from ehrbench.progress import say

ROOT = "PubmedArticleSet"
SCHEMAS = {
    "articles": pa.schema([("pmid", pa.string()), ("title", pa.string()), ("pub_year", pa.int32())])
}
# One row per mention of a PMID in a file; a deletion has no title.
MENTIONS = pa.schema(
    [
        ("pmid", pa.int64()),
        ("title", pa.string()),
        ("pub_year", pa.int32()),
        ("is_deleted", pa.bool_()),
        ("version", pa.int32()),
        ("position", pa.int64()),
    ]
)
# Path below the root -> field. Years are those of PubDate: its Year, else the first year of its
# MedlineDate (`1998 Dec-1999 Jan`).
ARTICLES = ("PubmedArticle", "PubmedBookArticle")
ARTICLE = "PubmedArticle/MedlineCitation/Article"
FIELDS = {
    "DeleteCitation/PMID": "deleted",
    "PubmedArticle/MedlineCitation/PMID": "pmid",
    f"{ARTICLE}/ArticleTitle": "title",
    f"{ARTICLE}/VernacularTitle": "vernacular",
    f"{ARTICLE}/Journal/JournalIssue/PubDate/Year": "year",
    f"{ARTICLE}/Journal/JournalIssue/PubDate/MedlineDate": "medline_date",
    "PubmedBookArticle/BookDocument/PMID": "pmid",
    "PubmedBookArticle/BookDocument/ArticleTitle": "title",
    "PubmedBookArticle/BookDocument/Book/BookTitle": "book",
    "PubmedBookArticle/BookDocument/Book/PubDate/Year": "year",
}
LEAVES = frozenset(path.rsplit("/", 1)[-1] for path in FIELDS)
YEAR = re.compile(r"\b(1[5-9][0-9]{2}|20[0-9]{2})\b")
MEMORY_LIMIT = "2GB"
# Metadata of the finished file: the parts that it was made from.
MADE_FROM = "ehrbench.made_from"


def convert_pubmed(files: Sequence[Path], out: Path) -> int:
    """Write `articles.parquet` (pmid, title, pub_year; by PMID) below `out`; returns its rows.

    Files count in the order of their names, as NLM numbers them: what a later one says of a PMID
    replaces what an earlier one said, and its deletions delete. Each file is kept as a part, so a
    run that was stopped goes on where it was. Raises EhrbenchError when a file is not PubMed's or
    `out` holds a finished conversion.
    """
    if not files:
        raise EhrbenchError("no files named: name PubMed's .xml.gz files")
    ordered = sorted(files, key=lambda file: file.name)
    names = [file.name for file in ordered]
    if len(set(names)) < len(names):
        raise EhrbenchError("two of the files have the same name: give each name once")
    parts = out / ".pubmed-parts"
    if (out / "articles.parquet").exists():
        if made_from(out / "articles.parquet") == [part_name(file) for file in ordered]:
            shutil.rmtree(parts, ignore_errors=True)  # of a run that was cut off here
            rows = pq.read_metadata(out / "articles.parquet").num_rows
            say(f"pubmed: {rows:,} articles of {len(ordered)} files, converted before")
            return rows
        raise EhrbenchError(
            f"{out / 'articles.parquet'} exists: remove it, or name another --out, and give all "
            "files, since later ones replace what earlier ones say"
        )
    with space_in(out):
        parts.mkdir(parents=True, exist_ok=True)
        line = Line("pubmed", "articles")
        mentions, kept, skipped = 0, [], 0
        for number, file in enumerate(ordered):
            part = parts / f"{part_name(file)}.parquet"
            kept.append(part)
            if part.is_file():
                continue

            def show(count: int, share: float, n: int = number, before: int = mentions) -> None:
                line.show(before + count, (n + share) / len(ordered))

            count, lacking = convert_file(file, part, show)
            mentions += count
            skipped += lacking
        rows = merge(kept, out / "articles.parquet")
        shutil.rmtree(parts)
    more = f"; {skipped} without a PMID left out" if skipped else ""
    line.close(mentions, f"; {rows:,} articles of {len(ordered)} files{more}")
    return rows


def made_from(file: Path) -> list[str] | None:
    """Names of the parts that a finished file was made from; None when it does not say."""
    try:
        return json.loads((pq.read_schema(file).metadata or {})[MADE_FROM.encode()])
    except (OSError, pa.ArrowInvalid, KeyError, ValueError):
        return None


def part_name(file: Path) -> str:
    """Name of a file's part: another size is another file."""
    return f"{file.name}-{file.stat().st_size}" if file.is_file() else file.name


def convert_file(file: Path, part: Path, show: Callable[[int, float], None]) -> tuple[int, int]:
    """One part from one file; returns (mentions, entries without a PMID).

    `show` is called with the mentions so far and the share of the file that has been read.
    """
    with opened(file) as (text, raw, size):
        table = Table(part, MENTIONS, 50_000)
        entries = Entries(file, table)
        try:
            for block in iter(lambda: text.read(1 << 20), b""):
                entries.feed(block)
                show(table.count, raw.tell() / size)
            entries.close()
            table.close()
        except BaseException as error:
            table.discard()
            if isinstance(error, PACKING_ERRORS):
                raise entries.broken(one_line(error, 80)) from error
            raise
    return table.count, entries.lacking


class Entries:
    """Reads PubMed's XML event by event, without a tree: a file has some million elements, of which
    five per article matter. Adds what it finds to a table of MENTIONS.
    """

    def __init__(self, file: Path, table: Table):
        self.file, self.table = file, table
        self.count = self.lacking = 0
        self._path: list[str] = []
        self._found: dict[str, str] = {}
        self._version = "1"
        self._text: list[str] = []
        self._field, self._depth = "", 0
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end

    def feed(self, block: bytes, is_last: bool = False) -> None:
        """Read on; raises EhrbenchError with the place when the file is broken."""
        try:
            self._parser.Parse(block, is_last)
        except expat.ExpatError as error:
            place = f"line {error.lineno}, column {error.offset}"
            raise self.broken(place, bool(self._path or self.count)) from error

    def close(self) -> None:
        """The file has ended; so must its root."""
        self.feed(b"", True)

    def broken(self, place: str, is_xml: bool = True) -> EhrbenchError:
        """The error that says where the file ends or breaks."""
        kind = "is cut off or broken" if is_xml else "is no XML"
        return EhrbenchError(
            f"{self.file} {kind} ({place}, after {self.count} whole entries): fetch it again"
        )

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._path.append(name)
        if len(self._path) == 1 and name != ROOT:
            raise EhrbenchError(
                f"{self.file} is not a PubMed file: its root is {name}, not {ROOT}"
            )
        if self._field or name not in LEAVES:
            return
        self._field = FIELDS.get("/".join(self._path[1:]), "")
        if self._field:
            self._depth = len(self._path)
            self._text = []
            self._parser.CharacterDataHandler = self._text.append
            if name == "PMID":
                self._version = attributes.get("Version", "1")

    def _end(self, name: str) -> None:
        if self._field and len(self._path) == self._depth:
            self._parser.CharacterDataHandler = None
            text = " ".join("".join(self._text).split())
            if self._field == "deleted":
                self._add(text, None, None, True)
            elif text:
                self._found.setdefault(self._field, text)
            self._field = ""
        self._path.pop()
        if len(self._path) == 1:
            self.count += 1
            if name in ARTICLES:
                self._add_article()

    def _add_article(self) -> None:
        found, self._found = self._found, {}
        titles = [found[name] for name in ("title", "book", "vernacular") if name in found]
        year = YEAR.search(f"{found.get('year', '')} {found.get('medline_date', '')}")
        added = self._add(
            found.get("pmid", ""),
            titles[0] if titles else None,
            int(year.group(1)) if year else None,
            False,
        )
        self.lacking += not added

    def _add(self, pmid: str, title: str | None, year: int | None, is_deleted: bool) -> bool:
        """Add one mention; False when the PMID is no number."""
        if not pmid.isdecimal():
            return False
        version = int(self._version) if self._version.isdecimal() else 1
        self.table.add(int(pmid), title, year, is_deleted, version, self.table.count)
        return True


def merge(parts: list[Path], file: Path) -> int:
    """The last mention of each PMID, by PMID, unless it is a deletion; returns the rows."""
    temporary = file.with_name(f".{file.name}.tmp")
    with duckdb.connect() as connection:
        connection.execute(f"set memory_limit = '{MEMORY_LIMIT}'; set threads = 2")
        connection.execute("set temp_directory = ?", [str(file.parent / ".pubmed-parts" / "spill")])
        places = ", ".join(f"'{sql.text(part)}'" for part in parts)
        names = sql.text(json.dumps([part.stem for part in parts]))
        connection.execute(
            f"""
            copy (
                with mentions as (
                    select
                        m.*,
                        list_position([{places}], m.filename) as file_number
                    from read_parquet({sql.files(parts)}, filename = true) as m
                ),
                last_mentions as (
                    select
                        pmid,
                        max((file_number, version, position)) as place
                    from mentions
                    group by pmid
                )
                select
                    cast(m.pmid as varchar) as pmid,
                    m.title,
                    m.pub_year
                from mentions as m
                inner join last_mentions
                    on m.pmid = last_mentions.pmid
                    and (m.file_number, m.version, m.position) = last_mentions.place
                where not m.is_deleted
                order by m.pmid
            ) to '{sql.text(temporary)}'
            (format parquet, compression zstd, kv_metadata {{'{MADE_FROM}': '{names}'}})
            """
        )
    temporary.replace(file)
    return pq.read_metadata(file).num_rows
