"""What would change between two sides, per application: in words, as objects, and whether it runs again.

A side is an application at a Git revision, in a rendered directory or in a cluster. `git`, `rendered` and
`live` read the sides; `compare` is pure; `forms` turn the result into text.
"""
