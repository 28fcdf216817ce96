"""The documentation as a site: its pages, its links, and what is wrong with them."""
