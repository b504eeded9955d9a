"""Fixtures of the browser tests. Without STICKIES_WEB_URL the page runs with the fake session of Tests/WebTests/fake; with it,
against a daemon: the variable has the link that `stickies login --browser` prints, of a store with an empty board."""
import os
import time

import pytest
from playwright.sync_api import sync_playwright

import serve

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


class Board:
    """A page with the board, and the messages that its console must not have."""

    def __init__(self, browser, address, query="", **options):
        options.setdefault("viewport", {"width": 1280, "height": 800})
        options.setdefault("reduced_motion", "reduce")
        self.context = browser.new_context(**options)
        self.page = self.context.new_page()
        self.messages = []
        self.page.on("console", lambda m: self.messages.append(f"{m.type}: {m.text}"))
        self.page.on("pageerror", lambda e: self.messages.append(f"exception: {e}"))
        self.page.on("dialog", lambda d: (self.messages.append(f"dialog: {d.message}"), d.dismiss()))
        self.page.add_init_script(
            "window.violations = []; addEventListener('securitypolicyviolation', "
            "e => violations.push(`${e.violatedDirective} ${e.blockedURI}`));")
        self.page.goto(address + query)
        self.until("document.querySelector('#notes li') || /Double|Tap|is empty/.test(document.getElementById('hint').textContent)")

    def close(self):
        violations = self.page.evaluate("window.violations")
        self.context.close()
        assert not self.messages, self.messages
        assert not violations, violations

    def key(self, *names):
        for name in names:
            self.page.keyboard.press(name)

    def type(self, text):
        self.page.keyboard.type(text)

    def note(self, text):
        return self.page.locator("#notes > li", has_text=text).first

    def texts(self):
        return self.page.eval_on_selector_all("#notes > li > .paper > .text", "all => all.map(n => n.innerText.trim())")

    def until(self, expression):
        """Awaits an expression. The page's policy forbids the evaluation of strings that wait_for_function needs."""
        end = time.monotonic() + 5
        while not self.page.evaluate(expression):
            assert time.monotonic() < end, expression
            self.page.wait_for_timeout(20)

    def selected(self):
        return self.page.eval_on_selector_all("#notes > li.selected", "all => all.length")

    def box(self, locator):
        return locator.bounding_box()


@pytest.fixture
def board(browser, address, request):
    """The first board. A test's mark `query` chooses the fake's state, and `options` those of the browser's context."""
    query = request.node.get_closest_marker("query")
    options = request.node.get_closest_marker("options")
    board = Board(browser, address, query.args[0] if query and not REAL else "", **(options.kwargs if options else {}))
    yield board
    board.close()
