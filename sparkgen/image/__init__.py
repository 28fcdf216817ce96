"""Builds the runtime image from the installed package, with the user's own builder."""
