"""A program that starts runs, many at the same time, by IDs that it computes again; it may die at any moment.

Arguments: a kubeconfig, a namespace, and the number of runs.
"""

import sys
from concurrent.futures import ThreadPoolExecutor

from sparkgen import api

kubeconfig, namespace, number = sys.argv[1:]
cluster = api.connect(kubeconfig=kubeconfig, namespace=namespace)
days = [f"day-{day}" for day in range(int(number))]
with ThreadPoolExecutor(8) as pool:
    list(pool.map(lambda day: cluster.run("app", request_id=day, arguments=[day, "", "0"]), days))
