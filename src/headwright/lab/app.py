"""The pages, the static files and the API as one application."""

from __future__ import annotations

import asyncio
import html
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from string import Template
from typing import Any

from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from headwright import __version__, theme
from headwright.lab import STATIC
from headwright.lab.calls import VIEWS
from headwright.lab.guard import Guard
from headwright.lab.pool import BusyError, Pool
from headwright.lab.request_body import RefusedError, read_json, refusal, reply
from headwright.lab.view import ApiCall, View
from headwright.notebook import verify_page
from headwright.validation import sentence

ERROR = (
    '<section class="hero"><h1>{title}</h1><p class="lead">{sentence}.</p>'
    '<p><a href="/">Front page of the lab</a></p></section>'
)
STATUS = {"unusable": 422, "memory": 503, "stopped": 503, "bug": 500}


def create_app(
    hosts: Iterable[str],
    *,
    views: Sequence[View] = VIEWS,
    pool: Pool | None = None,
) -> Starlette:
    """The application for these hosts (names with ports)."""
    workers = pool or Pool()

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        await workers.open()
        yield
        await workers.close()

    calls = [call for view in views for call in view.calls]

    def error_reply(request: Request, title: str, error: RefusedError) -> Response:
        """A page for browsers, JSON for programs that use the API."""
        if request.url.path.startswith(
            "/api/"
        ) and "text/html" not in request.headers.get("accept", ""):
            return refusal(error)
        text = ERROR.format(title=title, sentence=html.escape(error.sentence))
        return HTMLResponse(
            _shell("error", f"{title} · Headwright", views, text), error.status
        )

    async def not_found(request: Request, _: Exception) -> Response:
        return error_reply(
            request,
            "Page not found",
            RefusedError(404, f"Nothing found at {request.url.path[:200]}"),
        )

    async def wrong_method(request: Request, _: Exception) -> Response:
        sentence = f"{request.url.path[:200]} does not accept {request.method}"
        return error_reply(request, "Method not allowed", RefusedError(405, sentence))

    front = Template((STATIC / "front.html").read_text(encoding="utf-8")).substitute(
        cards=_cards(views)
    )
    pages = [
        Route(
            "/",
            _page(_shell("front", "Headwright: the lab", views, front)),
            methods=["GET"],
        )
    ]
    pages += [
        Route(
            f"/{view.name}",
            _page(
                _shell(
                    f"views/{view.name}", f"{view.title} · Headwright", views, here=view
                )
            ),
            methods=["GET"],
        )
        for view in views
        if view.summary
    ]
    api = [
        Route(f"/api/{call.name}", _endpoint(call, workers), methods=["POST"])
        for call in calls
    ]
    return Starlette(
        routes=[
            *pages,
            *api,
            Route("/static/theme.css", _theme, methods=["GET"]),
            Mount("/static", StaticFiles(directory=STATIC)),
        ],
        middleware=[Middleware(Guard, hosts=list(hosts))],
        lifespan=lifespan,
        exception_handlers={
            RefusedError: _refused,
            404: not_found,
            405: wrong_method,
            500: _internal_error,
        },
    )


def _endpoint(call: ApiCall, pool: Pool) -> Any:
    async def endpoint(request: Request) -> Response:
        given = await read_json(request)
        try:
            call.request.model_validate(given)
        except ValidationError as error:
            place = error.errors(
                include_url=False, include_input=False, include_context=False
            )[0]["loc"]
            where = str(place[0]) if place else None
            raise RefusedError(
                422, sentence(error, call.request, "the body"), where
            ) from None
        asking = asyncio.create_task(
            pool.ask({"call": call.name, "given": given}, call.seconds)
        )
        leaving = asyncio.create_task(_disconnected(request))
        try:
            await asyncio.wait({asking, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if not asking.done():
                asking.cancel()
                return Response(
                    status_code=499
                )  # nobody reads it: the page has closed the request
            found = asking.result()
        except BusyError:
            raise RefusedError(
                503, "too many requests are waiting: try again in a moment"
            ) from None
        finally:
            leaving.cancel()
        if "answer" in found:
            return reply(found["answer"])
        raise RefusedError(STATUS[found["kind"]], found["error"], found["where"])

    return endpoint


async def _disconnected(request: Request) -> None:
    """Wait until the client disconnects."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _theme(_: Request) -> Response:
    """The colours and fonts, shared with reports and charts."""
    return Response(theme.css(), media_type="text/css")


def _shell(
    module: str,
    title: str,
    views: Sequence[View],
    main: str = "",
    here: View | None = None,
) -> str:
    """A whole page: links to the views, the main part, and the module that fills it."""
    links = "".join(
        f'<a href="/{view.name}"{" aria-current=page" if view is here else ""}>{html.escape(view.title)}</a>'
        for view in views
        if view.summary
    )
    shell = Template((STATIC / "page.html").read_text(encoding="utf-8"))
    return shell.substitute(
        title=html.escape(title),
        module=module,
        links=links,
        version=__version__,
        page=here.name if here else "front",
        main=main,
        name=html.escape(here.title) if here else "",
        summary=html.escape(here.summary) if here else "",
        verify=html.escape(verify_page()),
    )


def _cards(views: Sequence[View]) -> str:
    return "".join(
        f'<a class="card" href="/{view.name}">{_thumb(view)}'
        f"<b>{html.escape(view.title)}</b><span>{html.escape(view.summary)}</span></a>"
        for view in views
        if view.summary
    )


def _page(text: str) -> Any:
    async def endpoint(_: Request) -> Response:
        return HTMLResponse(text)

    return endpoint


def _thumb(view: View) -> str:
    """A small picture for the card, where there is one."""
    there = (STATIC / "thumbs" / f"{view.name}.svg").exists()
    return (
        f'<img src="/static/thumbs/{view.name}.svg" alt="" width="240" height="110">'
        if there
        else ""
    )


async def _refused(_: Request, error: Exception) -> Response:
    return (
        refusal(error)
        if isinstance(error, RefusedError)
        else await _internal_error(_, error)
    )


async def _internal_error(_: Request, __: Exception) -> Response:
    return refusal(RefusedError(500, "internal error, a bug in Headwright"))
