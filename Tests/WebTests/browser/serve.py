#!/usr/bin/env python3
"""Serves Web/ under a prefix with the daemon's headers. The fake session stands in for Web/control/session.js.

    Tests/WebTests/browser/serve.py [PORT]     prints the address
"""
import functools
import http.server
import pathlib
import sys
import threading

ROOT = pathlib.Path(__file__).resolve().parents[3]
PREFIX = "/notes/app/"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' blob: data:; "
    "manifest-src 'self'; worker-src 'self'; require-trusted-types-for 'script'; trusted-types app-worker; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
FAKES = {"control/session.js": "session.js", "control/boards.js": "boards.js"}


class Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    extensions_map = {
        **http.server.SimpleHTTPRequestHandler.extensions_map, ".js": "text/javascript",
        ".webmanifest": "application/manifest+json", ".svg": "image/svg+xml",
    }

    def translate_path(self, path):
        path = path.split("?")[0].split("#")[0]
        name = path.removeprefix(PREFIX) or "index.html"
        if name in FAKES:
            return str(ROOT / "Tests/WebTests/fake" / FAKES[name])
        return str(ROOT / "Web" / name.replace("..", ""))

    def end_headers(self):
        self.send_header("Content-Security-Policy", POLICY)
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Cache-Control", "no-store")
        super().end_headers()

    def log_message(self, *_):
        pass


def start(port=0):
    """Starts the server in a thread; returns it and the address of the page."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), functools.partial(Handler, directory=str(ROOT / "Web")))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, f"http://127.0.0.1:{server.server_port}{PREFIX}"


if __name__ == "__main__":
    _, address = start(int(sys.argv[1]) if len(sys.argv) > 1 else 7499)
    print(address, flush=True)
    threading.Event().wait()
