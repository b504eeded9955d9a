"""Changes of others never take the focus, the caret, the selection or a composition."""
import random

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.fake
query = pytest.mark.query
FIRST = "[...fake.list[0].notes.values()]"


def edit(board, text):
    board.note(text).dblclick()
    field = board.page.locator("textarea")
    expect(field).to_be_focused()
    return field


def test_caret_stays_under_splices(board):
    page = board.page
    edit(board, "Compost")
    note = page.evaluate(f"{FIRST}[7].id")
    page.evaluate("document.querySelector('textarea').setSelectionRange(20, 26)")
    rng = random.Random(4)
    for turn in range(200):
        value = page.evaluate("document.querySelector('textarea').value")
        start, end = page.evaluate("(t => [t.selectionStart, t.selectionEnd])(document.querySelector('textarea'))")
        marked = value[start:end]
        if turn % 2:
            at = rng.randint(0, start)
            length = min(rng.randint(0, 2), start - at)
        else:
            at = rng.randint(end, len(value))
            length = min(rng.randint(0, 2), len(value) - at)
        page.evaluate("([id, a, b, t]) => fake.list[0].other(id, a, b, t)", [note, at, at + length, rng.choice(["", "x", "yz", "\n"])])
        start, end = page.evaluate("(t => [t.selectionStart, t.selectionEnd])(document.querySelector('textarea'))")
        now = page.evaluate("document.querySelector('textarea').value")
        assert now[start:end] == marked
        assert now == page.evaluate("id => fake.list[0].notes.get(id).text", note)
    expect(page.locator("textarea")).to_be_focused()


def test_letters_of_both_arrive(board):
    page = board.page
    edit(board, "Compost")
    note = page.evaluate(f"{FIRST}[7].id")
    for letter in "abcdefghij":
        board.type(letter)
        page.evaluate("id => fake.list[0].other(id, 0, 0, '.')", note)
    board.key("Escape")
    text = page.evaluate("id => fake.list[0].notes.get(id).text", note)
    assert text.startswith("." * 10) and text.endswith("abcdefghij")


def test_composition_is_undisturbed(board):
    page = board.page
    edit(board, "Compost")
    note = page.evaluate(f"{FIRST}[7].id")
    cdp = board.context.new_cdp_session(page)
    cdp.send("Input.imeSetComposition", {"text": "に", "selectionStart": 1, "selectionEnd": 1})
    assert page.evaluate("fake.list[0].composing") == note
    cdp.send("Input.imeSetComposition", {"text": "にほん", "selectionStart": 3, "selectionEnd": 3})
    assert page.evaluate("document.querySelector('textarea').value").endswith("にほん")
    cdp.send("Input.insertText", {"text": "日本"})
    board.until("fake.list[0].composing === null")
    assert page.evaluate("id => fake.list[0].notes.get(id).text", note).endswith("日本")


def test_deletion_by_others_ends_the_editing(board):
    page = board.page
    edit(board, "Compost")
    page.evaluate(f"fake.list[0].otherDelete({FIRST}[7].id)")
    expect(page.locator("textarea")).to_have_count(0)
    expect(page.locator("#toast")).to_contain_text("deleted")


def edit_in_list(board, place):
    """Opens the field of a row, and returns the id of its note."""
    board.key("v", "Home", *["ArrowDown"] * place, "Enter")
    expect(board.page.locator("#list textarea")).to_be_focused()
    return board.page.evaluate("document.activeElement.closest('li').dataset.id")


def test_moves_by_others_keep_the_field_of_the_list(board):
    page = board.page
    note = edit_in_list(board, 4)
    page.evaluate("""() => { window.field = document.activeElement, window.blurred = 0;
      field.addEventListener('blur', () => { blurred += 1; }), field.setSelectionRange(2, 4); }""")
    order = "[...document.querySelectorAll('#list li')].map(row => row.dataset.id)"
    before = page.evaluate(order)
    for y, moved in [(5000, before[2]), (6000, before[3]), (7000, before[5])]:
        page.evaluate("([id, y]) => fake.list[0].otherMove(id, 0, y)", [moved, y])
        board.until(f"{order}.at(-1) === '{moved}'")
        assert page.evaluate("[document.activeElement === field, blurred, field.selectionStart, field.selectionEnd]") == [True, 0, 2, 4]
    rows = page.evaluate("""[...document.querySelectorAll('#list li')].map(row => [row.dataset.id, Number(row.getAttribute('aria-posinset'))])""")
    assert [place for _, place in rows] == sorted(place for _, place in rows), "rows are in the order of reading"
    board.type("X")
    assert "X" in page.evaluate("id => fake.list[0].notes.get(id).text", note)


def test_deletion_by_others_ends_the_editing_in_the_list(board):
    page = board.page
    note = edit_in_list(board, 4)
    board.type("typed")
    page.evaluate("id => fake.list[0].otherDelete(id)", note)
    expect(page.locator("textarea")).to_have_count(0)
    expect(page.locator("#toast")).to_contain_text("deleted")
    expect(page.locator("#list li:focus")).to_have_count(1)
    board.until("fake.list[0].mine?.note === null")


@query("?people=2")
def test_people_are_shown_followed_and_hidden(board):
    page = board.page
    expect(page.locator(".cursor .name")).to_have_text(["Ann", "Ben"])
    expect(page.locator(".flag .name")).to_have_text(["Ann"])
    page.get_by_role("button", name="Follow Ann").click()
    expect(page.locator("#overlay")).to_have_class("following")
    page.mouse.move(600, 650)
    page.mouse.wheel(0, 50)
    expect(page.locator("#overlay")).not_to_have_class("following")
    board.key("H")
    expect(page.locator(".cursor").first).to_be_hidden()
    page.mouse.move(300, 650)
    board.until("fake.list[0].mine?.cursor === null")


def test_undo_in_the_field_is_the_servers(board):
    page = board.page
    edit(board, "Compost")
    board.type("abc")
    board.key("Control+z")
    board.until("!document.querySelector('textarea').value.endsWith('abc')")
    expect(page.locator("textarea")).to_be_focused()
