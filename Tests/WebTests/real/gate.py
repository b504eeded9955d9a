"""A server in front of a daemon that serves an older build of the page, until `is_older` is false."""
import re
import socket
import socketserver
import threading

from stickies import ROOT

OLDER = "0000000000000000"
TYPES = {"html": "text/html", "js": "text/javascript", "css": "text/css", "svg": "image/svg+xml", "png": "image/png",
         "webmanifest": "application/manifest+json"}


class Handler(socketserver.BaseRequestHandler):
    """One request for each connection; a WebSocket lasts as long as its daemon's."""

    def handle(self):
        head = b""
        while b"\r\n\r\n" not in head:
            data = self.request.recv(65536)
            if not data:
                return
            head += data
        path = head.split(b" ", 2)[1].decode().split("?")[0]
        if self.server.gate.is_older and (path == "/" or path.startswith("/app/")):
            self.request.sendall(self.file(path))
        else:
            self.forward(head)

    def file(self, path):
        """The answer to a request for a file of the older build."""
        name = path.removeprefix(f"/app/{OLDER}/") or "index.html"
        if not path.startswith(f"/app/{OLDER}/"):
            fields, body = f"302 Found\r\nLocation: /app/{OLDER}/", b""
        else:
            with open(f"{ROOT}/Web/{name}", "rb") as file:
                body = file.read()
            if name == "index.html":
                body = body.replace(b"<head>", f'<head><meta name="build" content="{OLDER}">'.encode())
            if name == "sw.js":
                body += b"// The older one.\n"
            fields = f"200 OK\r\nContent-Type: {TYPES[name.rsplit('.', 1)[1]]}\r\nService-Worker-Allowed: ../../"
        return f"HTTP/1.1 {fields}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body

    def forward(self, head):
        """Passes a request to the daemon, and bytes in both directions until one side ends."""
        if b"\r\nupgrade: websocket\r\n" not in head.lower():
            head = re.sub(rb"\r\nConnection: [^\r]*", b"\r\nConnection: close", head, flags=re.IGNORECASE)
        try:
            daemon = socket.create_connection(("127.0.0.1", self.server.gate.port))
        except OSError:
            return
        self.server.gate.sockets.update((self.request, daemon))
        with daemon:
            daemon.sendall(head)
            threading.Thread(target=pass_on, args=(self.request, daemon), daemon=True).start()
            pass_on(daemon, self.request)


def pass_on(source, target):
    try:
        while data := source.recv(65536):
            target.sendall(data)
    except OSError:
        pass
    for each in (source, target):
        try:
            each.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 64


class Gate:
    def __init__(self, port):
        self.port, self.is_older, self.sockets = port, True, set()
        self.server = Server(("127.0.0.1", 0), Handler)
        self.server.gate = self
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self):
        """Ends the server and its connections; can be called again."""
        self.server.shutdown()
        self.server.server_close()
        for each in self.sockets:
            try:
                each.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
