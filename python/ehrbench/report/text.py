"""Text from data on a page: markup is never read as markup."""

from __future__ import annotations

import json

from ehrbench.text import visible


def in_plot(text: str) -> str:
    """Text for a plot, whose library reads a small subset of HTML in labels."""
    return visible(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def script(call: str, *values: object) -> str:
    """One JavaScript call whose arguments are data: ASCII only, and no `</` or `<!`."""
    texts = (
        json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
        for value in values
    )
    return f"{call}({','.join(texts)});\n".replace("<", "\\u003c")
