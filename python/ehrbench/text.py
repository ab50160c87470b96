"""Text from data as a reader sees it: hidden characters made visible."""

from __future__ import annotations

import json
import re
import unicodedata

# Categories whose characters are not seen or move what stands around them: controls, format
# characters (bidi, zero width), surrogates, private use, line and paragraph separators.
HIDDEN = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
KEPT = {"\n", "\t"}
# Of other categories, and not seen either: joiners, fillers, variation selectors.
UNSEEN = {
    *map(chr, (0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x180F)),
    *map(chr, (0x3164, 0xFFA0, *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))),
}
# What is looked at; the rest is printable ASCII.
OTHER = re.compile("[^ -~]")


def is_hidden(letter: str) -> bool:
    """Whether a character is not seen, moves what stands around it, or is none at all."""
    if unicodedata.category(letter) in HIDDEN or letter in UNSEEN:
        return True
    # U+FFFE and its like are no characters: XML does not take them.
    return ord(letter) & 0xFFFE == 0xFFFE or "\ufdd0" <= letter <= "\ufdef"


def visible(text: str) -> str:
    """The text with hidden characters written as their code, ⟨U+200B⟩; line feeds and tabs stay."""
    if text.isascii() and text.isprintable():
        return text
    return OTHER.sub(
        lambda found: f"⟨U+{ord(found[0]):04X}⟩"
        if found[0] not in KEPT and is_hidden(found[0])
        else found[0],
        text,
    )


def cut(text: str | None, limit: int, length: int | None = None) -> str | None:
    """At most `limit` characters; what is cut off is said.

    `length` is that of the whole text where only its beginning is given.
    """
    length = length or len(text or "")
    if text is None or length <= limit:
        return text
    return f"{text[:limit]} … ({length - limit:,} characters more)"


def json_text(value: object) -> str:
    """JSON on one line, in which hidden characters are escapes: the same value to every reader."""
    return OTHER.sub(
        lambda found: json.dumps(found[0])[1:-1] if is_hidden(found[0]) else found[0],
        json.dumps(value, ensure_ascii=False),
    ).replace("\x7f", "\\u007f")
