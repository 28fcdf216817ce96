"""A driver that needs more memory than its container may have."""

import time
from pathlib import Path

with Path("/opt/fill/it").open("wb") as file:  # in memory
    while True:
        file.write(bytes(16 * 1024**2))
        time.sleep(0.05)
