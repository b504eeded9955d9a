"""Browsers with accounts: the link of `stickies login --browser`, a cookie that is no longer valid, and two users."""
import json
import re

import pytest
from playwright.sync_api import expect

USERS = ["ann", "ben"]
core = pytest.mark.core


def creators(room, daemon):
    """The authors of the commits that have made the notes of the board, by text."""
    texts = {note["id"]: note["text"] for note in room.notes()}
    log = json.loads(daemon.shell("log", "--limit", "1000", "--json"))
    return {
        texts[change["object"]["id"]]: commit["author"]
        for commit in log for change in commit["changes"] if change["kind"] == "inserted" and change["object"]["id"] in texts}


@core
def test_stale_cookie_asks_for_a_login_and_keeps_unsent_edits(room, daemon):
    page = room.open("ann", outage=True)
    assert "code=" not in page.page.url
    page.write("sent")
    page.settle()
    page.until_kept("sent")
    daemon.kill()
    page.write("unsent")
    expect(page.status).to_have_text(re.compile("unsent"))
    daemon.revoke_browsers()
    daemon.start()
    expect(page.status).to_have_text(re.compile(r"^Signed out · \d+ unsent$"), timeout=20_000)
    expect(page.status).to_have_attribute("title", re.compile("edits? stays? here.*stickies login --browser"))
    assert room.texts() == ["sent"]
    # Nothing of ann is shown without a login, and the page says how to get one.
    page.page.reload()
    expect(page.page.locator("#hint")).to_contain_text("stickies login --browser")
    expect(page.page.locator("#notes > li")).to_have_count(0)
    assert len(page.entries("unsent")) > 0
    again = room.open("ann", context=page.context, outage=True)
    expect(again.note("unsent")).to_be_visible()
    again.settle()
    assert room.texts() == ["sent", "unsent"]
    assert again.entries("unsent") == []


def test_link_works_once(room, daemon):
    link = daemon.link("ann")
    room.open(link=link).settle()
    other = room.browser.new_page()
    other.goto(link)
    expect(other.locator("#toast")).to_contain_text("expired or was used")
    expect(other.locator("#hint")).to_contain_text("stickies login --browser")
    other.context.close()


def test_link_logs_in_an_open_page(room, daemon):
    page = room.browser.new_page()
    page.goto(f"{daemon.url}/")
    expect(page.locator("#hint")).to_contain_text("stickies login --browser")
    with page.expect_event("load"):
        page.evaluate("hash => { location.hash = hash; }", daemon.link("ann").split("#")[1])
    expect(page.locator("#top .status")).to_have_text("Live")
    assert "code=" not in page.url
    page.context.close()


def test_two_users_in_one_browser_stay_apart(room, daemon):
    ann = room.open("ann", outage=True)
    ann.write("by ann")
    ann.settle()
    ann.until_kept("by ann")
    daemon.kill()
    ann.write("unsent by ann")
    expect(ann.status).to_have_text(re.compile("unsent"))
    ann.page.close()
    daemon.start()
    # The cookie is ben's now, and the storage has an edit of ann.
    ben = room.open("ben", context=ann.context, outage=True)
    expect(ben.note("by ann")).to_be_visible()
    ben.write("by ben")
    ben.settle()
    assert room.texts() == ["by ann", "by ben"]
    assert "unsent by ann" not in ben.texts()
    # The server knows the replica of this page only by its first edit.
    fresh = room.open(context=ann.context, outage=True)
    # Both at the same time: a page goes on as its user until it connects again, and then as the cookie's.
    other = room.open("ann", context=ann.context, outage=True)
    expect(other.note("unsent by ann")).to_be_visible()
    other.settle()
    ben.write("by ben too")
    ben.settle()
    # The edits have left for the daemon, which ends without reading them.
    daemon.freeze()
    for page, text in ((ben, "unsent by ben"), (fresh, "also unsent by ben")):
        page.write(text)
        expect(page.status).to_have_text(re.compile("unsent"))
    daemon.kill()
    daemon.start()
    for page in (ben, fresh):
        expect(page.note("unsent by ben")).to_have_count(0, timeout=20_000)
        expect(page.note("unsent by ann")).to_be_visible()
        page.settle()
    other.settle()
    assert room.texts() == ["by ann", "by ben", "by ben too", "unsent by ann"]
    # The edits wait for ben's login.
    last = room.open("ben", context=ann.context, outage=True)
    for text in ("unsent by ben", "also unsent by ben"):
        expect(last.note(text)).to_be_visible(timeout=20_000)
    last.settle()
    assert creators(room, daemon) == {
        "by ann": "ann", "unsent by ann": "ann", "by ben": "ben", "by ben too": "ben", "unsent by ben": "ben",
        "also unsent by ben": "ben"}
