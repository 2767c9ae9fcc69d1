"""What models have shown that they cannot do, remembered so that it is asked once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from citewell.llm.base import Capability, ChatRequest, FaultKind, ModelRef

_UNKNOWN = Capability()


class Capabilities:
    """What is known of each model. `known` comes from an earlier process, and `save` is told of everything new."""

    def __init__(
        self, known: Mapping[ModelRef, Capability] | None = None, save: Callable[[ModelRef, Capability], None] | None = None
    ) -> None:
        self._known = dict(known or {})
        self._save = save

    def of(self, model: ModelRef) -> Capability:
        return self._known.get(model, _UNKNOWN)

    def learn(self, model: ModelRef, capability: Capability) -> None:
        self._known[model] = capability
        if self._save is not None:
            self._save(model, capability)


def lesser(capability: Capability, kind: FaultKind, request: ChatRequest) -> Capability | None:
    """What a model can do after such a fault: always less than before; None where the fault says nothing that was not known."""
    if kind == "no_temperature" and capability.temperature and request.temperature is not None:
        return replace(capability, temperature=False)
    if kind == "no_schema" and request.schema is not None:
        if capability.json_schema:
            return replace(capability, json_schema=False)
        return replace(capability, json_object=False) if capability.json_object else None
    if kind == "no_max_tokens" and capability.max_tokens:
        return replace(capability, max_tokens=False)
    if kind == "no_tools" and capability.tools and (request.tools or request.schema):  # a schema may be asked for by a forced tool
        return replace(capability, tools=False)
    return None
