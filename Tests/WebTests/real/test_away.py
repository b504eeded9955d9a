"""Pages without their server, with a worker of an older build, without room for edits, and with a wrong clock."""
import json
import re
import time
from datetime import datetime, timedelta, timezone

import pytest
from playwright.sync_api import expect

from gate import OLDER, Gate

UNSENT = re.compile(r"[1-9]\d* unsent$")
core = pytest.mark.core


@core
def test_reload_without_the_server_shows_notes_and_unsent_edits(room, daemon):
    page = room.open(outage=True)
    page.write("before")
    page.settle()
    page.until_kept("before")
    daemon.kill()
    page.write("first without")
    expect(page.status).to_have_text(UNSENT)
    page.reload()
    for text in ("before", "first without"):
        expect(page.note(text)).to_be_visible()
    expect(page.status).to_have_text(UNSENT)
    # A part of the page that is loaded when it is needed.
    page.key("b")
    boards = page.page.get_by_role("dialog", name="Boards")
    expect(boards).to_contain_text(room.name)
    page.key("Escape")
    expect(boards).to_have_count(0)
    page.write("second without")
    page.reload()
    for text in ("before", "first without", "second without"):
        expect(page.note(text)).to_be_visible()
    daemon.start()
    page.settle()
    written = ["before", "first without", "second without"]
    assert room.texts() == written
    page.reload()
    page.settle()
    assert sorted(page.texts()) == written
    assert page.entries("unsent") == []


@core
def test_closed_page_leaves_its_edits_to_the_next_one(room, daemon):
    page = room.open(outage=True)
    page.write("kept")
    page.settle()
    page.until_kept("kept")
    daemon.kill()
    page.write("left behind")
    expect(page.status).to_have_text(UNSENT)
    # Another tab of the same browser, with the worker's page.
    next = room.open(context=page.context, outage=True)
    expect(next.note("kept")).to_be_visible()
    page.page.close()
    daemon.start()
    expect(next.note("left behind")).to_be_visible(timeout=20_000)
    next.settle()
    assert room.texts() == ["kept", "left behind"]


@core
def test_worker_of_an_older_build_is_replaced(room, daemon):
    gate = Gate(daemon.port)
    try:
        page = room.open(link=f"{gate.url}/", outage=True)
        assert page.page.evaluate("document.querySelector('meta[name=build]').content") == OLDER
        page.write("with the older page")
        page.settle()
        page.until_kept("with the older page")
        assert page.worker()["kept"] == [f"{gate.url}/app/{OLDER}/"]
        gate.is_older = False
        page.reload()
        assert page.page.locator("meta[name=build]").count() == 0
        build = page.page.url.split("#")[0]
        assert OLDER not in build
        page.until_kept("with the older page")
        worker = page.page.evaluate("""async (script) => {
          const registration = await navigator.serviceWorker.ready;
          const next = registration.installing ?? registration.waiting;
          if (next) await new Promise((resolve) => next.addEventListener('statechange', () => next.state === 'activated' && resolve()));
          return registration.active.scriptURL;
        }""")
        assert worker == f"{build}sw.js"
        assert page.worker()["kept"] == [build]
        assert len(page.page.evaluate("navigator.serviceWorker.getRegistrations().then((all) => all.map((each) => each.scope))")) == 1
        # Without a server, the page is that of the newer build.
        gate.close()
        page.reload()
        expect(page.note("with the older page")).to_be_visible()
        assert page.page.url.split("#")[0] == build
        assert page.page.locator("meta[name=build]").count() == 0
    finally:
        gate.close()


@core
def test_full_storage_is_reported_and_loses_nothing(room, daemon):
    origin = {"origin": daemon.url}

    def fill(page):
        # Before the first write: the browser looks only now and then how much room there is.
        page.browser = page.context.new_cdp_session(page.page)
        page.browser.send("Storage.overrideQuotaForOrigin", {**origin, "quotaSize": 1})

    page = room.open(outage=True, prepare=fill)
    page.write("live and full")
    page.settle()
    assert room.texts() == ["live and full"]
    assert page.entries("unsent") == page.entries("seen") == []
    daemon.kill()
    page.write("away and full")
    expect(page.status).to_have_text(UNSENT)
    expect(page.status).to_have_attribute("title", re.compile("kept in this page only, so leave it open"))
    daemon.start()
    page.settle()
    assert room.texts() == ["away and full", "live and full"]
    page.browser.send("Storage.overrideQuotaForOrigin", origin)
    daemon.kill()
    page.write("away and kept")
    expect(page.status).to_have_attribute("title", re.compile("kept in this browser"))
    assert len(page.entries("unsent")) > 0
    daemon.start()
    page.settle()
    assert room.texts() == ["away and full", "away and kept", "live and full"]


# What a browser does whose user has forbidden the storage of sites.
REFUSED = """
  const refuse = () => { throw new DOMException('The user denied permission.', 'SecurityError'); };
  IDBFactory.prototype.open = refuse;
  Storage.prototype.getItem = Storage.prototype.setItem = refuse;
  ServiceWorkerContainer.prototype.register = async () => refuse();
"""


def test_refused_storage_is_reported(room, daemon):
    page = room.open(outage=True, script=REFUSED)
    page.write("live")
    page.settle()
    assert room.texts() == ["live"]
    daemon.kill()
    page.write("away")
    expect(page.status).to_have_text(UNSENT)
    expect(page.status).to_have_attribute("title", re.compile("kept in this page only, so leave it open"))
    # The browser asks before it closes the page.
    with page.page.expect_event("dialog") as asked:
        page.page.close(run_before_unload=True)
    assert asked.value.type == "beforeunload"
    assert page.messages.pop().startswith("dialog: ")
    daemon.start()
    page.settle()
    assert room.texts() == ["away", "live"]


def shifted(days):
    """A script with which the page's clock is wrong."""
    return f"""{{
      const Right = Date, shift = {days * 86_400_000};
      Date = class extends Right {{
        constructor(...given) {{ if (given.length) super(...given); else super(Right.now() + shift); }}
        static now() {{ return Right.now() + shift; }}
      }};
    }}"""


def test_wrong_clocks_do_no_harm(room, daemon):
    pages = [room.open(outage=True, script=shifted(days)) for days in (1, -1)]
    for days, page in zip((1, -1), pages):
        ahead = page.page.evaluate("Date.now()") / 1000 - datetime.now().timestamp()
        assert abs(ahead - days * 86_400) < 60
    for page, name in zip(pages, ("ahead", "behind")):
        page.write(f"{name} live")
        page.settle()
        page.until_kept(f"{name} live")
    daemon.kill()
    for page, name in zip(pages, ("ahead", "behind")):
        page.write(f"{name} away")
        page.reload()
        expect(page.note(f"{name} away")).to_be_visible()
    daemon.start()
    written = ["ahead away", "ahead live", "behind away", "behind live"]
    for page in pages:
        page.settle()
        page.until(f"document.querySelectorAll('#notes > li').length === {len(written)}")
        assert sorted(page.texts()) == written
    assert room.texts() == written
    # The times are the server's.
    now = datetime.now(timezone.utc)
    for note in room.notes():
        assert abs(datetime.fromisoformat(note["created"].replace("Z", "+00:00")) - now) < timedelta(minutes=5), note
    # The last edit can be undone, and the undo is the last commit.
    pages[1].note("behind live").click()
    pages[1].key("p")
    pages[1].settle()
    assert [note["pinned"] for note in room.notes() if note["text"] == "behind live"] == [True]
    pages[1].key("u")
    expect(pages[1].note("behind live")).not_to_have_class(re.compile("pinned"))
    pages[1].settle()
    assert [note["pinned"] for note in room.notes() if note["text"] == "behind live"] == [False]
    assert json.loads(daemon.shell("log", "--limit", "1", "--json"))


# The number of notes that the list view shows.
COUNT = "Number.parseInt(document.querySelector('#list .summary').textContent)"


def test_frozen_tabs_hold_up_nothing_and_miss_nothing(room, daemon):
    """Twenty tabs of one browser are frozen, as browsers do with tabs in the background."""
    room.add("shared")
    first = room.open(outage=True)
    tabs = [first] + [room.open(context=first.context, outage=True) for _ in range(19)]
    watching = room.open()
    for page in [watching, *tabs]:
        page.key("v")
        page.until(f"{COUNT} === 1")
    sessions = [page.context.new_cdp_session(page.page) for page in tabs]
    for session in sessions:
        session.send("Page.setWebLifecycleState", {"state": "frozen"})
    count, slowest = 150, 0
    for number in range(count):
        note = {"text": f"while frozen {number} {'x' * 10_000}", "board": room.id, "x": 0, "y": 0}
        begin = time.monotonic()
        answer = daemon.client.post("/v1/objects/Note", json=note)
        slowest = max(slowest, time.monotonic() - begin)
        assert answer.status_code == 201, answer.text
    # It takes some milliseconds; a commit that waits for a frozen tab would take its heartbeats.
    assert slowest < 3, slowest
    watching.until(f"{COUNT} === {1 + count}")
    for session in sessions:
        session.send("Page.setWebLifecycleState", {"state": "active"})
    for page in tabs:
        page.page.bring_to_front()
        page.until(f"{COUNT} === {1 + count}")
        page.settle()
    tabs[7].page.bring_to_front()
    tabs[7].key("v")
    tabs[7].write("after")
    for page in [watching, *tabs[:7], *tabs[8:]]:
        page.page.bring_to_front()
        page.until(f"{COUNT} === {2 + count}")
