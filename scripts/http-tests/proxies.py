"""The proxies of docs/operating.md, each with the page's configuration."""

import contextlib
import getpass
import os
import re
import shutil
import socket
import subprocess
import time
import unittest

from stage import PATIENCE, ROOT, free_port

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


class Proxy:
    """A running proxy of a stage, which must accept the host of the page."""

    def __init__(self, stage, name, configuration, arguments, port):
        program = shutil.which(name, path=PATH)
        if program is None:
            raise unittest.SkipTest(f"{name} is not installed; scripts/install proxies installs it")
        self.port = port
        home = f"{stage.home}/{name}-{port}"
        os.makedirs(home, exist_ok=True)
        with open(f"{home}/conf", "w", encoding="utf-8") as output:
            output.write(configuration.replace("{home}", home))
        self.log = open(f"{home}/log", "wb")
        self.process = subprocess.Popen(
            [program, *(argument.format(file=f"{home}/conf", home=home) for argument in arguments)],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, env=stage.environment)
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                return
            except ConnectionRefusedError:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    self.close()
                    with open(self.log.name, encoding="utf-8") as messages:
                        raise AssertionError(f"{name} does not listen: {messages.read()}") from None
                # A poll, because these programs do not say when they listen.
                time.sleep(0.02)

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()


# Each serves the stage below a prefix, at a free port or the given one, and with HTTPS if it has a certificate: a file
# with the certificate and its key.


def nginx(stage, prefix="/", port=None, certificate=None):
    port = port or free_port()
    location = replaced(example("nginx"), "location / {", f"location {prefix} {{")
    location = replaced(location, "location /v1/socket {", f"location {prefix}v1/socket {{")
    location = replaced(location, "127.0.0.1:7418", f"127.0.0.1:{stage.port}")
    secure = f"ssl_certificate {certificate}; ssl_certificate_key {certificate};" if certificate else ""
    configuration = f"""
        user {getpass.getuser()}; pid {{home}}/nginx.pid; error_log stderr; daemon off; worker_processes 1;
        events {{ worker_connections 64; }}
        http {{
          access_log off; client_body_temp_path {{home}}/body; proxy_temp_path {{home}}/proxy;
          fastcgi_temp_path {{home}}/fastcgi; uwsgi_temp_path {{home}}/uwsgi; scgi_temp_path {{home}}/scgi;
          server {{ listen 127.0.0.1:{port}{" ssl" if certificate else ""}; {secure} {location} }}
        }}"""
    return Proxy(stage, "nginx", configuration, ["-p", "{home}", "-e", "stderr", "-c", "{file}"], port)


def caddy(stage, prefix="/", port=None, certificate=None):
    port = port or free_port()
    site = replaced(example("Caddy"), "127.0.0.1:7418", f"127.0.0.1:{stage.port}")
    if prefix != "/":
        site = replaced(site, "reverse_proxy 127", f"handle_path {prefix}* {{\n    reverse_proxy 127")
        site = site.rstrip() + "\n}\n"
    if certificate:
        site = replaced(site, HOST + " {", f"https://{HOST}:{port} {{\n  tls {certificate} {certificate}")
    else:
        # Caddy would request a certificate.
        site = replaced(site, HOST, f"http://{HOST}:{port}")
    options = "{\n  admin off\n  auto_https disable_redirects\n}\n"
    return Proxy(stage, "caddy", options + site, ["run", "--adapter", "caddyfile", "--config", "{file}"], port)


def haproxy(stage, prefix="/", port=None, certificate=None):
    port = port or free_port()
    text = replaced(example("haproxy"), "127.0.0.1:7418", f"127.0.0.1:{stage.port}")
    secure = f" ssl crt {certificate}" if certificate else ""
    text = replaced(text, "bind :8443 ssl crt /etc/haproxy/notes.pem", f"bind 127.0.0.1:{port}{secure}")
    if prefix != "/":
        text = replaced(
            text, "  default_backend", f"  http-request replace-path {prefix}(.*) /\\1\n  default_backend")
    return Proxy(stage, "haproxy", text, ["-db", "-f", "{file}"], port)


@contextlib.contextmanager
def installed(stage, *makers):
    """The proxies that are installed, by name; a line says which are not."""
    running = {}
    try:
        for maker in makers:
            try:
                running[maker.__name__] = maker(stage)
            except unittest.SkipTest as skipped:
                print(f"skipped: {skipped}", flush=True)
        yield running
    finally:
        for proxy in running.values():
            proxy.close()
