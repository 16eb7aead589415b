"""Small tables for notebooks."""
from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Any


def table_html(caption: str, heads: list[str], rows: Iterable[Iterable[Any]]) -> str:
    """An HTML table; every text is escaped."""
    head = "".join(f"<th>{escape(text)}</th>" for text in heads)
    body = "".join("<tr>" + "".join(f"<td>{cell_html(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def cell_html(cell: Any) -> str:
    if cell is None:
        return ""
    return f"{cell:,}" if isinstance(cell, int) and not isinstance(cell, bool) else escape(str(cell))
