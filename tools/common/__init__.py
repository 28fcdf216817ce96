"""What several tools need: the cache of what is built, long commands, which tests a commit plays."""
