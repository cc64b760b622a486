"""A report's page of HTML read back: which elements there are, whether they nest, and whether all are ours."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from html.parser import HTMLParser

VOID = {"meta", "link"}


class Page(HTMLParser):
    """Which elements there are with which attributes, and their text; raises where one is closed that is not open."""

    def __init__(self, text: str):
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def assert_only(page: Page, ours: AbstractSet[str]) -> None:
    """Elements nest and are ours; there is no handler, and no address of anywhere else."""
    assert page.open == []
    assert {tag for tag, _attributes in page.tags} <= ours
    for _tag, attributes in page.tags:
        assert not any(name.startswith("on") for name in attributes)
        assert attributes.get("href", "data:,") == "data:,"
        assert not {"src", "xlink:href", "action"} & attributes.keys()
