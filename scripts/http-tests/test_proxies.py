"""The proxies of docs/operating.md pass streams and writes, each with the page's configuration."""

import getpass
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import unittest
import uuid

import httpx
import httpx_sse

from stage import PATIENCE, ROOT, Connection, Stage, free_port

HOST = "notes.example.org"
# Where Debian installs daemons, which is not on the path of every user.
PATH = os.environ["PATH"] + ":/usr/sbin:/sbin"


def example(title):
    """The configuration that follows a title of docs/operating.md."""
    with open(f"{ROOT}/docs/operating.md", encoding="utf-8") as page:
        found = re.search(rf"^{title}:\n\n```\w*\n(.*?)^```", page.read(), re.MULTILINE | re.DOTALL)
    assert found, f"docs/operating.md has no configuration for {title}"
    return found[1]


def replaced(text, old, new):
    assert old in text, f"docs/operating.md no longer has {old}"
    return text.replace(old, new)


class ProxyTests(unittest.TestCase):
    def setUp(self):
        self.stage = Stage(options=["--public-url", f"https://{HOST}"])
        self.addCleanup(self.stage.close)
        self.port = free_port()

    def run_proxy(self, name, configuration, arguments):
        """Starts a proxy with a configuration; its arguments name the file."""
        program = shutil.which(name, path=PATH)
        if program is None:
            reason = f"{name} is not installed; scripts/install proxies installs it"
            # A quiet run shows only the number of skipped tests.
            print(f"skipped: {reason}", file=sys.stderr)
            self.skipTest(reason)
        file = f"{self.stage.home}/{name}.conf"
        with open(file, "w", encoding="utf-8") as output:
            output.write(configuration)
        log = open(f"{self.stage.home}/{name}.log", "wb")
        self.addCleanup(log.close)
        proxy = subprocess.Popen(
            [program, *(argument.format(file=file, home=self.stage.home) for argument in arguments)],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.stage.environment)
        self.addCleanup(proxy.wait)
        self.addCleanup(proxy.terminate)
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            except ConnectionRefusedError:
                with open(log.name, encoding="utf-8") as messages:
                    self.assertTrue(proxy.poll() is None and time.monotonic() < deadline, messages.read())
                time.sleep(0.02)

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
                connection.socket.shutdown(socket.SHUT_WR)
                self.assertNotIn(b"HTTP/1.1 201 ", connection.read_to_end())
        self.assertEqual(self.stage.client.get("/v1/objects/Tag").json()["objects"], [])

    def nginx(self, location):
        frame = """
            user {user}; pid {home}/nginx.pid; error_log stderr; daemon off; worker_processes 1;
            events {{ worker_connections 64; }}
            http {{
              access_log off; client_body_temp_path {home}/body; proxy_temp_path {home}/proxy;
              fastcgi_temp_path {home}/fastcgi; uwsgi_temp_path {home}/uwsgi; scgi_temp_path {home}/scgi;
              server {{ listen 127.0.0.1:{port}; {location} }}
            }}"""
        location = replaced(location, "127.0.0.1:7418", f"127.0.0.1:{self.stage.port}")
        configuration = frame.format(
            user=getpass.getuser(), home=self.stage.home, port=self.port, location=location)
        self.run_proxy("nginx", configuration, ["-p", "{home}", "-e", "stderr", "-c", "{file}"])

    def test_nginx(self):
        self.nginx(example("nginx"))
        self.check()

    def test_nginx_under_a_prefix(self):
        self.nginx(replaced(example("nginx"), "location / {", "location /notes/ {"))
        self.check("/notes")

    def test_caddy(self):
        site = replaced(example("Caddy"), "127.0.0.1:7418", f"127.0.0.1:{self.stage.port}")
        # Without a certificate, which Caddy would request.
        site = replaced(site, HOST, f"http://{HOST}:{self.port}")
        self.run_proxy("caddy", "{\n  admin off\n}\n" + site, ["run", "--adapter", "caddyfile", "--config", "{file}"])
        self.check()

    def test_haproxy(self):
        text = replaced(example("haproxy"), "127.0.0.1:7418", f"127.0.0.1:{self.stage.port}")
        text = replaced(text, "bind :8443 ssl crt /etc/haproxy/notes.pem", f"bind 127.0.0.1:{self.port}")
        self.run_proxy("haproxy", text, ["-db", "-f", "{file}"])
        self.check()


if __name__ == "__main__":
    unittest.main()
