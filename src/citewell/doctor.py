"""Is everything in place? Every check that can be made, each with its remedy; what does not open is a failed check, not an error."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator

from citewell.app import Citewell
from citewell.errors import CitewellError
from citewell.llm.base import FaultKind
from citewell.llm.probe import Probe, probe
from citewell.profile import Profile
from citewell.settings import Settings
from citewell.types import Check

_LEAST_FREE_BYTES = 200 * 2**20
_REMEDIES: dict[FaultKind, str] = {
    "auth": "Check the key, and that it may use this model.",
    "not_found": "Check the name of the model and the base address.",
    "connection": "Check the base address, and whether the server runs.",
    "timeout": "Try again, or raise CITEWELL_CALL_TIMEOUT.",
    "rate_limited": "Wait a little, or name another model in CITEWELL_MODELS.",
}


async def doctor(settings: Settings, profile: Profile) -> list[Check]:
    """The checks in order: home, database, what is indexed, models. Each provider is asked three small things."""
    found = [_home(settings)]
    try:
        async with Citewell(settings, profile) as app:
            where = "CITEWELL_DATABASE_URL" if settings.database_url else f"embedded, in {settings.home}"
            found.append(Check("database", True, where))
            found.extend(await app.checks())
            found.extend([check async for check in _providers(app)])
    except CitewellError as error:
        found.append(Check("database", False, str(error), error.hint))
    return found


def _home(settings: Settings) -> Check:
    # pathlib's own raises where a folder is closed or a name too long
    folder = next(parent for parent in (settings.home, *settings.home.parents) if os.path.exists(parent))  # noqa: PTH110
    free = shutil.disk_usage(folder).free
    enough = free >= _LEAST_FREE_BYTES
    return Check(
        "home", enough, f"{settings.home}, {free / 2**30:.1f} GiB free", "" if enough else "Free some space, or choose another --home."
    )


async def _providers(app: Citewell) -> AsyncIterator[Check]:
    try:
        fleet = app.models.registry.fleet()
    except CitewellError as error:
        yield Check("provider", False, str(error), error.hint)
        return
    if fleet.offline:
        yield Check("provider", True, "offline: answers are quotations, no model is asked")
    for model in await fleet.models(seconds=app.settings.call_timeout):
        yield _asked(await probe(fleet.provider(model.provider), model, seconds=app.settings.call_timeout))


def _asked(found: Probe) -> Check:
    if found.fault is None:
        return Check("provider", True, f"{found.model}: {found.abilities}")
    remedy = _REMEDIES.get(found.fault.kind, "Try again later, or name another model in CITEWELL_MODELS.")
    return Check("provider", False, f"{found.model}: {found.fault}", remedy)
