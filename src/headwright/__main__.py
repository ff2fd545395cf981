"""python -m headwright."""

from headwright.cli import main

main()
