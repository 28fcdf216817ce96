"""What sparkgen does for a person, without a command line: values in, values out.

Nothing here prints or exits. `sparkgen.api` is the part of it that other programs may use; `sparkgen.cli` is
the one that a person types.
"""
