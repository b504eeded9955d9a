"""Fixtures of the browser tests. Without STICKIES_WEB_URL the page runs with the fake session of Tests/WebTests/fake; with it,
against a daemon: the variable has the link that `stickies login --browser` prints, of a store with an empty board."""
import os

import pytest
from playwright.sync_api import sync_playwright

import serve
from board_page import Board

REAL = os.environ.get("STICKIES_WEB_URL")
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")


def pytest_configure(config):
    config.addinivalue_line("markers", "fake: needs the states of the fake session")


def pytest_collection_modifyitems(items):
    for item in items:
        if REAL and item.get_closest_marker("fake"):
            item.add_marker(pytest.mark.skip(reason="needs the fake session"))


@pytest.fixture(scope="session")
def address():
    if REAL:
        yield REAL
        return
    server, base = serve.start()
    yield base
    server.shutdown()


@pytest.fixture(scope="session")
def browser():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def board(browser, address, request):
    """The first board. A test's mark `query` chooses the fake's state, and `options` those of the browser's context."""
    query = request.node.get_closest_marker("query")
    options = request.node.get_closest_marker("options")
    board = Board(browser, address, query.args[0] if query and not REAL else "", **(options.kwargs if options else {}))
    yield board
    board.close()
