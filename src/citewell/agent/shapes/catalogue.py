"""A catalogue: all there is of a kind. The group `noun` is the kind."""

from __future__ import annotations

from citewell.agent.shapes.rule import rules

# What the manual of one thing lists in one place, and what is not to be listed at all.
_OF_ONE = (
    r"%(?:what|which) ~(?:arguments|args|parameters|params|kwargs|keywords|values|types|dtypes|versions|requirements|prerequisites"
    r"|dependencies|steps"
    r"|reasons|causes|consequences|units|limits|limitations|defaults|differences|permissions|units|characters|symptoms|chances|results) "
    r"(?:are|is|do|does|can|could|should|must|of|for|in|to|i|\?)"
)
# "freezes", "fails to": what looks like a plural is what the subject does; and a sentence that tells or asks otherwise.
_NO_NOUN = (
    r"(?!(?:fails|wants|needs|tries|refuses|seems|happens|starts|begins|continues|gets|appears|tends|manages|forgets|allows|leads"
    r"|goes|leaves"
    r"|says|shows|returns|raises|throws|gives|works|runs|stops|takes|makes|comes|uses|looks|keeps|is|are|was|i|my|me|we|it|what|which|how"
    r"|why|where|when|who|can|could|do|should|must|if|after) )"
)
CATALOGUES = rules(
    "catalogue",
    (
        "asks for the kinds",
        "about",
        r"^(?:in )?(?:what|which|how many) (?:\S+ )?(?:kinds?|types?|sorts?|families|categories|classes|flavou?rs|variants|ways) "
        r"(?P<noun>(?:of ~)?)(?:are|is|exist|do|does|can|could|to) ",
        r"(?:types?|classes) ~(?:are accepted|is accepted)|%(?:accept|take|expect|return)s? ",
    ),
    (
        "asks what there is",
        "about",
        r"BEGIN(?:what|which) (?P<noun>PLURAL)...(?:are there|there are|exist|are (?:~)(?:available|provided|offered|included"
        r"|supported by default|built)"
        r"|(?:do|does) ~(?:have|offer|provide|include|ship|come|know|contain|define|support|expose|bring)"
        r"|(?:can|could|may) (?:i|we|you|one) ~(?:use|choose|pick|select)|can ~be (?:set to|used|chosen|configured)|ships? with"
        r"|comes? with|do (?:i|we) have) ",
        _OF_ONE,
    ),
    (
        "asks for all of a kind",
        "about",
        r"BEGIN(?:what|which) (?:are|is|'s) (?:the |some |some of the |all (?:the |of the )?|every )?~"
        r"(?:all|different|various|available|possible|other|alternative|main|built-in|builtin|common|existing|supported|several|two"
        r"|three|four|five) (?P<noun>PLURAL)",
        _OF_ONE,
    ),
    ("asks for all of a kind", "about", r"^(?:what|which) (?:are|is) (?:all|every) ", _OF_ONE),
    (
        "asks for the ways",
        "about",
        r"^(?:what|which) (?:are|were) (?:the |my |our |some )?(?P<noun>~(?:ways|options|alternatives|kinds|choices|methods"
        r"|techniques|strategies|approaches"
        r"|possibilities|flavou?rs|variants|means)) ",
        None,
    ),
    (
        "tells to list",
        "about",
        r"^(?:list|enumerate|name|catalog(?:ue)?) (?:me |out |for me )?(?:all |every |each |the |some |a few |any |which |what |both "
        r")?(?:of the )?(?:(?P<noun>PLURAL)|(?P<single>~\S+ ))",
        r"^(?:list|name) (?:\S+ )?(?:error|comprehension|index)",
    ),
    (
        "tells to show all",
        "about",
        r"^(?:show|give|tell|describe|explain|summari[sz]e|outline|i need|i want|i'd like|present) (?:me |us |to know |about )*(?:about )?"
        r"(?:all|every|each|the (?:different|various|available|possible|other)) (?:of )?(?:the )?(?P<noun>~\S+ )",
        None,
    ),
    (
        "asks what there is",
        "about",
        r"^(?:show|give|tell|describe|explain|find out) ~(?:what|which) (?P<noun>PLURAL)...(?:there are|exist|are available) ",
        None,
    ),
    (
        "asks for an overview",
        "about",
        r"^(?:(?:is there|are there|give|show|i need|i want|i'd like|where|do you|any|what is|what's|point me to) ~)?(?:a |an |the "
        r")?(?:\S+ )?"
        r"(?:overview|rundown|list|listing|catalog(?:ue)?|inventory|survey|summary|table) of (?P<noun>PLURAL)",
        None,
    ),
    (
        "asks what else there is",
        "about",
        r"^(?:are there|is there|do you have|what|which) (?:any |are |are the |the )?(?:other|more|further|alternative) (?P<noun>PLURAL)",
        r"^what more |%(?:information|details) ",
    ),
    (
        "asks what else there is",
        "about",
        r"^(?:what|which|is there|are there|anything) ...%(?:besides|apart from|aside from|other than|in addition to) ",
        r"^(?:what|which) (?:happens|if) ",
    ),
    (
        "asks for all of a kind",
        "any",
        rf"^(?P<noun>(?:all|every|each|other|different|various|available|supported|possible) (?:the )?(?:{_NO_NOUN}\S+ "
        rf"){{0,3}}?{_NO_NOUN}LISTABLE)",
        r"%(?:\?|should|must|will|would|is|are|was|fail|get|has|have) ",
    ),
    (
        "asks for all of a kind",
        "any",
        rf"^(?P<noun>(?:{_NO_NOUN}\S+ ){{0,3}}?{_NO_NOUN}LISTABLE)(?=(?:that|which|to|available|supported) )",
        r"%[?] ",
    ),
    ("names several things", "any", r"%\S+ / [^\s/]\S* / \S", None),
    ("names several things", "any", r"%: ITEM, ITEM(?:, )?(?:and |or |, )", None),
)
