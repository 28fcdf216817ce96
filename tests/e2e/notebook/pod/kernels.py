"""Use the kernels of a notebook through its server, as JupyterLab does: played in the pod.

kernels.py TOKEN start | run KERNEL CODE | restart KERNEL | end KERNEL

prints the kernel's id, or what the code prints; an error of the code is its last line. A wrong token ends it.
"""

import asyncio
import json
import sys
import urllib.request
import uuid

from tornado.httpclient import HTTPRequest
from tornado.websocket import websocket_connect

SERVER = "127.0.0.1:8888/api/kernels"
TOKEN, WHAT, *REST = sys.argv[1:]
HEADERS = {"Authorization": f"token {TOKEN}"}


def ask(method, path=""):
    """What the server answers."""
    body = b"{}" if method == "POST" else None
    request = urllib.request.Request(f"http://{SERVER}{path}", data=body, headers=HEADERS, method=method)
    with urllib.request.urlopen(request) as answer:
        text = answer.read()
    return json.loads(text) if text else None


async def run(kernel, code):
    """Execute code, and print what it prints."""
    channels = await websocket_connect(HTTPRequest(f"ws://{SERVER}/{kernel}/channels", headers=HEADERS))
    asked = uuid.uuid4().hex
    header = {
        "msg_id": asked,
        "msg_type": "execute_request",
        "username": "",
        "session": asked,
        "version": "5.3",
    }
    content = {"code": code, "silent": False, "store_history": True, "allow_stdin": False}
    message = {"header": header, "parent_header": {}, "metadata": {}, "content": content, "channel": "shell"}
    await channels.write_message(json.dumps(message))
    while True:
        text = await channels.read_message()
        if text is None:
            sys.exit("the kernel has ended")
        got = json.loads(text)
        if got["parent_header"].get("msg_id") != asked:
            continue
        if got["msg_type"] == "stream" and got["content"]["name"] == "stdout":
            print(got["content"]["text"], end="")
        elif got["msg_type"] == "error":
            print(f"{got['content']['ename']}: {got['content']['evalue']}")
        elif got["msg_type"] == "status" and got["content"]["execution_state"] == "idle":
            return


if WHAT == "start":
    print(ask("POST")["id"])
elif WHAT == "run":
    asyncio.run(run(*REST))
elif WHAT == "restart":
    print(ask("POST", f"/{REST[0]}/restart")["id"])
elif WHAT == "end":
    ask("DELETE", f"/{REST[0]}")
