"""What `make docs` does beside MkDocs: pages from the root of the repository, a reference of the Python API, and links.

Links that leave docs/ lead to a copy of the file in the site, and anchors are those that GitHub makes. A page that
would load something from another host is an error.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

import goldgate

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
# Pages that lie in the root of the repository, by their name in the site.
ROOT_PAGES = {
    "about.md": ROOT / "README.md",
    "changelog.md": ROOT / "CHANGELOG.md",
    "contributing.md": ROOT / "CONTRIBUTING.md",
    "security.md": ROOT / "SECURITY.md",
}
REFERENCE = "reference.md"
FILES = "repository"  # the folder of the site with files that pages link to

_LINK = re.compile(r"(!?\[(?:[^\[\]]|\[[^\]]*\])*\])\(([^)\s]+)\)")
_CODE = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
_LOADED = re.compile(r"<(?:script|link|img|iframe|source)\b[^>]*?\b(?:src|href)=[\"']?((?:https?:)?//[^\"'\s>]+)")
_IMPORTED = re.compile(r"(?:@import|url\()\s*[\"']?(?:https?:)?//")


def on_config(config: Any) -> Any:
    config["mdx_configs"].setdefault("toc", {})["slugify"] = slugify
    config["nav"] = _with_folders(config["nav"])
    return config


def _with_folders(menu: Any) -> Any:
    """The menu with the pages of a folder in the place of `folder/*`, its README first."""
    if isinstance(menu, list):
        return [_with_folders(entry) for entry in menu]
    if isinstance(menu, dict):
        return {title: _with_folders(entry) for title, entry in menu.items()}
    if not menu.endswith("/*"):
        return menu
    pages = sorted((DOCS / menu[:-2]).glob("*.md"), key=lambda page: (page.name != "README.md", page.name))
    return [page.relative_to(DOCS).as_posix() for page in pages]


def slugify(heading: str, separator: str) -> str:
    """The anchor of a heading as GitHub makes it: the links of the pages work there and here."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", separator)


def on_files(files: Any, config: Any) -> Any:
    for name, path in ROOT_PAGES.items():
        files.append(File.generated(config, name, abs_src_path=str(path)))
    files.append(File.generated(config, REFERENCE, content=reference()))
    pages = [*DOCS.rglob("*.md"), *ROOT_PAGES.values()]
    linked = {path for page in pages for path in _linked_files(page) if path.is_file()}
    for path in sorted(linked):
        if _site_name(path).startswith(FILES):
            files.append(File.generated(config, _site_name(path), content=path.read_bytes()))
    return files


def reference() -> str:
    """The page of the Python API: every public name, from its docstring."""
    names = [name for name in goldgate.__all__ if name != "__version__"]
    homes = {name: getattr(goldgate, name).__module__ for name in names}
    parts = [f"::: {homes[name]}.{name}\n" for name in sorted(names, key=str.lower)]
    return (
        "# API reference\n\nThe public names of `goldgate`; [Python](python-api.md) shows them at work.\n\n"
        + "\n".join(parts)
    )


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """The page with links that hold in the site; what the site does not have is text."""
    source = ROOT_PAGES.get(page.file.src_uri, DOCS / page.file.src_uri)

    def rewrite(match: re.Match[str]) -> str:
        label, target = match.groups()
        file, hash, anchor = target.partition("#")
        if not file or "://" in target:
            return match.group()
        path = (source.parent / file).resolve()
        if path.is_dir():
            return label.strip("[]")
        name = posixpath.relpath(_site_name(path), posixpath.dirname(page.file.src_uri) or ".")
        return f"{label}({name}{hash}{anchor})"

    parts = _CODE.split(markdown)
    return "".join(part if place % 2 else _LINK.sub(rewrite, part) for place, part in enumerate(parts))


def _linked_files(page: Path) -> Iterator[Path]:
    for _, target in _LINK.findall(_CODE.sub("", page.read_text(encoding="utf-8"))):
        if "://" not in target and not target.startswith("#"):
            yield (page.parent / target.partition("#")[0]).resolve()


def _site_name(path: Path) -> str:
    """Where a file of the repository is in the site; what is not a page is shown as text."""
    for name, root_page in ROOT_PAGES.items():
        if path == root_page:
            return name
    if path.is_relative_to(DOCS):
        return path.relative_to(DOCS).as_posix()
    return f"{FILES}/{path.relative_to(ROOT).as_posix()}.txt"


def on_post_page(output: str, page: Any, config: Any) -> str:
    for address in _LOADED.findall(output):
        raise PluginError(f"{page.file.src_uri} would load {address}")
    return output


def on_post_build(config: Any) -> None:
    for path in Path(config["site_dir"]).rglob("*.css"):
        if _IMPORTED.search(path.read_text(encoding="utf-8")):
            raise PluginError(f"{path.name} would load something from another host")
