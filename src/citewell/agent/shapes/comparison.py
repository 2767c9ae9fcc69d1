"""A comparison: two or more things against each other. The group `joint` stands between two of them."""

from __future__ import annotations

from citewell.agent.shapes.rule import MINE, rules

_NO_CHOICE = (  # "or not", "or will I lose data", "one or more", "before or after"
    r"%or (?:not|no|will|would|do|does|did|is|are|am|was|can|could|should|shall|must|have|has|if|when|what|how|why|something|anything"
    r"|else|otherwise|any|other|more|less|later|after|before|so|it|they|there|at|maybe|even|both|all|none|\d\S*) "
)

COMPARISONS = rules(
    "comparison",
    (
        "sets things against each other",
        "any",
        r"%(?!(?:the|a|an|my|in|with|of|for|on|from) )\S*[\w`)\]'] (?P<joint>vs\.? |versus |v\.? )(?!\d)\S",
        rf"{MINE}|^(?:[^?]\S* ){{6,40}}?(?:vs\.?|versus|v\.?) (?![^?]*\? )",
    ),
    (
        "asks for a difference",
        "about",
        r"%(?:diff\w{0,4}nces?|diff|distinctions?|trade-?offs?|similarit(?:y|ies)|relation(?:ship)?s?) ~"
        r"(?:between|btw|b/w|of|among) ...(?P<joint>and |vs\.? |versus |from |to |, )",
        None,
    ),
    (
        "asks for a difference",
        "about",
        r"^(?:how|what|in what|is|are|do|does|explain) ...(?P<joint>differs?|different) (?:from|in|to|than|between|\?|\.|when|if|as) ?",
        None,
    ),
    ("asks for a difference", "any", r"^how (?:do|does|are|is) ...(?P<joint>and )~(?:differ|different|related?|compared?) ", None),
    ("compares", "any", r"^(?:compare|contrast|distinguish|differentiate) ...(?P<joint>and |to |with |against |from |, |or )", None),
    ("compares", "about", r"%(?:comparison|comparing) (?:of |between )...(?P<joint>and |to |with |against )", None),
    (
        "compares",
        "any",
        r"^(?:how|in what ways?) (?:do|does|is|are|would|will) ...(?P<joint>compared? |relates? )(?:to |with |against )",
        None,
    ),
    (
        "weighs",
        "any",
        r"%(?:pros and cons|advantages?|disadvantages?|upsides|downsides|benefits?|drawbacks?) ~of ...(?P<joint>over |against |versus "
        r"|and |to )",
        None,
    ),
    (
        "chooses",
        "about",
        r"^(?:which|what) (?:one |of |is |are |should |to |would |~(?:is|are|should|to|would|fits|suits) )...(?P<joint>or )",
        _NO_CHOICE,
    ),
    (
        "chooses",
        "about",
        r"^(?:should|shall|do|would|is it|when|whether|what|how) ~(?:i|we|you|one|better|best|to) ~CHOOSE...(?P<joint>or )",
        _NO_CHOICE,
    ),
    ("chooses", "about", r"^(?:should|shall) ...(?P<joint>or )", _NO_CHOICE),
    ("asks for a difference", "about", r"^what (?:distinguishes|separates|differentiates|sets) ...(?P<joint>from |and |apart from )", None),
    ("chooses", "about", r"BEGIN(?:which|what) (?:one )?~CHOOSE...(?P<joint>or )", _NO_CHOICE),
    (
        "chooses",
        "about",
        r"^(?!(?:what|how|why|where|who|can|could|do|does|did|is|are|was|has|have|will|would|should|must|may) )(?:[^\s;:?!.]\S* "
        r"){1,9}?(?P<joint>or )(?:[^\s,;:?!.]\S* ){1,8}?(?:[?] $|, (?:which|what|when) )",
        rf"{_NO_CHOICE}|%(?:i|it|we|gets?|is|are|if) |^(?:VERB)",
    ),
    (
        "chooses",
        "about",
        r"^(?:when|why|should|which|what|is it|would) ~CHOOSE...(?P<joint>rather than |instead of |over |in place of )",
        None,
    ),
    ("chooses", "about", r"^when ~(?:CHOOSE|is |are )...(?P<joint>(?:and|or|,|;) )(?:and |or )?when ", None),
    (
        "asks for a difference",
        "about",
        r"%(?:what is|what's|whats|what are|any|explain|tell me|^) (?:the )?(?:\S+ )?(?:difference|diff)s? (?:\?|here|in|when|and) ",
        None,
    ),
    ("asks which is which", "about", r"%which ...(?:and |, |, and )which ", r"%(?:in|of|for|from|with|to|on|by|at) which "),
    ("asks about each", "about", r"BEGIN(?:what|how|when|which) ...(?:in|of|for|from|with) (?:each|both)(?: one)? [?]", None),
    (
        "ranks",
        "about",
        r"^(?:is|are|does|do|will|would|can|how much|by how much|what makes|when (?:is|are|does|do)) ...(?P<joint>(?:[a-z]{2,}er"
        r"|(?:more|less) [a-z]+|worse) )than "
        r"(?!(?:expected|usual|before|that|it|i|yesterday|normal|\d\S*|one|zero|the (?:limit|maximum|default)) )",
        MINE,
    ),
    (
        "sets things against each other",
        "about",
        r"^what (?:can|does|do|will) ...(?P<joint>(?:do |offer |have |give |provide )?that )~(?:doesn't|does not|don't|can't|cannot"
        r"|lacks?|do not) ",
        None,
    ),
)
