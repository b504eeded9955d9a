"""A daemon in its own folder that serves HTTP, and connections whose bytes a test writes itself."""

import contextlib
import json
import os
import shutil
import socket
import subprocess
import tempfile

import httpx

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
PROGRAMS = os.path.abspath(os.environ.get("STICKIES_PROGRAMS", f"{ROOT}/.build/debug"))
PATIENCE = 20


def free_port():
    """A port that no program uses at the moment."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Stage:
    """Serves the model of notes, or that of a folder of the project."""

    def __init__(self, schema=None, options=()):
        self.home = tempfile.mkdtemp(prefix="stickies-http-")
        self.address = f"unix://{self.home}/socket"
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.options = list(options) + (["--schema", f"{ROOT}/{schema}"] if schema else [])
        self.log = open(f"{self.home}/log", "wb")
        self.environment = dict(
            os.environ, XDG_CONFIG_HOME=self.home, HOME=self.home, STICKIES_SERVER=self.address,
            STICKIES_AUTHOR="shell@test")
        self.start()
        self.client = httpx.Client(base_url=self.url, timeout=PATIENCE)

    def start(self):
        """Starts the daemon, again with the same port."""
        self.daemon = subprocess.Popen(
            [f"{PROGRAMS}/stickiesd", "--data", f"{self.home}/data", "--listen", self.address, "--http",
             f"127.0.0.1:{self.port}", *self.options],
            stdout=subprocess.PIPE, stderr=self.log, stdin=subprocess.DEVNULL, env=self.environment, text=True)
        line = self.daemon.stdout.readline()
        assert line.startswith("listening "), line + self.messages()
        # The listeners are announced together.
        assert self.daemon.stdout.readline() == f"listening {self.url}\n"
        self.metrics = self.daemon.stdout.readline().split()[1] if "--metrics" in self.options else None

    def kill(self):
        """Ends the daemon without warning, as kill -9 does."""
        self.daemon.kill()
        self.daemon.wait()
        self.daemon.stdout.close()

    def close(self):
        """Ends the daemon, which must not have had an error, and removes its folder."""
        self.client.close()
        self.daemon.terminate()
        try:
            code = self.daemon.wait(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self.kill()
            raise
        self.daemon.stdout.close()
        messages = self.messages()
        self.log.close()
        shutil.rmtree(self.home, ignore_errors=True)
        assert code == 0 and " error " not in messages and " critical " not in messages, messages

    def messages(self):
        """The log of the daemon."""
        with open(f"{self.home}/log", encoding="utf-8") as log:
            return log.read()

    def shell(self, *arguments):
        """Runs `stickies`, and returns its output."""
        done = subprocess.run(
            [f"{PROGRAMS}/stickies", *arguments], env=self.environment, capture_output=True, text=True,
            timeout=PATIENCE)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def board(self, name="Home"):
        """Adds a board, and returns its id."""
        answer = self.client.post("/v1/objects/Board", json={"name": name})
        assert answer.status_code == 201, answer.text
        return answer.json()["id"]

    def connect(self, patience=PATIENCE, port=None):
        return Connection(port or self.port, patience)


class Connection:
    """A connection of bytes."""

    def __init__(self, port, patience=PATIENCE):
        self.port = port
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=patience)
        self.received = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def request(self, method, target, *fields, body=None):
        """The bytes of a request."""
        lines = [f"{method} {target} HTTP/1.1"]
        if not any(field.lower().startswith("host:") for field in fields):
            lines.append(f"Host: 127.0.0.1:{self.port}")
        lines += fields
        if body is not None:
            lines.append(f"Content-Length: {len(body)}")
        return "\r\n".join(lines).encode() + b"\r\n\r\n" + (body or b"")

    def send(self, data):
        """Sends bytes; what the daemon does not take is lost, as it has closed the connection."""
        try:
            self.socket.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            pass

    def finish(self):
        """Sends nothing more; the daemon may have closed the connection already."""
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_WR)

    def read(self):
        """Receives something; empty at the end."""
        try:
            data = self.socket.recv(65536)
        except ConnectionResetError:
            data = b""
        self.received += data
        return data

    def read_to_end(self):
        """Everything until the daemon closes the connection."""
        while self.read():
            pass
        return self.received

    def answer(self):
        """The status, the fields and the body of the next answer; None if the connection ends before it."""
        while b"\r\n\r\n" not in self.received:
            if not self.read():
                return None
        head, rest = self.received.split(b"\r\n\r\n", 1)
        lines = head.decode().split("\r\n")
        fields = {name.lower(): value.strip() for name, value in (line.split(":", 1) for line in lines[1:])}
        length = int(fields.get("content-length", "0"))
        self.received = rest
        while len(self.received) < length:
            if not self.read():
                return None
        body, self.received = self.received[:length], self.received[length:]
        return Answer(int(lines[0].split()[1]), fields, body)

    def exchange(self, method, target, *fields, body=None):
        """Sends a request and reads its answer."""
        self.send(self.request(method, target, *fields, body=body))
        return self.answer()


class Answer:
    def __init__(self, status, fields, body):
        self.status, self.fields, self.body = status, fields, body

    @property
    def problem(self):
        """The problem details of a refusal."""
        assert self.fields["content-type"] == "application/problem+json", self
        problem = json.loads(self.body)
        assert problem["status"] == self.status and problem["title"] and problem["detail"], self
        return problem

    def __repr__(self):
        return f"{self.status} {self.fields} {self.body[:500]!r}"
