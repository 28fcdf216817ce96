"""The upper limit for `make bench-executors`: create pods as fast as urllib3 and the API server can.

The same library, the same bodies and an open watch as the allocator has, and threads that do nothing else.
"""

from __future__ import annotations

import argparse
import json
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import urllib3


def main(arguments: list[str] | None = None) -> int:
    """Create the pods; prints the seconds from the first request to the last answer."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("server", help="https://HOST:PORT of the API server")
    parser.add_argument(
        "authority", type=Path, help="certificate of the authority that signed the server's certificate"
    )
    parser.add_argument(
        "namespace", help="namespace of the pods; standard input has a token and a pod, one line each"
    )
    parser.add_argument("count", type=int, help="number of pods")
    parser.add_argument("threads", type=int, help="number of requests in flight")
    options = parser.parse_args(arguments)
    token, pod = sys.stdin.readline().strip(), json.loads(sys.stdin.readline())
    pool = urllib3.HTTPSConnectionPool(
        options.server.removeprefix("https://").partition(":")[0],
        int(options.server.rpartition(":")[2]),
        maxsize=options.threads + 1,
        ca_certs=str(options.authority),
        retries=False,
    )
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    path = f"/api/v1/namespaces/{options.namespace}/pods"
    threading.Thread(target=_watch, args=(pool, path, headers), daemon=True).start()

    def create(number: int) -> str:
        """What went wrong; empty when nothing did."""
        body = {**pod, "metadata": {**pod["metadata"], "name": f"raw-exec-{number + 1}"}}
        answer = pool.request("POST", path, body=json.dumps(body), headers=headers)
        return "" if answer.status == 201 else f"{answer.status} {answer.data.decode()}"

    began = time.monotonic()
    with ThreadPoolExecutor(options.threads) as threads:
        wrong = [problem for problem in threads.map(create, range(options.count)) if problem]
    print(f"{time.monotonic() - began:.3f}")
    if wrong:
        print(f"{len(wrong)} of {options.count} creations failed, the first with {wrong[0]}", file=sys.stderr)
    return 1 if wrong else 0


def _watch(pool: urllib3.HTTPSConnectionPool, path: str, headers: dict[str, str]) -> None:
    answer = pool.request("GET", f"{path}?watch=1", headers=headers, preload_content=False)
    for line in answer:
        json.loads(line)


if __name__ == "__main__":
    sys.exit(main())
