"""Tools that are built from pinned Go modules (tools/go) into the cache."""
