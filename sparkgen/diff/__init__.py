"""What would change between two sides, per application: in words, as objects, and whether it runs again.

A side is what an application is at a Git revision, in a rendered directory or in a cluster. Gathering sides
(`git`, `rendered`, `live`) reads; comparing them (`compare`) is pure; `forms` turn the result into text.
"""
