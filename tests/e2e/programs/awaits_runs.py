"""A program that starts three runs and awaits them at the same time, and prints what it has seen.

Arguments: a kubeconfig, and a namespace; the document is in the working directory.
"""

import asyncio
import sys

from sparkgen import api

TOLD = {"good": ["", "0"], "bad": ["", "7"], "late": ["/never", "0"]}


async def main() -> None:
    """Start, await, stop and delete."""
    connection = api.connect(kubeconfig=sys.argv[1], namespace=sys.argv[2])
    connection.apply(api.load(api.Inputs(("app.yaml",))).documents)
    cluster = api.AsyncConnection(connection)
    runs = {
        word: await cluster.run("app", request_id=word, arguments=[word, *rest])
        for word, rest in TOLD.items()
    }
    waits = {
        word: asyncio.create_task(cluster.wait("app", run.name, interval=1)) for word, run in runs.items()
    }
    good, bad = await waits["good"], await waits["bad"]
    print("codes:", good.exit_code, bad.exit_code, bad.reason is not None)
    print("log:", *[line.strip() for line in await cluster.logs("app", good.run) if "says" in line])
    print("events:", len(await cluster.events("app", bad.run)) > 0)
    await cluster.kill("app", runs["late"].name)
    print("killed:", "was killed" in (await waits["late"]).message)
    states = {one.run: one.life.state.value for one in (await cluster.history("app")).runs}
    print("states:", *[states[run.name] for run in runs.values()])
    print("deleted:", len((await cluster.delete("app")).objects) > 0)


asyncio.run(main())
