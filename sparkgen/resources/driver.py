"""The driver's pod: `install` copies the scheduler jar, `allocator` calls Kubernetes, Spark runs.

Fields that need no computing are data in layers.py.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from sparkgen import contract
from sparkgen.model.application import Application
from sparkgen.model.kerberos import Login
from sparkgen.model.notebook import Notebook
from sparkgen.resources import batch, exposure, pod
from sparkgen.resources.executor import executor_pod


def driver_pod(application: Application, run: str) -> dict[str, Any]:
    """The pod template of the driver of the run named `run`."""
    claim, shuffle = application.log_claim, application.shuffle
    login = application.kerberos and application.kerberos.login
    values = {
        **pod.values(application, application.driver, run),
        "claim": claim and {"name": claim.name, "path": claim.path},
        "login": login and _login(login),
        "scalaVersion": application.scala_version,
        "serviceSecret": shuffle.secret_name if shuffle is not None and shuffle.on_node else None,
        "sparkArguments": _spark_arguments(application),
        "sparkUser": _spark_user(application),
        "showsPages": exposure.shows_pages(application.properties),
        "connect": application.connect is not None,
        "connectToken": (application.connect or {}).get("token"),
        "notebook": application.notebook and _notebook(application.notebook),
        "restart": "Always" if application.restart == "Always" else "Never",
    }
    made = pod.assemble(application.driver, values)
    return batch.with_task_groups(application, made, partial(executor_pod, application, run))


def _notebook(notebook: Notebook) -> dict[str, Any]:
    """The values for the layer of a notebook."""
    idle = notebook.idle_seconds
    return {
        "token": notebook.token,
        "claim": notebook.claim,
        "withoutClaim": notebook.claim is None,
        "idleSeconds": None if idle is None else str(idle),
    }


def _login(login: Login) -> dict[str, Any]:
    """The values for the layer of a login."""
    env = [{"name": name, "value": text} for name, text in login.variables.items()]
    return {"secret": login.secret, "key": login.key, "file": login.file, "env": env}


def _spark_user(application: Application) -> str | None:
    """The user that spark-submit lets the program act as; None for nobody, or where the login acts for one.

    In a driver pod, spark-submit takes the name from SPARK_USER; `--proxy-user` says that there is one.
    """
    acts_for = application.kerberos is not None and application.kerberos.acts_for
    return None if acts_for else application.proxy_user


def _spark_arguments(application: Application) -> list[str]:
    """The arguments of the driver's container."""
    arguments = [*(contract.DRIVER_ARGUMENTS_OF_SPARK if application.by_spark else contract.DRIVER_ARGUMENTS)]
    if user := _spark_user(application):
        arguments += ["--proxy-user", user]
    if application.main_class:
        arguments += ["--class", application.main_class]
    if application.main_file:
        arguments.append(application.main_file)
    return [*arguments, *application.arguments]
