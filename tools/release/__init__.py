"""`make release`: the files of a release, their bills of materials and their provenance."""
