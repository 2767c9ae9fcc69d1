"""`citewell docs list` and `citewell docs read`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from citewell.cli.common import Command, Home, Json, Options, ProfileName, Verbose, emit, with_app

if TYPE_CHECKING:
    from citewell.app import Citewell
    from citewell.index.store import Listed

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
_PAGE = 200


@app.command("list", cls=Command)
def list_documents(
    prefix: Annotated[str, typer.Option(help="Only SOURCE/PATH that begin with this.", metavar="P")] = "",
    offset: Annotated[int, typer.Option(min=0, max=10**9, help="Start after so many.", metavar="N")] = 0,
    json: Json = False,
    home: Home = None,
    profile: ProfileName = None,
    verbose: Verbose = False,
) -> None:
    """List the indexed documents, ordered by source and path."""
    options = Options(json, home, profile, verbose)

    async def work(app: Citewell) -> Listed:
        return await app.list_documents(prefix, limit=_PAGE, offset=offset)

    listed = with_app(options, work)
    end = offset + len(listed.documents)
    following = end if end < listed.total else None
    rows = [{"source": d.source, "path": d.path, "title": d.title, "url": d.url} for d in listed.documents]

    def text() -> str:
        from citewell.render import one_line

        lines = [f"{listed.total} documents:", *(one_line(f"{row['source']}/{row['path']} — {row['title']}") for row in rows)]
        return "\n".join(lines if following is None else [*lines, f"(more: --offset {following})"])

    emit(options, {"total": listed.total, "documents": rows, "next": following}, text)


@app.command("read", cls=Command)
def read(
    document: Annotated[str, typer.Argument(help="SOURCE/PATH, as `citewell docs list` shows it.")],
    offset: Annotated[int, typer.Option(min=0, max=10**9, help="Start at this character.", metavar="N")] = 0,
    json: Json = False,
    home: Home = None,
    profile: ProfileName = None,
    verbose: Verbose = False,
) -> None:
    """Read a stored document as Markdown, page by page."""
    options = Options(json, home, profile, verbose)
    found = with_app(options, lambda app: app.read_document(document, offset=offset))
    emit(options, found, lambda: found.text + (f"\n(more: --offset {found.next})" if found.next is not None else ""))
