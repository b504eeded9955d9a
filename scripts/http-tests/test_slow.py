"""Clients that are slow on purpose hold a connection for a bounded time only, and hold up nothing else."""

import select
import socket
import threading
import time
import unittest

from stage import Stage

# The longest time that the daemon grants, and a reserve for a machine that does other work.
LIMIT = 60 + 30


class SlowClientTests(unittest.TestCase):
    def setUp(self):
        self.stage = Stage()
        self.addCleanup(self.stage.close)

    def trickle(self, start, byte):
        """Sends a byte each half second until the daemon ends the connection; returns the seconds until then."""
        begin = time.monotonic()
        with self.stage.connect() as connection:
            connection.send(start(connection))
            while time.monotonic() < begin + LIMIT:
                if select.select([connection.socket], [], [], 0.5)[0] and not connection.read():
                    return time.monotonic() - begin
                connection.send(byte)
        return None

    def read_nothing(self, target, *fields):
        """Requests a large answer and does not read it; returns the seconds until the daemon has left."""
        begin = time.monotonic()
        with socket.socket() as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.settimeout(5)
            client.connect(("127.0.0.1", self.stage.port))
            head = "\r\n".join([f"GET {target} HTTP/1.1", "Host: localhost", *fields])
            client.sendall(head.encode() + b"\r\n\r\n")
            port = client.getsockname()[1]
            # The client cannot see the end, which follows the bytes that it does not read: a poll of the kernel's table.
            while time.monotonic() < begin + LIMIT:
                if not self.is_served(port):
                    return time.monotonic() - begin
                time.sleep(0.5)
        return None

    def is_served(self, port):
        """Whether the daemon's end of a connection is established, by the kernel's table."""
        wanted = (f"{self.stage.port:04X}", f"{port:04X}")
        with open("/proc/net/tcp", encoding="ascii") as table:
            for line in table.readlines()[1:]:
                local, remote, state = line.split()[1:4]
                if (local.split(":")[1], remote.split(":")[1]) == wanted:
                    return state == "01"
        return False

    def test_slow_clients_are_disconnected_and_hold_up_no_one(self):
        board = self.stage.board()
        for _ in range(24):
            note = {"text": "x" * 1_000_000, "board": board}
            self.assertEqual(self.stage.client.post("/v1/objects/Note", json=note).status_code, 201)

        def head(connection):
            return b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: "

        def body(connection):
            return connection.request(
                "POST", "/v1/objects/Tag", "Content-Type: application/json", "Content-Length: 1000000")

        clients = {
            "head": lambda: self.trickle(head, b"a"),
            "body": lambda: self.trickle(body, b" "),
            "lines": lambda: self.read_nothing("/v1/objects/Note", "Accept: application/x-ndjson"),
            "page": lambda: self.read_nothing("/v1/objects/Note"),
            "stream": lambda: self.read_nothing("/v1/live?entity=Note"),
        }
        times = {}

        def run(name):
            times[name] = clients[name]()

        threads = [threading.Thread(target=run, args=[name]) for name in clients]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            answer = self.stage.client.get("/v1/objects/Board", timeout=5)
            self.assertEqual(answer.status_code, 200)
            threads[1].join(timeout=1)
        for name, limit in {"head": 30, "body": 60, "lines": 60, "page": 60, "stream": 60}.items():
            with self.subTest(name):
                self.assertIsNotNone(times[name], "still connected")
                self.assertGreater(times[name], limit / 2, "disconnected too early")


if __name__ == "__main__":
    unittest.main()
