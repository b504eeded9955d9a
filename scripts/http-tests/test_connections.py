"""Thousands of connections: idle ones beyond the limit leave the daemon free, and a stream costs little memory."""

import json
import resource
import selectors
import socket
import time
import unittest

from stage import PATIENCE, Stage

# The connections that the interface serves, and its answers beyond them (docs/limits.md).
SERVED, REFUSED = 4_096, 256
CONNECTIONS = 10_000
STREAMS = 1_000
# The target is 24 KiB for a release build. A debug build of the tests has a reserve for what the allocator keeps.
STREAM_MEMORY = 32 << 10


class ConnectionTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # The daemon raises its own limit, too.
        cls.limits = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (cls.limits[1], cls.limits[1]))
        cls.addClassCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, cls.limits)

    def setUp(self):
        self.stage = Stage()
        self.addCleanup(self.stage.close)
        self.sockets = []
        self.addCleanup(self.disconnect)

    def disconnect(self):
        for connection in self.sockets:
            connection.close()
        self.sockets.clear()

    def connect(self):
        connection = socket.create_connection(("127.0.0.1", self.stage.port), timeout=PATIENCE)
        self.sockets.append(connection)
        return connection

    def memory(self):
        """The memory of the daemon in bytes, without what it shares with files."""
        with open(f"/proc/{self.stage.daemon.pid}/status", encoding="ascii") as status:
            values = dict(line.split(":", 1) for line in status)
        return int(values["RssAnon"].split()[0]) << 10

    def test_10_000_idle_connections_leave_the_daemon_free(self):
        hard = self.limits[1]
        if hard != resource.RLIM_INFINITY and hard < CONNECTIONS + 100:
            self.skipTest(f"this machine allows {hard} descriptors, and the test needs {CONNECTIONS + 100}")
        first = self.stage.connect()
        self.addCleanup(first.socket.close)
        self.assertEqual(first.exchange("GET", "/healthz").status, 200)
        before = self.memory()
        begin = time.monotonic()
        served, refused, dropped = set(), 0, 0
        with selectors.DefaultSelector() as selector:
            for number in range(CONNECTIONS - 1):
                if number % 1_000 == 0:
                    self.assertEqual(first.exchange("GET", "/healthz").status, 200)
                connection = self.connect()
                connection.setblocking(False)
                served.add(connection)
                selector.register(connection, selectors.EVENT_READ)
            # All others have an answer or their end. Those that are served wait for a request, for 30 seconds at most.
            while len(served) > SERVED - 1:
                self.assertEqual(first.exchange("GET", "/healthz").status, 200)
                ready = selector.select(timeout=PATIENCE)
                self.assertTrue(ready, f"{len(served)} connections are open")
                for key, _ in ready:
                    try:
                        data = key.fileobj.recv(4_096)
                    except ConnectionResetError:
                        data = b""
                    refused += data.startswith(b"HTTP/1.1 503 ") and b"Retry-After: 5\r\n" in data
                    dropped += data == b""
                    served.discard(key.fileobj)
                    selector.unregister(key.fileobj)
        self.assertEqual(len(served) + refused + dropped, CONNECTIONS - 1)
        self.assertGreaterEqual(refused, REFUSED)
        each = (self.memory() - before) // SERVED
        print(f"{SERVED} idle connections: {each} bytes each, after {time.monotonic() - begin:.1f} s", flush=True)
        # A connection that is served works, and so does the socket.
        self.assertEqual(first.exchange("GET", "/v1/objects/Tag").status, 200)
        self.assertEqual(json.loads(self.stage.shell("status", "--json"))["revision"], 0)
        self.disconnect()
        deadline = time.monotonic() + PATIENCE
        while True:
            with self.stage.connect() as connection:
                answer = connection.exchange("GET", "/healthz")
            if answer is not None and answer.status == 200:
                break
            self.assertLess(time.monotonic(), deadline, "the connections do not become free")

    def test_1_000_streams_cost_little_memory(self):
        board = self.stage.board()
        self.stage.client.post("/v1/objects/Note", json={"text": "x", "board": board})
        request = b"GET /v1/live?entity=Note HTTP/1.1\r\nHost: localhost\r\n\r\n"

        def follow():
            connection = self.connect()
            connection.sendall(request)
            data = b""
            while b"\nid: " not in data:
                data += connection.recv(65_536)
                self.assertTrue(data, "the stream has ended")

        # The first ones pay for what all share.
        for _ in range(100):
            follow()
        before = self.memory()
        for _ in range(STREAMS):
            follow()
        each = (self.memory() - before) // STREAMS
        print(f"{STREAMS} event streams: {each} bytes each", flush=True)
        self.assertLess(each, STREAM_MEMORY)
        # All of them get a commit.
        self.stage.client.post("/v1/objects/Note", json={"text": "seen by all", "board": board})
        for connection in self.sockets:
            data = b""
            while b"seen by all" not in data:
                received = connection.recv(65_536)
                self.assertTrue(received, "the stream has ended")
                data += received


if __name__ == "__main__":
    unittest.main()
