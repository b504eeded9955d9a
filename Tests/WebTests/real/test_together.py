"""Two browsers and the shell on one board: each shows what the others do, also across `kill -9` of the daemon."""
import re
import string

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.core


@pytest.fixture
def pair(room):
    return [room.open(outage=True), room.open(outage=True)]


def letters(text, alphabet):
    """The letters of an alphabet that a text has, in their order there."""
    return "".join(each for each in text if each in alphabet)


def edit_both(pair, text):
    """Lets both write in one note: the first at its end, the second at its beginning."""
    for page in pair:
        expect(page.note(text)).to_be_visible()
        page.edit(text)
    pair[1].key("Control+Home")


def expect_both(pair, room, written):
    """Expects all letters of both, each once and in order, in both fields and in the shell."""
    one, two = pair
    for page in pair:
        page.until(f"document.querySelector('textarea')?.value.length === {len(written) + 52}")
        expect(page.page.locator("textarea")).to_be_focused()
        page.settle()
    text = one.field()
    assert text == two.field()
    assert letters(text, string.ascii_uppercase) == string.ascii_uppercase
    assert letters(text.replace(written, ""), string.ascii_lowercase) == string.ascii_lowercase
    assert room.texts() == [text]


def test_written_note_is_in_the_shell_and_on_the_other_page(room, daemon):
    one, two = pair = [room.open(link=daemon.link()), room.open()]
    one.write("Buy milk\nand bread")
    one.settle()
    assert room.texts() == ["Buy milk\nand bread"]
    expect(two.note("Buy milk")).to_be_visible()
    room.add("from the shell")
    for page in pair:
        expect(page.note("from the shell")).to_be_visible()
    two.note("Buy milk").click()
    two.key("Delete")
    expect(one.note("Buy milk")).to_have_count(0)
    two.settle()
    assert room.texts() == ["from the shell"]


def test_all_letters_of_two_writers_arrive(room, pair):
    one, two = pair
    one.write("12345 ")
    edit_both(pair, "12345")
    for a, b in zip(string.ascii_lowercase, string.ascii_uppercase):
        one.type(a)
        two.type(b)
    expect_both(pair, room, "12345 ")


def test_kill_while_two_write_loses_nothing(room, pair, daemon):
    one, two = pair
    one.write("12345 ")
    edit_both(pair, "12345")
    for turn, (a, b) in enumerate(zip(string.ascii_lowercase, string.ascii_uppercase)):
        one.type(a)
        two.type(b)
        if turn == 8:
            daemon.kill()
        if turn == 17:
            daemon.start()
    expect_both(pair, room, "12345 ")


def test_drag_is_seen_and_undone_by_its_author_only(pair):
    one, two = pair
    one.write("dragged")
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
    expect(note).to_have_attribute("style", re.compile(re.escape(moved)))
    two.key("u")
    expect(two.page.locator("#toast")).to_contain_text("nothing to undo")
    one.key("u")
    expect(note).to_have_attribute("style", re.compile(re.escape(before)))


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
