"""The proxies of docs/operating.md pass streams and writes, each with the page's configuration."""

import json
import sys
import unittest
import uuid

import httpx
import httpx_sse

import proxies
from proxies import HOST
from stage import PATIENCE, Connection, Stage


class ProxyTests(unittest.TestCase):
    def setUp(self):
        self.stage = Stage(options=["--public-url", f"https://{HOST}"])
        self.addCleanup(self.stage.close)

    def run_proxy(self, maker, *arguments):
        try:
            proxy = maker(self.stage, *arguments)
        except unittest.SkipTest as skipped:
            # A quiet run shows only the number of skipped tests.
            print(f"skipped: {skipped}", file=sys.stderr)
            raise
        self.addCleanup(proxy.close)
        self.port = proxy.port

    def check(self, prefix=""):
        """Writes through the proxy, and follows a stream of what others write."""
        headers = {"Host": HOST, "Origin": f"https://{HOST}", "Sec-Fetch-Site": "same-origin"}
        with httpx.Client(
                base_url=f"http://127.0.0.1:{self.port}{prefix}/", timeout=PATIENCE, headers=headers) as client:
            answer = client.post("v1/objects/Board", json={"name": "Home"})
            self.assertEqual(answer.status_code, 201, answer.text)
            board = client.get(answer.url.join(answer.headers["Location"]))
            self.assertEqual(board.json(), answer.json())
            self.assertEqual(board.headers["ETag"], '"1"')
            with httpx_sse.connect_sse(client, "GET", "v1/live", params={"entity": "Note"}) as source:
                events = source.iter_sse()
                self.assertEqual(next(events).event, "snapshot")
                for number in range(3):
                    note = {"text": f"note {number}", "board": board.json()["id"]}
                    key = {"Idempotency-Key": str(uuid.uuid4())}
                    # A part of them directly.
                    self.assertEqual(
                        (client if number else self.stage.client).post(
                            ("" if number else "/") + "v1/objects/Note", json=note, headers=key).status_code, 201)
                    # It arrives at once, not when a buffer of the proxy is full.
                    event = next(events)
                    self.assertEqual(event.event, "commit")
                    self.assertIn(note["text"], event.data)
            large = {"text": "x" * 4_000_000, "board": board.json()["id"]}
            self.assertEqual(client.post("v1/objects/Note", json=large).status_code, 201)
            lines = client.get("v1/objects/Note", headers={"Accept": "application/x-ndjson"}).text.splitlines()
            self.assertEqual(len([json.loads(line) for line in lines]), 4)
            for name, value, status in (
                ("Origin", "https://evil.example", 403), ("Sec-Fetch-Site", "cross-site", 403),
                ("Content-Encoding", "gzip", 415),
            ):
                with self.subTest(name):
                    answer = client.post("v1/objects/Board", json={"name": name}, headers={name: value})
                    self.assertEqual(answer.status_code, status)
        self.smuggle(prefix)

    def smuggle(self, prefix):
        """Requests that the proxy and the daemon could read differently add nothing."""
        second = f'POST /v1/objects/Tag HTTP/1.1\r\nHost: {HOST}\r\nContent-Type: application/json\r\n' \
            'Content-Length: 19\r\n\r\n{"name":"smuggled"}'
        for fields in (
            f"Content-Length: {len(second) + 5}\r\nTransfer-Encoding: chunked\r\n",
            f"Content-Length: 5\r\nContent-Length: {len(second) + 5}\r\n",
            "Transfer-Encoding: xchunked\r\nContent-Length: 5\r\n", "Transfer-Encoding : chunked\r\n",
        ):
            with self.subTest(fields), Connection(self.port) as connection:
                connection.send(
                    f"GET {prefix}/v1/objects/Board HTTP/1.1\r\nHost: {HOST}\r\n{fields}\r\n0\r\n\r\n{second}".encode())
                connection.finish()
                self.assertNotIn(b"HTTP/1.1 201 ", connection.read_to_end())
        self.assertEqual(self.stage.client.get("/v1/objects/Tag").json()["objects"], [])

    def test_nginx(self):
        self.run_proxy(proxies.nginx)
        self.check()

    def test_nginx_under_a_prefix(self):
        self.run_proxy(proxies.nginx, "/notes/")
        self.check("/notes")

    def test_caddy(self):
        self.run_proxy(proxies.caddy)
        self.check()

    def test_haproxy(self):
        self.run_proxy(proxies.haproxy)
        self.check()


if __name__ == "__main__":
    unittest.main()
