"""What sentences that ask for several things look like, as data: one rule a way of asking.

`agent.route` alone reads them. They speak of English grammar and never of a subject: no word here is of any documentation.
"""

from citewell.agent.shapes.catalogue import CATALOGUES
from citewell.agent.shapes.comparison import COMPARISONS
from citewell.agent.shapes.internals import INTERNALS
from citewell.agent.shapes.recipe import RECIPES
from citewell.agent.shapes.rule import Rule

RULES = (*COMPARISONS, *INTERNALS, *RECIPES, *CATALOGUES)

__all__ = ["RULES", "Rule"]
