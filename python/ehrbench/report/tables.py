"""Tables of a page: cells with text, a value to sort by and, for figures, their interval drawn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ehrbench.report import words
from ehrbench.report.data import HIDDEN, Row
from ehrbench.text import visible

NOTHING = "–"
DRAWN_WIDTH = 96
# Characters of text that are not broken into lines.
SHORT = 30


@dataclass(frozen=True)
class Drawn:
    """An interval as a line with a dot, in units of a drawing DRAWN_WIDTH wide."""

    low: float
    middle: float
    high: float
    reference: float | None


@dataclass(frozen=True)
class Cell:
    """One cell; `value` is what the column is sorted by."""

    text: str
    value: float | str | None = None
    kind: str = ""
    drawn: Drawn | None = None


@dataclass(frozen=True)
class Column:
    """One column: where its value is, how it is written, what its header explains.

    kinds: text, code, words, count, percent, number, interval (percent with _low and _high of
    `name`), points (the same for differences), plain (a number with an interval), mixed (interval
    where the row's is_share holds, else plain), p, badge.
    """

    name: str
    label: str
    kind: str = "text"
    tip: str = ""
    drawn: tuple[float, float] | None = None
    reference: str | float | None = None

    @property
    def is_number(self) -> bool:
        return self.kind not in ("text", "code", "words", "badge")


@dataclass(frozen=True)
class Filter:
    """A choice above a table: show only rows that have this value in a column."""

    name: str
    label: str
    start: str | None = None


@dataclass(frozen=True)
class Chosen:
    """A filter with its values in words; `column` is the place of its column, where it has one."""

    label: str
    start: str | None
    values: list[tuple[str, str]]
    column: int | None


@dataclass
class Table:
    """A table ready to be rendered; without rows it says `empty`.

    A column is not shown while a filter holds it at one value. `header` is the place of the column
    that heads the rows: the first one that is shown at first.
    """

    id: str
    caption: str
    columns: list[Column]
    rows: list[list[Cell]]
    empty: str
    filters: list[Chosen] = field(default_factory=list)
    keys: list[list[str]] = field(default_factory=list)
    starts: list[bool] = field(default_factory=list)
    header: int = 0


def make(
    id: str,
    caption: str,
    columns: list[Column],
    rows: list[Row],
    empty: str,
    filters: tuple[Filter, ...] = (),
) -> Table:
    """A table of query rows in their order; columns that no row has are left out."""
    known = [column for column in columns if not rows or column.name in rows[0]]
    places = {column.name: place for place, column in enumerate(known)}
    choices, names = [], []
    for one in filters:
        values = list(dict.fromkeys(key(row.get(one.name)) for row in rows))
        if len(values) > 1:
            place = places.get(one.name)
            in_words = place is not None and known[place].kind in ("words", "badge")
            said = words.plain if in_words else words.say
            start = one.start if one.start in values else None
            choices.append(Chosen(one.label, start, [(v, said(v)) for v in values], place))
            names.append(one.name)
    keys = [[key(row.get(name)) for name in names] for row in rows]
    starts = [
        all(one.start in (None, value) for one, value in zip(choices, line, strict=True))
        for line in keys
    ]
    held = {one.column for one in choices if one.start is not None}
    header = next((place for place in range(len(known)) if place not in held), 0)
    cells = [[cell(column, row) for column in known] for row in rows]
    return Table(id, caption, known, cells, empty, choices, keys, starts, header)


def key(value: object) -> str:
    """A value as the text that filters compare."""
    return "" if value is None else visible(str(value))


def cell(column: Column, row: Row) -> Cell:
    """A value as it is written."""
    value = row.get(column.name)
    if value is HIDDEN:
        # "< 10" beside a per cent sign would be read as a figure.
        return Cell(repr(HIDDEN) if column.kind == "count" else "hidden", None, "num")
    return WRITERS[column.kind](column, value, row)


def _text(column: Column, value: object, row: Row) -> Cell:
    return _writing(NOTHING if value in (None, "") else str(value))


def _words(column: Column, value: object, row: Row) -> Cell:
    return _writing(words.plain(value))


def _writing(text: str) -> Cell:
    """Short text stays on one line, long text has room."""
    return Cell(text, text.lower(), "short" if len(text) <= SHORT else "long")


def _code(column: Column, value: object, row: Row) -> Cell:
    return Cell(NOTHING if value is None else str(value), key(value), "code")


def _badge(column: Column, value: object, row: Row) -> Cell:
    text = words.plain(value)
    return Cell(text, text.lower(), f"badge {words.tone(value)}")


def _count(column: Column, value: object, row: Row) -> Cell:
    return Cell(NOTHING if value is None else f"{value:,}", value, "num")


def _percent(column: Column, value: object, row: Row) -> Cell:
    return Cell(NOTHING if value is None else percent(value), value, "num")


def _number(column: Column, value: object, row: Row) -> Cell:
    return Cell(NOTHING if value is None else three_digits(value), value, "num")


def _p(column: Column, value: object, row: Row) -> Cell:
    if value is None:
        return Cell(NOTHING, None, "num")
    return Cell("< 0.001" if value < 0.001 else f"{value:.3f}", value, "num")


def _interval(column: Column, value: object, row: Row) -> Cell:
    return _with_interval(column, value, row, percent)


def _points(column: Column, value: object, row: Row) -> Cell:
    return _with_interval(column, value, row, signed)


def _plain(column: Column, value: object, row: Row) -> Cell:
    return _with_interval(column, value, row, three_digits)


def _mixed(column: Column, value: object, row: Row) -> Cell:
    return (_interval if row["is_share"] else _plain)(column, value, row)


def _with_interval(
    column: Column, value: object, row: Row, write: Callable[[float], str]
) -> Cell:
    if value is None:
        return Cell(NOTHING, None, "num")
    low, high = row.get(f"{column.name}_low"), row.get(f"{column.name}_high")
    if low is None or high is None:
        return Cell(write(value), value, "num")
    drawn = None
    if column.drawn:
        start, end = column.drawn
        reference = column.reference
        if isinstance(reference, str):
            reference = row.get(reference)

        def place(number: float) -> float:
            return round(DRAWN_WIDTH * (min(max(number, start), end) - start) / (end - start), 1)

        drawn = Drawn(
            place(low), place(value), place(high), None if reference is None else place(reference)
        )
    return Cell(f"{write(value)} ({write(low)} to {write(high)})", value, "num", drawn)


def percent(number: float) -> str:
    """A share in per cent, without its sign."""
    return f"{100 * number:,.1f}".replace("-", "−")


def signed(number: float) -> str:
    """A difference in percentage points, with its sign."""
    return f"{100 * number:+.1f}".replace("-", "−")


def three_digits(number: float) -> str:
    """A number to three digits, a large one to the unit."""
    return f"{number:,.0f}" if abs(number) >= 100 else f"{number:.3g}"


WRITERS = {
    "text": _text,
    "words": _words,
    "code": _code,
    "badge": _badge,
    "count": _count,
    "percent": _percent,
    "number": _number,
    "p": _p,
    "interval": _interval,
    "points": _points,
    "plain": _plain,
    "mixed": _mixed,
}
