"""A program beside a document."""
