"""What runs in the cluster: the programs of the command `sparkgen-runtime`, and what they share."""
