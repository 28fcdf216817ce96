"""What `sparkgen doctor` finds out about a namespace: two tables of checks, and what they decide.

checks.py asks the API server; steps.py judges an application that runs; probe.py makes its objects. Only
gather.py sends requests, and none of them changes anything.
"""
