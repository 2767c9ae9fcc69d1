"""Which embedder the settings ask for, and whether it is the one that made the index."""

from __future__ import annotations

import re

from citewell.errors import CitewellError, SettingsError
from citewell.index.embed.base import Embedder
from citewell.index.embed.minilm import MiniLM, weights_folder
from citewell.index.embed.openai_compat import PREFIX, Endpoint, OpenAICompat
from citewell.settings import Settings
from citewell.types import Check


def chosen(settings: Settings, held: str = "") -> Embedder:
    """The endpoint that the settings name, else the packaged model. `held` is the name of the embedder of the vectors that there are: it
    says how wide an endpoint's vectors are. Raises `EmbedderMissing`, and `SettingsError` for an endpoint that is named by half.
    """
    if not settings.embeddings_model and not settings.embeddings_base_url:
        weights_folder()
        return MiniLM()
    if not settings.embeddings_model:
        raise SettingsError("CITEWELL_EMBEDDINGS_BASE_URL names no model.", hint="Set CITEWELL_EMBEDDINGS_MODEL too.")
    if not settings.embeddings_base_url:
        raise SettingsError("CITEWELL_EMBEDDINGS_MODEL names no server.", hint="Set CITEWELL_EMBEDDINGS_BASE_URL too.")
    key = settings.embeddings_api_key
    endpoint = Endpoint(
        base_url=settings.embeddings_base_url,
        model=settings.embeddings_model,
        api_key=key.get_secret_value() if key else "",
        dimensions=settings.embeddings_dimensions,
        per_minute=settings.embeddings_per_minute,
        timeout=settings.call_timeout,
    )
    known = re.fullmatch(re.escape(f"{PREFIX}{endpoint.model}/") + r"(\d+)", held)
    return OpenAICompat(endpoint, width=int(known.group(1)) if known else 0)


def mismatch(held: str, name: str) -> tuple[str, str]:
    """What to tell, and what to do, where the vectors of the index are those of another embedder."""
    model = held.removeprefix(PREFIX).rpartition("/")[0]
    remedy = f"set CITEWELL_EMBEDDINGS_MODEL to {model}" if held.startswith(PREFIX) else "unset CITEWELL_EMBEDDINGS_MODEL and its address"
    return (
        f"This index was made with the embedding model {held}, and the settings name {name}: only keywords find its pages.",
        f"For that model, {remedy}. For the other one, index again into a new --home or database.",
    )


async def check_embedder(settings: Settings, held: str) -> Check:
    """Whether the embedder of the settings works, and fits the vectors that there are."""
    try:
        embedder = chosen(settings, held)
        try:
            state = await embedder.check()
        finally:
            await embedder.aclose()
    except CitewellError as error:
        return Check("embedder", False, str(error), error.hint)
    if held not in {"", embedder.name}:
        return Check("embedder", False, *mismatch(held, embedder.name))
    return Check("embedder", True, f"{embedder.name}, {state}")
