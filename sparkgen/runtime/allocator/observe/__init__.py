"""What the cluster shows of executors: lists and watches of untrusted pods, as values."""
