"""Where a question goes that the documentation does not answer: addresses made from the profile, offline, never claims. Pure."""

from __future__ import annotations

import re
from urllib.parse import quote_plus

from citewell.index.lexical import STOP_WORDS
from citewell.profile import Profile
from citewell.types import Referral

_MOST_TERMS = 12


def referrals(question: str, profile: Profile) -> list[Referral]:
    """DeepWiki and code search for the profile's repositories, its documentation search and its forum."""
    words = re.findall(r"\w+(?:[.:-]+\w+)*", question)
    query = quote_plus(" ".join([word for word in words if word.lower() not in STOP_WORDS][:_MOST_TERMS] or words[:_MOST_TERMS]))
    table = profile.referrals
    found = []
    if table.docs_search:
        found.append(Referral(table.docs_search.replace("{query}", query), "search the documentation site"))
    for repository in table.repositories:
        found.append(Referral(f"https://deepwiki.com/{repository}", f"ask about the source of {repository}"))
        found.append(
            Referral(f"https://github.com/search?type=code&q=repo%3A{quote_plus(repository)}+{query}", f"search the code of {repository}")
        )
    if table.forum:
        found.append(Referral(table.forum.replace("{query}", query), "ask or search the forum"))
    return found
