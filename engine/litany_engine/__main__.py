"""`python -m litany_engine`: the command `litany`, where its script is not on PATH."""

import sys

from litany_engine.cli import main

sys.exit(main())
