"""A notebook on this machine: JupyterLab from the user's own environment, and the lines for the user."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Mapping
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from pathlib import Path

from sparkgen import contract
from sparkgen.local.errors import CannotRun
from sparkgen.local.folders import Folders
from sparkgen.local.ports import LOOPBACK, is_ours
from sparkgen.model.application import Application

PROGRAMS = ("jupyter-lab", "jupyter-server")
"""The programs that notebook.sh looks for."""
OWN_TOKEN = "JUPYTER_TOKEN"  # noqa: S105 - a variable's name
TIMEOUT_SECONDS = 2.0


def check(application: Application, environment: Mapping[str, str]) -> None:
    """Raises CannotRun if the user's environment has no JupyterLab."""
    path = environment.get("PATH")
    if application.notebook is not None and not any(shutil.which(name, path=path) for name in PROGRAMS):
        raise CannotRun("JupyterLab is not installed: run pip install jupyterlab, and put it on your PATH")


def token_file(folders: Folders) -> Path:
    """The file with the token of this run, below a folder that only the user can read."""
    return folders.work / "notebook-token"


def write_token(folders: Folders, environment: Mapping[str, str]) -> None:
    """Write the token from the user's shell, or a new one."""
    token_file(folders).write_text(environment.get(OWN_TOKEN) or secrets.token_hex(24), encoding="utf-8")


def command(folders: Folders) -> tuple[str, ...]:
    """The command that starts JupyterLab. As root, JupyterLab needs an option to start."""
    root = ("--allow-root",) if os.getuid() == 0 else ()
    return ("bash", str(folders.conf / contract.NOTEBOOK_SCRIPT_FILE), *root)


def variables(folders: Folders, port: int, environment: Mapping[str, str]) -> dict[str, str]:
    """Variables that differ from a pod's: notebooks are in the current folder, and only loopback is used."""
    return {
        contract.ENV_HOME: environment.get(contract.ENV_HOME, str(Path.home())),
        contract.ENV_NOTEBOOK_FOLDER: str(Path.cwd()),
        contract.ENV_NOTEBOOK_ADDRESS: LOOPBACK,
        contract.ENV_NOTEBOOK_PORT: str(port),
        contract.ENV_NOTEBOOK_TOKEN: str(token_file(folders)),
        contract.ENV_SPARK_CONF_DIR: str(folders.session),
        "TMPDIR": str(folders.work),
    }


def answers(port: int) -> bool:
    """Whether JupyterLab of this user answers at this port."""
    if not is_ours(port):
        return False
    connection = HTTPConnection(LOOPBACK, port, timeout=TIMEOUT_SECONDS)
    try:
        connection.request("GET", contract.NOTEBOOK_PATH)
        return connection.getresponse().status == HTTPStatus.OK
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()


def lines(port: int, folders: Folders, environment: Mapping[str, str]) -> list[str]:
    """The lines with what a user needs to open it. They do not contain the token."""
    own = f"the one in {OWN_TOKEN}" if environment.get(OWN_TOKEN) else f"in {token_file(folders)}"
    return [f"JupyterLab answers at http://{LOOPBACK}:{port}", f"its token is {own}"]
