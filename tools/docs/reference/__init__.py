"""The pages of docs/reference that are made from the tables and the schema of the product."""
