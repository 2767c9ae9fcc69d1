"""`python -m citewell` is `citewell`."""

from citewell.cli.main import main

main()
