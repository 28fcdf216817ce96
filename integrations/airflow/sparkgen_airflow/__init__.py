"""An Airflow operator that runs Spark applications on Kubernetes with sparkgen: `SparkgenRunOperator`."""

from __future__ import annotations

from typing import Any


def get_provider_info() -> dict[str, Any]:
    """Returns what Airflow wants to know about a provider; it asks for it by an entry point."""
    return {
        "package-name": "airflow-provider-sparkgen",
        "name": "sparkgen",
        "description": "Runs Apache Spark applications on Kubernetes.",
        "extra-links": ["sparkgen_airflow.operator.SparkUiLink"],
    }
