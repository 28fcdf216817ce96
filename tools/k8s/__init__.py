"""Kubernetes' schemas and rules, for documents and for what is rendered from them."""
