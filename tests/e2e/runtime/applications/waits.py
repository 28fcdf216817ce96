"""Says its first argument, waits for the file that the second one names, and ends with the code of the third.

It starts no executor.
"""

import sys
import time
from pathlib import Path

said, file, code = sys.argv[1:]
print(f"this run says {said}", flush=True)
while file and not Path(file).exists():
    time.sleep(0.2)
sys.exit(int(code))
