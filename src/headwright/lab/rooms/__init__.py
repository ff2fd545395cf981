"""The rooms, in the order of the front page. To add one: a module here with `ROOM`, a line below, and its page."""

from __future__ import annotations

from headwright.lab.room import Call, Room
from headwright.lab.rooms import audit, check, design, heads, noise, order, rank, verify

ROOMS: tuple[Room, ...] = (
    design.ROOM, noise.ROOM, order.ROOM, check.ROOM, heads.ROOM, audit.ROOM, rank.ROOM, verify.ROOM,
)  # fmt: skip
CALLS: dict[str, Call] = {call.name: call for room in ROOMS for call in room.calls}
