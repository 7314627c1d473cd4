"""`dyno serve` as a browser or a program meets it: pages and JSON by the token, and events as they come."""

import json
import os
import socket
import subprocess
import urllib.request

from . import process


class Serve:
    """A server over a repository, on any free port."""

    def __init__(self, repository, target, folder, program=None):
        words = ["serve", "--repository", repository, "--listen", "127.0.0.1:0", "--target", target]
        command = [str(word) for word in [program or process.DYNO, *words]]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=folder)
        self.base = self.process.stdout.readline().strip()
        # The server shows its token at a terminal only.
        with open(os.path.splitext(str(repository))[0] + ".serve/token", encoding="ascii") as file:
            self.token = file.read().strip()
        # Never by way of somebody's proxy.
        self.opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def get(self, path, body=None):
        """The bytes of an answer; with a body it is posted."""
        data = None if body is None else json.dumps(body).encode()
        head = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        with self.opener.open(urllib.request.Request(self.base + path, data, head), timeout=60) as answer:
            return answer.read()

    def ask(self, path, body=None):
        """The same as JSON."""
        return json.loads(self.get(path, body))

    def viewer(self, job):
        """A connection on which the events of a job come, as a live view has one."""
        host, port = self.base.removeprefix("http://").split(":")
        stream = socket.create_connection((host, int(port)))
        head = f"GET /api/v1/jobs/{job}/events HTTP/1.1\r\nHost: {host}:{port}\r\nAuthorization: Bearer {self.token}\r\n\r\n"
        stream.sendall(head.encode())
        return stream

    def cpu_s(self):
        """Seconds of processor time that the server has used, without its children."""
        with open(f"/proc/{self.process.pid}/stat") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")

    def close(self):
        """Ends it; what was started from it goes on."""
        self.process.terminate()
        self.process.wait(20)
