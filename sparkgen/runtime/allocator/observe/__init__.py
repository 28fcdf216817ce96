"""Reads the executors that the cluster shows: from lists and watches of untrusted pods to values."""
