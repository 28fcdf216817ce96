"""The runtime image, made from the installed package by the user's own builder."""
