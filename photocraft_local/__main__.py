"""``python -m photocraft_local`` is ``photocraft``."""

from __future__ import annotations

import sys

from photocraft_local.cli.entry import main

sys.exit(main())
