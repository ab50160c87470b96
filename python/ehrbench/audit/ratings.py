"""Reading filled sheets: every bad cell is named, and only a clean import changes the store."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree.ElementTree import ParseError

from ehrbench import built, completions, paths
from ehrbench.audit import sheets as layout
from ehrbench.audit.sheets import FRONT, LONGEST, NAME_CELL, SAMPLE_CELL, Sheet
from ehrbench.errors import EhrbenchError, one_line
from ehrbench.text import visible

# Sheet -> file of the store.
FILES = {"triples": "audit_ratings.csv", "items": "audit_item_ratings.csv"}
# What is built anew from them.
DOWNSTREAM = ("stg_completions__audit_ratings+", "stg_completions__audit_item_ratings+")
LONGEST_NAME = 60
# Bad cells that are listed; the others are counted.
LISTED = 20
# Rows past those of the sample that are still looked at.
SPARE_ROWS = 1000


@dataclass(frozen=True)
class Cell:
    """A cell as it was found: `place` is G17 of a sheet, or row and column of a CSV file."""

    text: str
    place: str
    is_formula: bool = False


@dataclass
class Found:
    """What one file holds: checked ratings, each with its rater, by sheet."""

    file: Path
    ratings: dict[str, list[dict[str, str]]] = field(default_factory=dict)


@dataclass
class Outcome:
    """What an import did; `bad` names cells, and where there are any nothing was written."""

    bad: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def take_in(target: str, files: Iterable[Path]) -> Outcome:
    """Read filled sheets and merge their ratings into the completion store, or change nothing.

    The earlier ratings of a rater make room for the new ones. Raises EhrbenchError for a file
    that cannot be read at all.
    """
    with built.connect_marts(paths.database(target), target) as connection:
        wanted = {sheet.name: sheet for sheet in layout.read(connection, 1)}
    sample = layout.sample_id(list(wanted.values()))
    outcome = Outcome()
    seen: dict[tuple[str, str, str], str] = {}
    found = [_read(file, wanted, sample, seen, outcome.bad) for file in files]
    if outcome.bad:
        return outcome
    for one in found:
        _describe(one, wanted, outcome.notes)
    _store(paths.completions_dir(target), wanted, found, outcome.notes)
    return outcome


# ------------------------------------------------------------------------- reading one file


def _read(
    file: Path, wanted: dict[str, Sheet], sample: str, seen: dict, bad: list[str]
) -> Found:
    """Ratings of one file; what is wrong with it goes to `bad`, one line per cell."""
    if not file.is_file():
        raise EhrbenchError(f"{file} is not there")
    # What spreadsheet programs lay beside a file that they have open.
    for name in (f"~${file.name}", f".~lock.{file.name}#"):
        if file.with_name(name).exists():
            raise EhrbenchError(f"{file} is open in a spreadsheet program: save and close it first")
    result = Found(file)
    before = len(bad)
    if file.suffix.lower() == ".csv":
        tables = [_csv_rows(file, wanted, sample, bad)]
    elif file.suffix.lower() in (".xlsx", ".xlsm"):
        tables = list(_xlsx_rows(file, wanted, sample, bad))
    else:
        raise EhrbenchError(f"{file} is neither .xlsx nor .csv: save it as one of these")
    for sheet, rows in tables:
        result.ratings[sheet.name] = []
        for row in rows:
            rating = _rating(file, sheet, row, bad)
            if rating is None:
                continue
            key = (sheet.name, _same(rating["rater"]), rating[sheet.id_column])
            place = f"{file.name}, {row[sheet.id_column].place}"
            if key in seen:
                bad.append(f"{place}: {rating['rater']} has rated this id already in {seen[key]}")
            seen.setdefault(key, place)
            result.ratings[sheet.name].append(rating)
    if len(bad) == before and not any(result.ratings.values()):
        bad.append(f"{file.name}: holds no answer")
    return result


def _rating(
    file: Path, sheet: Sheet, row: dict[str, Cell], bad: list[str]
) -> dict[str, str] | None:
    """One checked row as it goes into the store; None for one without an answer."""

    def wrong(cell: Cell, what: str) -> None:
        bad.append(f"{file.name}, {cell.place}: {what}")

    before = len(bad)
    id_cell = row[sheet.id_column]
    known = sheet.by_id.get(id_cell.text)
    answers = {question.name: row[question.name] for question in sheet.questions}
    if not id_cell.text and not any(cell.text for cell in answers.values()):
        return None
    if known is None:
        what = "the id is missing" if not id_cell.text else f"id {id_cell.text[:40]!r} is unknown"
        wrong(id_cell, f"{what}: restore it from a new sheet")
        return None
    for (name, heading, _), text in zip(sheet.columns[1:], known.texts[1:], strict=True):
        if name in row and _folded(row[name].text) not in (_folded(visible(text)), _folded(text)):
            wrong(row[name], f"{heading} is not that of the id in its row: restore it")
    for cell in row.values():
        if cell.is_formula:
            wrong(cell, "holds a formula: write the answer itself")
    rating = {"rater": row["rater"].text, sheet.id_column: known.id}
    for question in sheet.questions:
        cell = answers[question.name]
        allowed = question.allowed(known.letters)
        answer = {word.lower(): word for word in allowed}.get(cell.text.lower(), "")
        if cell.text and not answer and not cell.is_formula:
            wrong(cell, f"{cell.text[:40]!r} is none of {', '.join(allowed)}")
        rating[question.name] = answer
    first = sheet.questions[0]
    if any(cell.text for cell in answers.values()) and not answers[first.name].text:
        wrong(answers[first.name], f"{first.heading} is empty beside other answers")
    if len(bad) > before or not any(rating[name] for name in answers):
        return None
    rater = row["rater"]
    if not rater.text or len(rater.text) > LONGEST_NAME:
        wrong(rater, f"the rater's name is missing or longer than {LONGEST_NAME} characters")
        return None
    return {**rating, "comment": row["comment"].text if "comment" in row else ""}


def _folded(text: str) -> str:
    """Without differences in white space, which programs change on the way."""
    # A carriage return that openpyxl wrote and other programs give back as it is.
    text = re.sub(r"[\x00-\x1f]", " ", text.replace("_x000D_", " "))
    return " ".join(text[:LONGEST].split())


def _same(rater: str) -> str:
    """A name as one person may write it twice: Anna is anna, not a second rater who agrees."""
    return " ".join(rater.casefold().split())


def _text(value: object) -> str:
    return "" if value is None else str(value).strip()


def _xlsx_rows(
    file: Path, wanted: dict[str, Sheet], sample: str, bad: list[str]
) -> Iterator[tuple[Sheet, list[dict[str, Cell]]]]:
    """Sheets of an XLSX file with their rows."""
    from openpyxl import load_workbook
    from openpyxl.utils.exceptions import InvalidFileException

    try:
        book = load_workbook(file)
    except (zipfile.BadZipFile, InvalidFileException, KeyError, ValueError, ParseError) as error:
        raise EhrbenchError(
            f"{file} cannot be read as XLSX: it is damaged, protected by a password or of another "
            "format; open it and save it as .xlsx without a password"
        ) from error
    missing = [
        title
        for title in (FRONT, *(sheet.title for sheet in wanted.values() if sheet.rows))
        if title not in book.sheetnames
    ]
    if missing:
        bad.append(f"{file.name}: has no sheet {missing[0]!r}: fill a sheet of audit sample")
        return
    front = book[FRONT]
    given = _text(front[SAMPLE_CELL].value)
    if given != sample:
        bad.append(f"{file.name}, {FRONT}!{SAMPLE_CELL}: {_other_sample(given, sample)}")
        return
    name = front[NAME_CELL]
    rater = Cell(_text(name.value), f"{FRONT}!{NAME_CELL}", name.data_type == "f")
    if not rater.text or rater.is_formula:
        bad.append(f"{file.name}, {rater.place}: the rater's name is missing")
        rater = Cell("?", rater.place)
    for sheet in wanted.values():
        if not sheet.rows:
            continue
        page = book[sheet.title]
        merged = sorted(str(cells) for cells in page.merged_cells.ranges)
        if merged:
            # All but the first of them are empty: answers were lost, or one was meant for several.
            bad.append(f"{file.name}, {sheet.title}!{merged[0]}: cells are merged: part them")
            continue
        last = min(page.max_row, len(sheet.rows) + 1 + SPARE_ROWS)
        lines = page.iter_rows(min_row=1, max_row=last, max_col=len(sheet.headings))
        head = next(lines)
        strange = [
            (cell, heading)
            for cell, heading in zip(head, sheet.headings, strict=True)
            if _text(cell.value) != heading
        ]
        if strange:
            cell, heading = strange[0]
            bad.append(
                f"{file.name}, {sheet.title}!{cell.coordinate}: {_text(cell.value)[:40]!r} stands "
                f"where the heading {heading!r} belongs"
            )
            continue
        rows = [
            {
                "rater": rater,
                **{
                    column: Cell(
                        _text(cell.value),
                        f"{sheet.title}!{cell.coordinate}",
                        # What is shown may begin with `=`; only its text is compared.
                        cell.data_type == "f" and place >= len(sheet.columns),
                    )
                    for place, (column, cell) in enumerate(zip(sheet.names, line, strict=True))
                },
            }
            for line in lines
        ]
        yield sheet, rows


def _csv_rows(
    file: Path, wanted: dict[str, Sheet], sample: str, bad: list[str]
) -> tuple[Sheet, list[dict[str, Cell]]]:
    """The one sheet of a CSV file, whose columns are named as in the store or as in the sheet."""
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise EhrbenchError(f"{file} is not UTF-8: save it as CSV UTF-8") from error
    # The line that tells Excel its separator.
    told = re.match(r'"?sep=([^"\w\r\n])"?\r?\n', text, re.IGNORECASE)
    text = text[told.end() :] if told else text
    delimiter = told[1] if told else max(",;\t", key=text.split("\n", 1)[0].count)
    try:
        lines = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    except csv.Error as error:
        raise EhrbenchError(f"{file} cannot be read as CSV: {one_line(error)}") from error
    head = [name.strip() for name in lines[0]] if lines else []
    sheet = next(
        (one for one in wanted.values() if one.id_column in head),
        next((one for one in wanted.values() if one.questions[0].heading in head), None),
    )
    if sheet is None:
        ids = " or ".join(one.id_column for one in wanted.values())
        raise EhrbenchError(f"{file} has no column {ids}: its first row must name its columns")
    by_heading = dict(zip(sheet.headings, sheet.names, strict=True))
    names = [by_heading.get(name, name) for name in head]
    needed = ("rater", sheet.id_column, sheet.questions[0].name)
    for name in ("rater", *sheet.names):
        n = names.count(name)
        if n > 1 or (not n and name in needed):
            raise EhrbenchError(f"{file} has {n} columns {name} and needs one")
    rows = []
    for number, line in enumerate(lines[1:], start=3 if told else 2):
        if not any(value.strip() for value in line):
            continue
        if len(line) != len(names):
            bad.append(f"{file.name}, row {number}: {len(line)} values under {len(names)} columns")
            continue
        row = {
            name: Cell(value.strip(), f"row {number}, column {name}", value.startswith("="))
            for name, value in zip(names, line, strict=True)
        }
        if "sample" in row and row["sample"].text != sample:
            bad.append(
                f"{file.name}, {row['sample'].place}: {_other_sample(row['sample'].text, sample)}"
            )
            break
        for question in sheet.questions:
            row.setdefault(question.name, Cell("", f"row {number}, column {question.name}"))
        for name, _, _ in sheet.columns[1:]:
            if name in row:
                # Shown as it was drawn, whatever it begins with.
                row[name] = Cell(row[name].text, row[name].place)
        rows.append(row)
    return sheet, rows


def _other_sample(given: str, sample: str) -> str:
    return (
        f"the sheet is of sample {given[:32] or '(none)'}, the database draws {sample}: point "
        "EHRBENCH_DB at the database that the sheet came from, or have new sheets rated"
    )


# --------------------------------------------------------------------------- into the store


def _describe(found: Found, wanted: dict[str, Sheet], notes: list[str]) -> None:
    for name, ratings in found.ratings.items():
        questions = [question.name for question in wanted[name].questions]
        n_open = Counter(row["rater"] for row in ratings if not all(row[q] for q in questions))
        for rater, n in sorted(Counter(row["rater"] for row in ratings).items()):
            rest = f", {n_open[rater]} of them with an answer open" if n_open[rater] else ""
            notes.append(f"{found.file.name}: {rater} rated {n} {name}{rest}")


def _store(store: Path, wanted: dict[str, Sheet], found: list[Found], notes: list[str]) -> None:
    """Write the files of ratings anew, each whole or not at all."""
    texts: dict[Path, str] = {}
    for name, sheet in wanted.items():
        parts = [one for one in found if name in one.ratings]
        # A rater who emptied a sheet has no rating of it any more.
        raters = {
            _same(row["rater"]) for one in parts for rows in one.ratings.values() for row in rows
        }
        if not raters:
            continue
        path = store / FILES[name]
        columns = ["rater", sheet.id_column, *(q.name for q in sheet.questions), "comment"]
        columns, rows = _stored(path, columns)
        replaced = Counter(row["rater"] for row in rows if _same(row["rater"]) in raters)
        notes += [f"replaced {n} earlier {name} of {one}" for one, n in sorted(replaced.items())]
        kept = [row for row in rows if _same(row["rater"]) not in raters]
        new = [rating for one in parts for rating in one.ratings[name]]
        ordered = sorted((*kept, *new), key=lambda row: (row["rater"], row[sheet.id_column]))
        written = io.StringIO(newline="")
        writer = csv.DictWriter(written, columns, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(ordered)
        texts[path] = written.getvalue()
        n_raters = len({row["rater"] for row in ordered})
        notes.append(f"{path}: {len(ordered)} ratings of {n_raters} raters")
    store.mkdir(parents=True, exist_ok=True)
    finished = {path: path.with_name(f".{path.name}.tmp") for path in texts}
    for path, part in finished.items():
        part.write_text(texts[path], encoding="utf-8")
    for path, part in finished.items():
        completions.publish(part, path)


def _stored(path: Path, columns: list[str]) -> tuple[list[str], list[dict[str, str]]]:
    """Columns and rows of a file of the store, the ones of hand-made files beside ours."""
    if not path.is_file():
        return columns, []
    try:
        with open(path, encoding="utf-8-sig", newline="") as lines:
            reader = csv.DictReader(lines, restval="", strict=True)
            found = list(reader.fieldnames or ())
            rows = list(reader)
    except (csv.Error, UnicodeDecodeError) as error:
        raise EhrbenchError(f"{path} cannot be read as CSV: {one_line(error)}; mend it") from error
    missing = [name for name in columns[:2] if name not in found]
    if missing or any(None in row for row in rows):
        what = f"no column {missing[0]}" if missing else "a row with too many values"
        raise EhrbenchError(f"{path} has {what}: mend it, or move it away")
    for row in rows:
        row["rater"] = row["rater"].strip()
    return [*columns, *(name for name in found if name not in columns)], rows
