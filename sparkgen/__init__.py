"""sparkgen: one YAML document in, reviewable Kubernetes manifests for Apache Spark out."""

__version__ = "0.1.0"
