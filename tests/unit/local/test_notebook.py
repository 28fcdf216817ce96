"""A notebook on this machine: JupyterLab of the user, the token, and what a person is told."""

from __future__ import annotations

import random
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from sparkgen.errors import SparkgenError
from sparkgen.local import launch, notebook, plan
from sparkgen.local.application import application_of
from sparkgen.local.errors import CannotRun
from sparkgen.local.folders import Folders
from sparkgen.local.path_mapping import PathMapping
from sparkgen.local.properties import Ports, local_properties

TOKEN = {"name": "ada", "key": "token"}


def _document(**spec: Any) -> dict[str, Any]:
    every = {"sparkVersion": "4.3.0", "image": "x", "notebook": {"token": TOKEN}, **spec}
    return {"kind": "SparkNotebook", "metadata": {"name": "ada"}, "spec": every}


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    """The folders of a run."""
    made = Folders(tmp_path / "work", tmp_path / "logs")
    made.work.mkdir()
    return made


def test_it_needs_jupyterlab(tmp_path: Path) -> None:
    """That of the user's environment; an application needs none."""
    application = application_of(_document())
    with pytest.raises(CannotRun, match="pip install jupyterlab"):
        notebook.check(application, {"PATH": str(tmp_path)})
    program = tmp_path / "jupyter-server"
    program.touch(mode=0o755)
    notebook.check(application, {"PATH": str(tmp_path)})


def test_the_token_is_that_of_the_shell_or_a_new_one(folders: Folders) -> None:
    """It is in a file, and never in what a person is told."""
    notebook.write_token(folders, {"JUPYTER_TOKEN": "own"})
    assert notebook.token_file(folders).read_text() == "own"
    assert notebook.lines(8889, folders, {"JUPYTER_TOKEN": "own"}) == [
        "JupyterLab answers at http://127.0.0.1:8889",
        "its token is the one in JUPYTER_TOKEN",
    ]
    notebook.write_token(folders, {})
    token = notebook.token_file(folders).read_text()
    assert len(token) == 48
    told = notebook.lines(8889, folders, {})
    assert told[1] == f"its token is in {notebook.token_file(folders)}"
    assert token not in str(told)


def test_it_listens_on_loopback_where_the_user_is(
    folders: Folders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the session's configuration, and the user's home."""
    monkeypatch.chdir(tmp_path)
    found = notebook.variables(folders, 8889, {"HOME": "/home/ada"})
    assert found["SPARKGEN_NOTEBOOK_ADDRESS"] == "127.0.0.1"
    assert found["SPARKGEN_NOTEBOOK_PORT"] == "8889"
    assert found["SPARKGEN_NOTEBOOK_FOLDER"] == str(tmp_path)
    assert found["HOME"] == "/home/ada"
    assert found["SPARK_CONF_DIR"] == str(folders.session)
    assert notebook.command(folders)[:2] == ("bash", str(folders.conf / "notebook.sh"))


def test_packages_go_where_the_user_has_them(tmp_path: Path) -> None:
    """The home directory of a pod is not here, unless the document names a place of its own."""
    ports = Ports(scheduler=20001, allocator=20002, driver=20003, ui=4041, notebook=8889)
    places = PathMapping(tmp_path, tmp_path)
    found = local_properties(application_of(_document()), places, Path("/s.jar"), ports)
    assert "spark.jars.ivy" not in found
    own = application_of(_document(sparkConf={"spark.jars.ivy": "/ivy"}))
    assert local_properties(own, places, Path("/s.jar"), ports)["spark.jars.ivy"] == "/ivy"


def test_a_taken_port_is_left_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Jupyter's own if it is free, else the next; and it takes no arguments."""
    monkeypatch.setattr(plan.ports, "is_free", lambda port: port != 8888)
    chance = random.Random(1)  # noqa: S311 - ports
    assert plan.choose_ports(chance, notebook=True).notebook == 8889
    assert plan.choose_ports(chance).notebook == 0
    with pytest.raises(SparkgenError, match="a SparkNotebook takes no arguments"):
        application_of(_document(), ("a",))
    assert launch.main_file(application_of(_document()), PathMapping(Path(), Path())) == "pyspark-shell"


def test_it_answers_when_jupyter_says_its_version() -> None:
    """Nobody, and another server, is no answer."""

    class Jupyter(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200 if self.path == "/api" else 404)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Jupyter) as server:
        port = server.server_address[1]
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        assert notebook.answers(port)
        thread.join()
    assert not notebook.answers(port)
