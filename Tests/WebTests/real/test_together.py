"""Two browsers on the board of a daemon. STICKIES_WEB_URL names it."""
import pytest
from playwright.sync_api import expect

import conftest
from conftest import Board

pytestmark = pytest.mark.skipif(not conftest.REAL, reason="needs a daemon")


@pytest.fixture
def pair(browser, address):
    boards = [Board(browser, address), Board(browser, address)]
    yield boards
    for board in boards:
        board.close()


def test_all_letters_of_two_writers_arrive(pair):
    one, two = pair
    one.key("n")
    one.type("shared ")
    one.key("Escape")
    expect(two.note("shared")).to_be_visible()
    one.note("shared").dblclick()
    two.note("shared").dblclick()
    two.key("Control+Home")
    for a, b in zip("abcdefghijklmnopqrst", "ABCDEFGHIJKLMNOPQRST"):
        one.type(a)
        two.type(b)
    same = "document.querySelector('textarea').value"
    for board in pair:
        board.until(f"{same}.length === 7 + 40")
        expect(board.page.locator("textarea")).to_be_focused()
    text = one.page.evaluate(same)
    assert text == two.page.evaluate(same)
    assert "".join(c for c in text if c.islower()) == "shared" + "abcdefghijklmnopqrst"
    assert "".join(c for c in text if c.isupper()) == "ABCDEFGHIJKLMNOPQRST"


def test_a_drag_is_seen_and_undone_by_its_author_only(pair):
    one, two = pair
    one.key("n")
    one.type("dragged")
    one.key("Escape")
    note = two.note("dragged")
    expect(note).to_be_visible()
    place = "n => n.style.transform"
    before = note.evaluate(place)
    box = one.box(one.note("dragged"))
    one.page.mouse.move(box["x"] + 100, box["y"] + 150)
    one.page.mouse.down()
    one.page.mouse.move(box["x"] + 170, box["y"] + 220, steps=5)
    one.page.mouse.up()
    expect(note).not_to_have_css("transform", before)
    moved = one.note("dragged").evaluate(place)
    expect(note).to_have_attribute("style", moved_style(moved))
    one.key("u")
    expect(note).to_have_attribute("style", moved_style(before))


def moved_style(transform):
    import re
    return re.compile(re.escape(transform))


def test_people_see_each_other(pair):
    one, two = pair
    one.page.mouse.move(400, 650)
    two.page.mouse.move(500, 650)
    one.page.mouse.move(410, 655)
    expect(two.page.locator(".face")).to_have_count(1)
    expect(two.page.locator(".cursor:not([hidden])")).to_have_count(1)
    one.key("n")
    one.type("watched")
    expect(two.page.locator(".flag:not([hidden])")).to_have_count(1)
    one.key("Escape")
    expect(two.page.locator(".flag:not([hidden])")).to_have_count(0)
