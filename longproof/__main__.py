"""`python -m longproof`."""

from longproof.cli import main

main()
