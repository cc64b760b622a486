"""Clients ask, and hang up."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from kvfence.core import events as on
from kvfence.core.ids import Role, RoomId
from kvfence.verify.bound import spent
from kvfence.verify.move import Happening, Kind, Move
from kvfence.verify.scene import Scene
from kvfence.verify.world import Client, End, Setting, World


def asks(world: World, setting: Setting) -> Iterator[Happening]:
    """The next request, of a tenant that is known or of the first that is not: tenants differ by nothing else."""
    if not world.left.requests:
        return
    room = setting.bound.budget.requests - world.left.requests + 1
    for tenant in range(min(world.tenants_met + 1, setting.bound.tenants)):
        for at, shape in enumerate(setting.bound.shapes):
            move = Move(Kind.ASK, room, at=at, tenant=tenant)
            yield move, partial(_ask, world, setting, Client(room, tenant, shape))


def hang_ups(world: World, setting: Setting) -> Iterator[Happening]:
    """Whoever waits for an answer may go away."""
    if world.left.hang_ups:
        for room in world.router.value.rooms:
            yield Move(Kind.HANG_UP, room), partial(_hang_up, world, setting, room)


def _ask(world: World, setting: Setting, client: Client) -> World:
    scene = Scene(world, setting.wire)
    scene.clients = (*scene.clients, client)
    scene.tenants_met = max(scene.tenants_met, client.tenant + 1)
    scene.left = scene.left._replace(requests=scene.left.requests - 1)
    scene.happen(Role.ROUTER, setting.asked(client))
    return scene.frozen()


def _hang_up(world: World, setting: Setting, room: RoomId) -> World:
    scene = Scene(world, setting.wire)
    scene.left = spent(scene.left, "hang_ups")
    scene.change_client(scene.client(room)._replace(end=End.GONE))
    scene.happen(Role.ROUTER, on.ClientGone(room=room))
    return scene.frozen()
