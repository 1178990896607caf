"""Every page leads where it says: relative links between files of the repository, and to headings in them."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from urllib.parse import unquote

import pytest

ROOT = Path(__file__).parents[1]

_CODE = re.compile(r"^( *)(```|~~~).*?^\1\2[ \t]*$|`[^`\n]+`", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"!?\[[^\]]*\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
_REFERENCE = re.compile(r"^ {0,3}\[[^\]]+\]:\s*<?([^\s>]+)", re.MULTILINE)
_HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*\s*$", re.MULTILINE)


def pages() -> list[Path]:
    """The Markdown files that belong to the repository; everything here when this is no clone."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "*.md"], check=False, cwd=ROOT, capture_output=True, text=True
    )
    names = [name for name in listed.stdout.split("\0") if name]
    found = [ROOT / name for name in names] or [
        path for path in ROOT.rglob("*.md") if not any(part.startswith(".") for part in path.parts)
    ]
    return [path for path in found if path.exists()]


def anchors(page: Path) -> set[str]:
    """The headings of a page, as links name them."""
    text = _CODE.sub(lambda code: code[0] if "\n" not in code[0] else "", page.read_text(encoding="utf-8"))
    plain = [re.sub(r"[^\w\- ]", "", heading.lower()) for heading in _HEADING.findall(text)]
    return {heading.replace(" ", "-") for heading in plain}


def links(text: str) -> list[str]:
    """Where a page's links lead, as they are written; code is no link."""
    prose = _CODE.sub("", text)
    return [*_LINK.findall(prose), *_REFERENCE.findall(prose)]


def broken(page: Path) -> list[str]:
    """The relative links of a page that lead nowhere."""
    found = []
    for link in links(page.read_text(encoding="utf-8")):
        if re.match(r"[a-z][a-z0-9+.-]*:", link):
            continue
        path, _, anchor = unquote(link).partition("#")
        target = (page.parent / path) if path else page
        inside = target.resolve().is_relative_to(ROOT)
        if not inside or not target.exists() or (anchor and anchor not in anchors(target)):
            found.append(link)
    return found


def test_there_are_pages_with_links() -> None:
    assert sum(len(links(page.read_text(encoding="utf-8"))) for page in pages()) >= 10


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_every_relative_link_of_a_page_leads_somewhere(page: Path) -> None:
    assert broken(page) == []


def test_a_link_that_leads_nowhere_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    (tmp_path / "there.md").write_text("# A `first` heading\n```\n# no heading\n```\n")
    page = tmp_path / "page.md"
    page.write_text(
        "[a](there.md) [b](there.md#a-first-heading) [c](https://example.org/x) `[d](code.md)`\n"
        "```\n[e](code.md)\n```\n[f](gone.md) ![g](<gone.png>) [h](there.md#no-heading) [i](../out.md)\n"
        '[j](#nothing) [k](gone2.md "a title")\n\n[ref]: gone3.md\n'
    )
    assert broken(page) == [
        "gone.md",
        "gone.png",
        "there.md#no-heading",
        "../out.md",
        "#nothing",
        "gone2.md",
        "gone3.md",
    ]
