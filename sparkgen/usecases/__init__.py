"""The tasks that sparkgen performs, independent of the command line: values in, values out.

Nothing here prints or exits. `sparkgen.api` offers a part of it to other programs, and `sparkgen.cli` offers
it on the command line.
"""
