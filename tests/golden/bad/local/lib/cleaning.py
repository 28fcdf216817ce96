"""A module beside a document."""

NAME = "cleaning"
