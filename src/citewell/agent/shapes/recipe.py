"""A recipe: several steps, or several questions in one."""

from __future__ import annotations

from citewell.agent.shapes.rule import rules

_HEAD = r"(?:what|which|how|why|where|when|who|whose|can|could|should|do|does|is|are|must|will) "
RECIPES = rules(
    "recipe",
    (
        "wants all steps",
        "any",
        r"%(?:step by step|step-by-step|from scratch|end to end|end-to-end|from start to finish|from beginning to end|from zero) ",
        r"^(?:why|what (?:does|is)) ",
    ),
    ("wants all steps", "any", r"^(?:walk|guide|take|lead|talk) (?:me|us) through ", None),
    (
        "wants all steps",
        "any",
        r"%(?:complete|full|whole|worked|entire) ~(?:example|script|program|pipeline|workflow|tutorial|recipe|walkthrough|application"
        r"|app) ",
        r"^(?:why|is|does|are) ",
    ),
    (
        "tells to make something",
        "done",
        r"^(?:implement|re-?implement|develop|prototype|train|pre-?train|design|port|migrate|construct|scaffold|program) GIVEN",
        r"^\S+ the |^implement (?:the|__)|^port \d",
    ),
    ("tells to make something", "done", r"^fine-?tune ", None),
    (
        "tells to make something",
        "done",
        r"^(?:build|create|write|make|deploy|code|set up|setup|assemble) (?:me |up )?NEWDETAILED~(?:and|,|that|then|using|with) ",
        r"%so that ",
    ),
    (
        "tells to make something",
        "about",
        r"^(?:build|create|write|make|deploy|code|set up|setup) (?:me |up )?NEW~(?:that|which) ",
        r"%so that ",
    ),
    (
        "tells to make something",
        "about",
        r"^VERB(?:NEW|my |the )...%(?:with|using|through|via|that|which|without|into) ...%(?:with|using|through|via|that|which"
        r"|without|into) ",
        None,
    ),
    (
        "takes several steps",
        "done",
        r"%(?:, |and |; )(?:then|afterwards|finally|lastly|after that|at the end) VERBS",
        r"^(?:why|if|when|what happens) |%(?:if|when) |%(?:is|does) (?:this|that|it) (?:possible|work) ",
    ),
    (
        "tells to make something",
        "about",
        r"^(?:implement|develop|design|prototype) (?!the |__|`)~(?:in|with|using|on top of|for|without) ",
        None,
    ),
    ("takes several steps", "any", r"%first ~(?:i want|i need|we want|how|VERB)...then ", r"^why "),
    (
        "takes several steps",
        "done",
        r"^VERB...(?:(?:, |and |; |: )(?:then |and |also )?VERB...(?:, |and |; )|(?:, |and |; |: )...(?:, |and |; )(?:then |and |also "
        r")?VERB)",
        None,
    ),
    ("takes several steps", "done", r"%(?:that|which) VERBS...(?:, |and )VERBS...(?:, |and )(?:and )?VERBS", None),
    (
        "asks several questions",
        "any",
        rf"^{_HEAD}...(?:and |, |; )(?:and |then )?{_HEAD}...(?:, |; |and )(?:and |then |also )?{_HEAD}",
        r"^(?:why|is|are|can|if|when) |%(?:which|where|when|what) (?:is|are) ",
    ),
)
