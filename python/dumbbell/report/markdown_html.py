"""Our own Markdown as HTML: headings, paragraphs, lists, tables, blocks of code, and marks within a line.

It covers the texts of handouts, which are part of the package. Every text is escaped; HTML in it is shown, not used.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape

__all__ = ["html", "sections"]

_HEADING = re.compile(r"(#{2,4}) (.*)")
_ITEM = re.compile(r"(-|\d+\.) (.*)")
_CODE = re.compile(r"`([^`]+)`")
_LINK = re.compile(r"\[([^\]]+)\]\((https?://[^)\s]+|#[\w-]+)\)")
_STRONG = re.compile(r"\*\*([^*]+)\*\*")
_EMPHASIS = re.compile(r"(?<![\w*])\*([^*\s][^*]*)\*(?!\w)")


def sections(text: str) -> list[tuple[str, str]]:
    """Return the anchors and titles of the headings of the second level."""
    without_code = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    return [(_anchor(title), title) for title in re.findall(r"^## (.*)$", without_code, re.MULTILINE)]


def html(text: str) -> str:
    """Write Markdown as HTML."""
    return "\n".join(_blocks(text.splitlines()))


def _blocks(lines: list[str]) -> Iterator[str]:
    at = 0
    while at < len(lines):
        line = lines[at]
        if not line.strip():
            at += 1
        elif line.startswith("```"):
            end = next(n for n in range(at + 1, len(lines)) if lines[n].startswith("```"))
            code = "\n".join(lines[at + 1 : end])
            yield f"<pre>{escape(code)}</pre>"
            at = end + 1
        elif heading := _HEADING.fullmatch(line):
            level = len(heading[1])
            yield f'<h{level} id="{_anchor(heading[2])}">{_inline(heading[2])}</h{level}>'
            at += 1
        else:
            end = next((n for n in range(at, len(lines)) if _ends(lines[n])), len(lines))
            part = lines[at:end]
            yield _table(part) if line.startswith("|") else _list(part) if _ITEM.match(line) else _paragraph(part)
            at = end


def _ends(line: str) -> bool:
    """Return True if a paragraph, a list or a table ends before this line."""
    return not line.strip() or line.startswith("```") or _HEADING.fullmatch(line) is not None


def _paragraph(lines: list[str]) -> str:
    return f"<p>{_inline(' '.join(lines))}</p>"


def _list(lines: list[str]) -> str:
    items: list[str] = []
    for line in lines:
        if item := _ITEM.match(line):
            items.append(item[2])
        else:
            items[-1] += f" {line.strip()}"
    tag = "ul" if lines[0].startswith("-") else "ol"
    return f"<{tag}>{''.join(f'<li>{_inline(item)}</li>' for item in items)}</{tag}>"


def _table(lines: list[str]) -> str:
    head, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    top = "".join(f'<th scope="col">{_inline(cell)}</th>' for cell in head)
    body = "".join(f"<tr>{''.join(f'<td>{_inline(cell)}</td>' for cell in row)}</tr>" for row in rows)
    opened = '<div class="wide" tabindex="0" role="region" aria-label="Table">'
    return f"{opened}<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>"


def _inline(text: str) -> str:
    """Write the marks within a line; those within code stay as they are."""
    parts = _CODE.split(text)
    return "".join(f"<code>{escape(p)}</code>" if n % 2 else _marked(p) for n, p in enumerate(parts))


def _marked(text: str) -> str:
    text = escape(text)
    text = _LINK.sub(r'<a href="\2">\1</a>', text)
    text = _STRONG.sub(r"<strong>\1</strong>", text)
    return _EMPHASIS.sub(r"<em>\1</em>", text)


def _anchor(title: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
