"""Internals: what stands in the code rather than in the manual."""

from __future__ import annotations

from citewell.agent.shapes.rule import MINE, rules

INTERNALS = rules(
    "internals",
    ("asks where code is", "about", r"^where ...(?:implemented|defined|declared|coded) ", r"%(?:should|must|do|can) (?:i|we|you) "),
    (
        "asks where code is",
        "about",
        r"^(?:where|which|what) ...%in the ~(?:source|codebase|code base|repository|repo|tree) ",
        r"%(?:should|must|do|can) (?:i|we) ",
    ),
    (
        "asks where code is",
        "about",
        r"^(?:which|what) (?:source )?(?:files?|modules?|headers?|folders?|director(?:y|ies)|packages?|crates?|part of ~code) "
        r"(?:contains?|holds?|implements?|defines?|is ~responsible|does) ",
        None,
    ),
    (
        "asks where code is",
        "about",
        r"^(?:which|what) ~(?:function|class|method|routine|kernel|code|line)s? (?:actually |really )?(?:implements?|defines?|is "
        r"~responsible) ",
        None,
    ),
    ("asks how code is made", "about", r"^how (?:is|are|was|were) ...(?:implemented|coded|architected|structured internally) ", None),
    (
        "asks what happens inside",
        "about",
        r"%(?:under the hood|behind the scenes|beneath the surface|internally|internals of|inner workings|under the covers) ",
        MINE,
    ),
    (
        "asks for source code",
        "any",
        r"%(?:show|see|find|read|view|look at|where is|where's|link to|point me to) ~(?:the )?(?:source code|source|implementation|code) "
        r"(?:of|for|behind) ",
        None,
    ),
)
