"""A page of text, such as a lab's handout: one HTML file that needs nothing else, in the style of the reports."""

from __future__ import annotations

from collections.abc import Sequence

from dumbbell.plots.web import policy, style
from dumbbell.report.markdown_html import html, sections
from dumbbell.report.template import CONTENTS, template

__all__ = ["text_page"]


def text_page(title: str, subtitle: str, facts: Sequence[tuple[str, str]], text: str) -> str:
    """Write a page: its title, facts in a list, and a text in Markdown.

    Raises
    ------
    DumbbellError
        If jinja2 isn't installed.
    """
    script = CONTENTS.read_text(encoding="utf-8")
    return template("text.html").render(
        title=title,
        subtitle=subtitle,
        facts=facts,
        sections=sections(text),
        body=html(text),
        style=style(),
        script=script,
        policy=policy(script),
    )
