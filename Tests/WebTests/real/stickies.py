"""A daemon of notes with its web board, and pages that show it."""
import json
import os
import signal
import subprocess
import sys
import time

from playwright.sync_api import expect

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
sys.path[:0] = [f"{ROOT}/scripts/http-tests", f"{ROOT}/Tests/WebTests/browser"]
from board_page import Board  # noqa: E402  The folders are on the path only now.
from stage import PATIENCE, PROGRAMS, Stage  # noqa: E402

# The entries of the page's storage below a key, such as "seen" for copies of boards and "unsent" for unsent edits.
ENTRIES = """name => new Promise((resolve, reject) => {
  const opening = indexedDB.open('stickies');
  opening.onerror = () => reject(opening.error);
  opening.onsuccess = () => {
    const range = IDBKeyRange.bound([name], [name, []]);
    const all = opening.result.transaction('entries').objectStore('entries').getAll(range);
    all.onerror = () => reject(all.error);
    all.onsuccess = () => { opening.result.close(); resolve(all.result); };
  };
})"""
# The address of the worker that serves the page, and the builds whose files it keeps.
WORKER = """async () => {
  const { active } = await navigator.serviceWorker.ready;
  return { script: active.scriptURL, state: active.state, kept: await caches.keys() };
}"""


class Daemon(Stage):
    """A daemon; with users it has accounts."""

    def __init__(self, options=(), users=()):
        super().__init__(options=options)
        for user in users:
            self.stickiesd("user", "add", user)

    def stickiesd(self, *arguments):
        """Runs a command of `stickiesd` on the daemon's data, and returns its output."""
        done = subprocess.run(
            [f"{PROGRAMS}/stickiesd", *arguments, "--data", f"{self.home}/data"], env=self.environment,
            capture_output=True, text=True, timeout=PATIENCE)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def freeze(self):
        """Stops the daemon: it reads and answers nothing until `kill`."""
        self.daemon.send_signal(signal.SIGSTOP)
        # Its threads continue until the first of them has received the signal.
        os.waitid(os.P_PID, self.daemon.pid, os.WSTOPPED)

    def link(self, user=None):
        """The link that logs a browser in."""
        return self.shell("login", "--browser", *(["--user", user] if user else [])).strip()

    def revoke_browsers(self):
        """Ends the logins of all browsers."""
        for token in json.loads(self.stickiesd("token", "list", "--json")):
            if token.get("browser"):
                self.stickiesd("token", "revoke", token["token"])


class Page(Board):
    """A page of a daemon's board."""

    def __init__(self, browser, address, query="", **options):
        options.setdefault("patience", PATIENCE)
        super().__init__(browser, address, query, **options)

    @property
    def status(self):
        """The status that the user sees; its tooltip has the whole sentence."""
        return self.page.locator("#top .status")

    def settle(self):
        """Awaits that the page is live and has no unsent edit."""
        expect(self.status).to_have_text("Live", timeout=PATIENCE * 1000)

    def write(self, text):
        """Makes a note with a text."""
        self.key("n")
        expect(self.page.locator("textarea")).to_be_focused()
        self.type(text)
        self.key("Escape")

    def edit(self, text):
        """Begins to edit the note that has a text."""
        self.note(text).dblclick()
        expect(self.page.locator("textarea")).to_be_focused()

    def field(self):
        """The text in the field of the note that is being edited."""
        return self.page.evaluate("document.querySelector('textarea').value")

    def entries(self, name):
        return self.page.evaluate(ENTRIES, name)

    def worker(self):
        return self.page.evaluate(WORKER)

    def until_kept(self, text):
        """Awaits that the browser can load the page without the server, and has a copy of a note."""
        end = time.monotonic() + self.patience
        while not any(
                text == note["values"].get("text") for copy in self.entries("seen") for note in copy["objects"]):
            assert time.monotonic() < end, self.entries("seen")
            self.page.wait_for_timeout(50)
        while (worker := self.worker())["state"] != "activated" or not worker["kept"]:
            assert time.monotonic() < end, worker
            self.page.wait_for_timeout(50)

    def reload(self):
        self.page.reload()
        self.until_shown()


class Room:
    """A board of its own, and the pages that show it."""

    def __init__(self, browser, daemon, name):
        self.browser, self.daemon, self.name = browser, daemon, name
        self.id = json.loads(daemon.shell("board", "add", name, "--json"))["id"]
        self.pages = []

    def open(self, user=None, link=None, **options):
        """A page of the board, in a browser context of its own unless `context` is given; with a user it logs in."""
        link = link or (self.daemon.link(user) if user else f"{self.daemon.url}/")
        page = Page(self.browser, link, f"{'&' if '#' in link else '#'}board={self.id}", **options)
        self.pages.append(page)
        return page

    def add(self, *texts):
        """Adds notes by the shell."""
        for text in texts:
            self.daemon.shell("add", text, "--board", self.name)

    def notes(self):
        """The notes of the board that the shell lists."""
        return json.loads(self.daemon.shell("list", "--board", self.name, "--json"))

    def texts(self):
        return sorted(note["text"] for note in self.notes())

    def close(self):
        """Closes the pages; each must have an empty console."""
        failures = []
        # A context ends with the page that has opened it.
        while self.pages:
            page = self.pages.pop()
            try:
                page.close()
            except AssertionError as failure:
                failures.append(failure)
        if failures:
            raise failures[0]
