"""python -m tests.referee: see runner."""

import sys

from tests.referee.runner import main

if __name__ == "__main__":
    sys.exit(main())
