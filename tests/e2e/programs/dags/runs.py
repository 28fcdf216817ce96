"""Tasks whose runs end well, badly, late, and never; the test tells them by variables where to run."""

from __future__ import annotations

import os
from datetime import timedelta

from airflow.sdk import DAG

from sparkgen_airflow.operator import SparkgenRunOperator

COMMON = {
    "application": "app",
    "namespace": os.environ["TEST_NAMESPACE"],
    "kubeconfig": os.environ["TEST_KUBECONFIG"],
    "interval": 1.0,
    "ui_url": "https://spark.example.com/RUN",
}
AGAIN = {"retries": 5, "retry_delay": timedelta(seconds=1)}
GO = "/tmp/go"  # noqa: S108 - in the driver's container

with DAG("runs", schedule=None, catchup=False, params={"word": ""}):
    template = SparkgenRunOperator(
        task_id="template",
        **{**COMMON, "application": ""},
        document=os.environ["TEST_DOCUMENT"],
        arguments=["template", "", "0"],
    )
    template >> [
        SparkgenRunOperator(
            task_id="deferred",
            **COMMON,
            **AGAIN,
            deferrable=True,
            arguments=["{{ params.word }}", GO, "0"],
        ),
        SparkgenRunOperator(task_id="waiting", **COMMON, **AGAIN, arguments=["waiting", GO, "0"]),
        SparkgenRunOperator(task_id="failing", **COMMON, deferrable=True, arguments=["failing", "", "3"]),
        SparkgenRunOperator(task_id="cancelled", **COMMON, deferrable=True, arguments=["x", "/never", "0"]),
    ]
