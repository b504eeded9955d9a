"""Fixtures of the tests of pages that a daemon serves. All tests share one browser, and those of a module one daemon."""
import itertools
import os

import pytest
from playwright.sync_api import expect, sync_playwright

from stickies import Daemon, Room

# The proxies' name, and their certificate that no authority has signed.
ARGUMENTS = ["--no-sandbox", "--ignore-certificate-errors", "--host-resolver-rules=MAP notes.example.org 127.0.0.1"]
numbers = itertools.count(1)
# Machines that do other work are slow, and a page that is away first tries to reach the server.
expect.set_options(timeout=15_000)


@pytest.fixture(scope="session")
def browser():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"), args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def daemon(request):
    """The module's daemon, with the accounts that its USERS names."""
    daemon = Daemon(users=getattr(request.module, "USERS", ()))
    yield daemon
    daemon.close()


@pytest.fixture
def room(browser, daemon):
    """A board for the test alone."""
    room = Room(browser, daemon, f"Board {next(numbers)}")
    yield room
    # A test that failed without its daemon must not fail the next one.
    if daemon.daemon.poll() is not None:
        daemon.start()
    room.close()


@pytest.fixture
def board(room):
    """A page of the board, for tests that also run with the fake session."""
    return room.open()
