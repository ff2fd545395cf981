"""The pages, the static files and the interface as one application."""

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
from headwright.lab.asking import HEADER, Board
from headwright.lab.bodies import RefusedError, read_json, refusal, reply
from headwright.lab.described import listed
from headwright.lab.guard import Guard
from headwright.lab.openapi import described
from headwright.lab.pool import BusyError, Pool
from headwright.lab.room import Call, Room
from headwright.lab.rooms import ROOMS
from headwright.validation import sentence

LOST = (
    '<section class="hero"><h1>There is nothing here</h1><p class="lead">No room has this address: they are all above, '
    'and on <a href="/">the front page</a>.</p></section>'
)
STATUS = {"unusable": 422, "memory": 503, "stopped": 503, "bug": 500}


def create_app(
    hosts: Iterable[str], token: str | None = None, *, rooms: Sequence[Room] = ROOMS, pool: Pool | None = None
) -> Starlette:
    """The application for these hosts (names with ports); with a token only for who has it."""
    workers = pool or Pool()

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        await workers.open()
        yield
        await workers.close()

    calls = [call for room in rooms for call in room.calls]
    document = described(calls)

    board = Board()

    async def openapi(_: Request) -> Response:
        return reply(document)

    async def interface(request: Request) -> Response:
        return HTMLResponse(_shell("api", "The interface · Headwright", rooms, listed(document, str(request.base_url))))

    async def nothing_here(request: Request, _: Exception) -> Response:
        if "text/html" in request.headers.get("accept", ""):  # somebody reads it
            return HTMLResponse(_shell("api", "Nothing here · Headwright", rooms, LOST), status_code=404)
        return refusal(RefusedError(404, "there is nothing at this address"))

    async def progress(request: Request) -> Response:
        return reply(board.told(request.path_params["question"]))

    front = Template((STATIC / "front.html").read_text(encoding="utf-8")).substitute(cards=_cards(rooms))
    pages = [Route("/", _page(_shell("front", "Headwright: the lab", rooms, front)), methods=["GET"])]
    pages += [
        Route(
            f"/{room.name}",
            _page(_shell(f"rooms/{room.name}", f"{room.title} · Headwright", rooms, here=room)),
            methods=["GET"],
        )
        for room in rooms
        if room.point
    ]
    api = [Route(f"/api/{call.name}", _answering(call, workers, board), methods=["POST"]) for call in calls]
    return Starlette(
        routes=[
            *pages, *api, Route("/api", interface, methods=["GET"]),
            Route("/api/openapi.json", openapi, methods=["GET"]),
            Route("/api/progress/{question}", progress, methods=["GET"]),
            Route("/static/theme.css", _theme, methods=["GET"]),
            Mount("/static", StaticFiles(directory=STATIC)),
        ],
        middleware=[Middleware(Guard, hosts=list(hosts), token=token)],
        lifespan=lifespan,
        exception_handlers={RefusedError: _refused, 404: nothing_here, 405: _not_so, 500: _bug},
    )  # fmt: skip


def _answering(call: Call, pool: Pool, board: Board) -> Any:
    async def endpoint(request: Request) -> Response:
        given = await read_json(request)
        try:
            call.asks.model_validate(given)
        except ValidationError as error:
            place = error.errors(include_url=False, include_input=False, include_context=False)[0]["loc"]
            raise RefusedError(422, sentence(error, call.asks, "the body"), str(place[0]) if place else None) from None
        with board.asking(request.headers.get(HEADER)) as how_far:
            asking = asyncio.create_task(pool.ask({"call": call.name, "given": given}, call.seconds, how_far))
            leaving = asyncio.create_task(_left(request))
            try:
                await asyncio.wait({asking, leaving}, return_when=asyncio.FIRST_COMPLETED)
                if not asking.done():
                    asking.cancel()
                    return Response(status_code=499)  # nobody reads it: the page asks something else by now
                found = asking.result()
            except BusyError:
                raise RefusedError(503, "too many questions wait already: try again in a moment") from None
            finally:
                leaving.cancel()
        if "answer" in found:
            return reply(found["answer"])
        raise RefusedError(STATUS[found["kind"]], found["error"], found["where"])

    return endpoint


async def _left(request: Request) -> None:
    """Wait until whoever asked has gone."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _theme(_: Request) -> Response:
    """The colours and the type, which the lab has in common with reports and charts."""
    return Response(theme.css(), media_type="text/css")


def _shell(module: str, title: str, rooms: Sequence[Room], main: str = "", here: Room | None = None) -> str:
    """A page: the shell, with the rooms in its head and the module that fills it."""
    links = "".join(
        f'<a href="/{room.name}"{" aria-current=page" if room is here else ""}>{html.escape(room.title)}</a>'
        for room in rooms
        if room.point
    )
    shell = Template((STATIC / "page.html").read_text(encoding="utf-8"))
    return shell.substitute(
        title=html.escape(title), module=module, links=links, version=__version__, room=here.name if here else "front",
        main=main, name=html.escape(here.title) if here else "", point=html.escape(here.point) if here else "",
    )  # fmt: skip


def _cards(rooms: Sequence[Room]) -> str:
    return "".join(
        f'<a class="card" href="/{room.name}">{_thumb(room)}'
        f"<b>{html.escape(room.title)}</b><span>{html.escape(room.point)}</span></a>"
        for room in rooms
        if room.point
    )


def _page(text: str) -> Any:
    async def endpoint(_: Request) -> Response:
        return HTMLResponse(text)

    return endpoint


def _thumb(room: Room) -> str:
    """A small picture for the card, where there is one."""
    there = (STATIC / "thumbs" / f"{room.name}.svg").exists()
    return f'<img src="/static/thumbs/{room.name}.svg" alt="" width="240" height="110">' if there else ""


async def _refused(_: Request, error: Exception) -> Response:
    return refusal(error) if isinstance(error, RefusedError) else await _bug(_, error)


async def _not_so(_: Request, __: Exception) -> Response:
    return refusal(RefusedError(405, "this address is asked in another way: see /api"))


async def _bug(_: Request, __: Exception) -> Response:
    return refusal(RefusedError(500, "internal error in headwright"))
