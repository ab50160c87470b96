"""A rater's sheets as an XLSX file: drop-downs, what is shown locked, the same bytes every time."""

from __future__ import annotations

import io
import math
import re
import zipfile
from collections.abc import Iterable
from datetime import UTC, datetime

from openpyxl import Workbook
from openpyxl.cell import Cell
from openpyxl.styles import Alignment, Font, PatternFill, Protection
from openpyxl.utils import get_column_letter
from openpyxl.worksheet.datavalidation import DataValidation
from openpyxl.worksheet.worksheet import Worksheet

from ehrbench import canary
from ehrbench.audit.sheets import FRONT, LONGEST, NAME_CELL, SAMPLE_CELL, Sheet
from ehrbench.text import visible

EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
HEAD, OPEN = PatternFill("solid", fgColor="DDE3EA"), PatternFill("solid", fgColor="FFF8E1")
BOLD, LARGE = Font(bold=True), Font(bold=True, size=14)
WRAP = Alignment(wrap_text=True, vertical="top")
UNLOCKED = Protection(locked=False)
ANSWER_WIDTH, COMMENT_WIDTH, LINE_HEIGHT = 13, 40, 15

ABOUT = """\
You are asked for your judgement as a clinician. Where a row comes from and what a computer made \
of it is left out on purpose.
Start with the sheet Items, then do the sheet Triples. Each row stands alone; the rows are in an \
order that means nothing and differs from rater to rater.
Fill the coloured cells only: each offers its answers when you select it. Write unsure where you \
cannot tell, and leave a row empty that you have not looked at. The last column is for remarks.
Work alone: do not talk about rows with the other raters before all are done, and do not look \
the patients up. A medicine or procedure in the records was ordered or coded; it need not be the \
best care.
Write your name or initials above, save the file under its name and send it back to whoever gave \
it to you. The sheets hold records of patients: treat them as the agreement on the data says."""


def plain(text: str) -> str:
    """A text as a cell can hold it, its hidden characters made visible."""
    return visible(text)[:LONGEST]


def write(sheets: list[Sheet], sample: str, release: str) -> bytes:
    """The XLSX file of one rater."""
    book = Workbook()
    front = book.active
    front.title = FRONT
    _fill_front(front, sheets, sample, release)
    for sheet in sheets:
        if sheet.rows:
            _fill_sheet(book.create_sheet(sheet.title), sheet)
    book.properties.creator, book.properties.title = "ehrbench", "Clinician audit"
    book.properties.created = EPOCH
    buffer = io.BytesIO()
    book.save(buffer)
    return _without_clock(buffer.getvalue())


def _put(page: Worksheet, place: str, text: str) -> Cell:
    """Write a text as text, whatever it begins with."""
    cell = page[place]
    cell.value = plain(text)
    cell.data_type = "s"
    cell.alignment = WRAP
    return cell


def _finish(page: Worksheet) -> None:
    """One page wide on paper, and locked where nothing is asked."""
    page.page_setup.orientation, page.page_setup.fitToHeight = "landscape", 0
    page.sheet_properties.pageSetUpPr.fitToPage = True
    page.protection.sheet = True
    for kind in ("formatColumns", "formatRows", "formatCells"):
        setattr(page.protection, kind, False)


def _fill_front(page: Worksheet, sheets: list[Sheet], sample: str, release: str) -> None:
    page.column_dimensions["A"].width, page.column_dimensions["B"].width = 22, 100
    _put(page, "A1", "Clinician audit").font = LARGE
    _put(page, "A3", "Your name or initials").font = BOLD
    name = page[NAME_CELL]
    name.fill, name.protection = OPEN, UNLOCKED
    _put(page, "A4", "Sample").font = BOLD
    _put(page, SAMPLE_CELL, sample)
    _put(page, "A5", "Release").font = BOLD
    _put(page, "B5", release)
    row = 7
    _put(page, f"A{row}", "What to do").font = BOLD
    for line in ABOUT.splitlines():
        _put(page, f"B{row}", line)
        page.row_dimensions[row].height = _height([(line, 100)])
        row += 1
    for sheet in sheets:
        if not sheet.rows:
            continue
        row += 1
        _put(page, f"A{row}", f"Sheet {sheet.title}").font = BOLD
        _put(page, f"B{row}", f"{len(sheet.rows)} rows")
        for question in sheet.questions:
            row += 1
            words = " / ".join("the letter" if a == "letter" else a for a in question.answers)
            line = f"{question.wording} ({words})"
            _put(page, f"A{row}", question.heading)
            _put(page, f"B{row}", line)
            page.row_dimensions[row].height = _height([(line, 100)])
        row += 1
    _put(page, f"B{row + 1}", canary.text())
    _finish(page)


def _fill_sheet(page: Worksheet, sheet: Sheet) -> None:
    shown = len(sheet.columns)
    widths = [width for _, _, width in sheet.columns]
    widths += [ANSWER_WIDTH] * len(sheet.questions) + [COMMENT_WIDTH]
    letters = [get_column_letter(place) for place in range(1, len(widths) + 1)]
    for letter, width, heading in zip(letters, widths, sheet.headings, strict=True):
        page.column_dimensions[letter].width = width
        head = _put(page, f"{letter}1", heading)
        head.font, head.fill = BOLD, HEAD
    # Question and answers -> rows that offer them.
    offers: dict[tuple[str, str, tuple[str, ...]], list[int]] = {}
    for number, row in enumerate(sheet.rows, start=2):
        for letter, text in zip(letters, row.texts, strict=False):
            _put(page, f"{letter}{number}", text)
        for letter, question in zip(letters[shown:], sheet.questions, strict=False):
            key = (letter, question.heading, question.allowed(row.letters))
            offers.setdefault(key, []).append(number)
        for letter in letters[shown:]:
            cell = page[f"{letter}{number}"]
            cell.fill, cell.protection, cell.alignment = OPEN, UNLOCKED, WRAP
        page.row_dimensions[number].height = _height(zip(row.texts[1:], widths[1:], strict=False))
    for (letter, heading, allowed), numbers in offers.items():
        page.add_data_validation(_offer(letter, heading, allowed, numbers))
    page.freeze_panes = "B2"
    page.print_title_rows = "1:1"
    _finish(page)


def _offer(
    letter: str, heading: str, allowed: tuple[str, ...], numbers: list[int]
) -> DataValidation:
    """A drop-down for these rows of a column."""
    held = set(numbers)
    starts = [number for number in numbers if number - 1 not in held]
    ends = [number for number in numbers if number + 1 not in held]
    ranges = [f"{letter}{start}:{letter}{end}" for start, end in zip(starts, ends, strict=True)]
    offer = DataValidation(
        type="list", formula1=f'"{",".join(allowed)}"', allow_blank=True, sqref=" ".join(ranges)
    )
    offer.showErrorMessage, offer.errorTitle = True, heading
    offer.error = f"Choose one of: {', '.join(allowed)}"
    return offer


def _height(texts: Iterable[tuple[str, int]]) -> int:
    """Height of a row whose texts wrap at these widths; programs need not work it out."""
    lines = [
        sum(max(1, math.ceil(len(line) * 1.1 / width)) for line in plain(text).split("\n"))
        for text, width in texts
    ]
    return min(400, LINE_HEIGHT * max(lines, default=1) + 3)


def _without_clock(content: bytes) -> bytes:
    """The same file with fixed times: openpyxl writes the hour of saving into it."""
    fixed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(fixed, "w") as new:
        for name in sorted(old.namelist(), key=lambda name: (name != "[Content_Types].xml", name)):
            part = old.read(name)
            if name == "docProps/core.xml":
                stamp = EPOCH.strftime("%Y-%m-%dT%H:%M:%SZ").encode()
                part = re.sub(rb"(<dcterms:modified[^>]*>)[^<]*", rb"\g<1>" + stamp, part)
            entry = zipfile.ZipInfo(name, EPOCH.timetuple()[:6])
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o600 << 16
            new.writestr(entry, part)
    return fixed.getvalue()
