"""The board under a prefix of a proxy with HTTPS, each with the configuration of docs/operating.md."""
import subprocess

import pytest
from playwright.sync_api import expect

from stickies import Daemon, Room
import proxies
from stage import free_port

PREFIX = "/notes/"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A certificate for the proxies' name and its key, in one file."""
    folder = tmp_path_factory.mktemp("certificate")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
         "-subj", f"/CN={proxies.HOST}", "-addext", f"subjectAltName=DNS:{proxies.HOST}", "-keyout", folder / "key",
         "-out", folder / "certificate"], check=True, capture_output=True)
    both = folder / "both.pem"
    both.write_bytes((folder / "certificate").read_bytes() + (folder / "key").read_bytes())
    return str(both)


@pytest.mark.parametrize("maker", [proxies.nginx, proxies.caddy, proxies.haproxy], ids=lambda maker: maker.__name__)
def test_board_under_a_prefix(browser, certificate, maker):
    port = free_port()
    daemon = Daemon(
        options=["--public-url", f"https://{proxies.HOST}:{port}{PREFIX}"], users=["ann", "ben"])
    try:
        proxy = maker(daemon, PREFIX, port=port, certificate=certificate)
        room = Room(browser, daemon, maker.__name__)
        try:
            one, two = room.open("ann", outage=True), room.open("ben", outage=True)
            assert one.page.url.startswith(f"https://{proxies.HOST}:{port}{PREFIX}app/")
            [cookie] = one.context.cookies()
            assert cookie["name"] == "__Host-stickies" and cookie["secure"] and cookie["httpOnly"], cookie
            one.write("through the proxy")
            expect(two.note("through the proxy")).to_be_visible()
            two.settle()
            two.edit("through the proxy")
            two.type(" and back")
            expect(one.note("through the proxy and back")).to_be_visible()
            for page in (one, two):
                page.settle()
            assert room.texts() == ["through the proxy and back"]
            # A reload without the proxy, from the worker's files below the prefix.
            one.until_kept("through the proxy and back")
            proxy.close()
            one.write("without the proxy")
            one.reload()
            expect(one.note("without the proxy")).to_be_visible()
            proxy = maker(daemon, PREFIX, port=port, certificate=certificate)
            one.settle()
            expect(two.note("without the proxy")).to_be_visible(timeout=20_000)
        finally:
            room.close()
            proxy.close()
    finally:
        daemon.close()
