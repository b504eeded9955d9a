"""The board with mouse, keyboard and clipboard."""
import re

import pytest
from playwright.sync_api import expect

query, fake, options = pytest.mark.query, pytest.mark.fake, pytest.mark.options


@query("?empty=1")
def test_keyboard_story(board):
    """Notes are made, written, moved, colored, tagged, pinned, linked, found and deleted without a mouse."""
    page = board.page
    if not page.locator("#notes > li").count():
        expect(page.locator("#hint")).to_contain_text("Double-click")
    board.key("n")
    board.type("First **note**")
    board.key("Tab")
    board.type("Second\n- [ ] task")
    board.key("Control+Enter")
    board.type("Third")
    board.key("Escape")
    expect(board.note("First note")).to_be_visible()
    expect(board.note("Second")).to_be_visible()
    expect(board.note("Third")).to_be_focused()
    board.key("ArrowLeft")
    expect(board.note("Second")).to_be_focused()
    before = board.box(board.note("Second"))
    board.key("Shift+ArrowDown", "Alt+ArrowRight")
    after = board.box(board.note("Second"))
    assert (after["y"], after["width"]) == (before["y"] + 20, before["width"] + 20)
    board.key("c")
    page.keyboard.type("blue")
    board.key("Enter")
    expect(board.note("Second")).to_have_attribute("data-color", "blue")
    board.key("t")
    page.get_by_label("Name of the tag").fill("home")
    board.key("Enter")
    expect(board.note("Second").locator(".chip")).to_have_text("home")
    board.key("p")
    expect(board.note("Second")).to_have_class(re.compile("pinned"))
    board.key("L", "ArrowLeft", "Enter")
    expect(page.locator("#links .arrow")).to_have_count(1)
    board.key("/")
    board.type("third")
    expect(page.locator("#notes > li.match")).to_have_count(1)
    board.key("Enter", "Escape")
    expect(board.note("Third")).to_be_focused()
    board.key("Delete")
    expect(board.note("Third")).to_have_count(0)
    board.key("u")
    expect(board.note("Third")).to_be_visible()
    board.key("v")
    expect(page.locator("#list .rows > li")).to_have_count(3)
    board.key("v")
    expect(page.locator("#notes > li")).to_have_count(3)


def test_double_click_writes_at_the_pointer(board):
    page = board.page
    page.mouse.dblclick(530, 300)
    board.type("here")
    board.key("Escape")
    box = board.box(board.note("here"))
    assert abs(box["x"] - 530) < 2 and abs(box["y"] - 300) < 2


def test_empty_new_note_is_not_kept(board):
    count = board.page.locator("#notes > li").count()
    board.key("n", "Escape")
    expect(board.page.locator("#notes > li")).to_have_count(count)


def test_lines_are_pasted_as_notes(board):
    page = board.page
    count = page.locator("#notes > li").count()
    page.evaluate("""() => { const data = new DataTransfer(); data.setData('text/plain', 'one\\n- two\\n\\nthree');
      document.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true })); }""")
    expect(page.locator("#notes > li")).to_have_count(count + 3)
    expect(board.note("two")).to_be_visible()
    assert board.selected() == 3
    expect(page.locator("#selection .count")).to_have_text("3 notes")


@fake
def test_drag_moves_snaps_and_is_one_undo(board):
    page, note = board.page, board.note("Compost")
    start = board.box(note)
    x, y = start["x"] + 100, start["y"] + 60
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 40, y + 90, steps=6)
    page.mouse.move(x + 3, y + 198, steps=6)
    assert page.locator(".guide").count() > 0
    page.mouse.up()
    moved = board.box(note)
    assert moved["x"] == start["x"], "the note snaps to the column"
    assert abs(moved["y"] - start["y"] - 198) < 8
    board.key("u")
    expect(note).to_be_visible()
    assert board.box(note) == start


@fake
def test_escape_cancels_a_drag(board):
    page, note = board.page, board.note("Compost")
    start = board.box(note)
    page.mouse.move(start["x"] + 100, start["y"] + 60)
    page.mouse.down()
    page.mouse.move(start["x"] + 400, start["y"] + 160, steps=5)
    board.key("Escape")
    assert board.box(note) == start
    page.mouse.up()
    assert board.box(note) == start


@fake
def test_resize_by_a_corner(board):
    page, note = board.page, board.note("Compost")
    note.click()
    start = board.box(note)
    page.mouse.move(start["x"] + start["width"], start["y"] + start["height"])
    page.mouse.down()
    page.keyboard.down("Control")
    page.mouse.move(start["x"] + start["width"] + 57, start["y"] + start["height"] + 33, steps=4)
    page.mouse.up()
    page.keyboard.up("Control")
    after = board.box(note)
    assert (after["width"], after["height"]) == (start["width"] + 57, start["height"] + 33)


@fake
def test_lasso_and_bar_of_the_selection(board):
    page = board.page
    page.mouse.move(40, 690)
    page.mouse.down()
    page.mouse.move(520, 480, steps=6)
    page.mouse.up()
    assert board.selected() == 2
    expect(page.locator("#selection .count")).to_have_text("2 notes")
    page.locator("#selection [data-command=pin]").click()
    # One of both is locked.
    page.get_by_role("button", name="Change").click()
    expect(board.note("Compost")).to_have_class(re.compile("pinned"))


@fake
def test_locked_notes_ask(board):
    page, note = board.page, board.note("Paths")
    note.dblclick()
    expect(page.get_by_role("dialog")).to_contain_text("locked")
    board.key("Escape")
    expect(page.locator("textarea")).to_have_count(0)
    note.click()
    board.key("Shift+ArrowRight")
    expect(page.locator("#toast")).to_contain_text("locked")


@fake
def test_tasks_are_ticked(board):
    boxes = board.note("Beans").locator("input")
    expect(boxes.nth(1)).not_to_be_checked()
    boxes.nth(1).click()
    expect(board.note("Beans").locator("input").nth(1)).to_be_checked()
    assert "- [x] sow after" in board.page.evaluate("[...fake.list[0].notes.values()][1].text")


@fake
def test_zoom_keeps_the_point_and_pinch_works(board):
    page, note = board.page, board.note("Seeds to order")
    box = board.box(note)
    page.mouse.move(box["x"], box["y"])
    page.keyboard.down("Control")
    page.mouse.wheel(0, -120)
    page.keyboard.up("Control")
    board.until("document.querySelector('.zoom-text').textContent !== '100 %'")
    after = board.box(note)
    assert abs(after["x"] - box["x"]) < 1 and after["width"] > box["width"]


@fake
@options(has_touch=True, viewport={"width": 390, "height": 844})
def test_touch_pinch_pan_and_tap(board):
    page = board.page
    cdp = board.context.new_cdp_session(page)
    zoom = "new DOMMatrix(getComputedStyle(document.getElementById('world')).transform).a"
    before = page.evaluate(zoom)

    def touch(kind, *points):
        cdp.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y, "id": i} for i, (x, y) in enumerate(points)]})

    touch("touchStart", (190, 600))
    touch("touchStart", (190, 600), (210, 600))
    for step in range(1, 6):
        touch("touchMove", (190 - 12 * step, 600), (210 + 12 * step, 600))
    touch("touchEnd")
    board.until(f"{zoom} > {before} * 1.5")
    board.key("1")
    note = board.note("Tomatoes")
    note.tap()
    assert board.selected() == 1
    note.tap()
    expect(page.locator("textarea")).to_be_focused()


@fake
def test_boards_are_made_renamed_and_deleted(board):
    page = board.page
    board.key("b")
    page.get_by_label("Find a board").fill("Attic")
    board.key("Enter")
    expect(page.locator(".board-button")).to_contain_text("Attic")
    expect(page.locator("#hint")).to_contain_text("Double-click")
    board.key("b")
    page.get_by_label("More for Attic").click()
    page.get_by_role("menuitem", name="Rename").click()
    page.get_by_label("Name", exact=True).fill("Loft")
    board.key("Enter")
    expect(page.locator(".boards")).to_contain_text("Loft")
    page.get_by_label("More for Loft").click()
    page.get_by_role("menuitem", name="Delete").click()
    page.get_by_role("button", name="Delete", exact=True).last.click()
    expect(page.locator(".boards")).not_to_contain_text("Loft")
    board.key("Escape")
    expect(page.locator(".board-button")).not_to_contain_text("Loft")
    first = page.locator(".board-button").inner_text()
    board.key("]")
    expect(page.locator(".board-button")).not_to_contain_text(first)


@fake
def test_filter_by_color_and_tag(board):
    page = board.page
    board.key("f")
    page.get_by_role("button", name="sow", exact=True).click()
    expect(page.locator("#notes > li")).to_have_count(2)
    page.get_by_role("button", name="green", exact=True).click()
    expect(page.locator("#notes > li")).to_have_count(1)
    board.key("Escape", "F")
    board.until("document.querySelectorAll('#notes > li').length > 10")


@fake
def test_history_shows_restores_and_returns(board):
    page = board.page
    count = page.locator("#notes > li").count()
    board.key("h")
    expect(page.locator(".history .what")).to_contain_text("tidied")
    board.key("Home")
    expect(page.locator("#notes > li")).to_have_count(1)
    board.key("Escape")
    expect(page.locator("#notes > li")).to_have_count(count)
    board.key("h", "ArrowLeft", "ArrowLeft")
    page.get_by_role("button", name="Restore board").click()
    expect(page.locator("#toast")).to_contain_text("restored")


@fake
@query("?conflicts=1")
def test_conflicts_show_both_values(board):
    page = board.page
    expect(page.locator(".alert")).to_have_attribute("data-count", "2")
    board.key("!")
    expect(page.get_by_role("dialog")).to_contain_text("sow on the south side")
    page.get_by_role("button", name="Use yours").first.click()
    page.get_by_role("button", name="Keep theirs").first.click()
    expect(page.get_by_role("dialog")).to_contain_text("no conflicts")


@fake
@query("?role=reader")
def test_reader_changes_nothing(board):
    page, note = board.page, board.note("Compost")
    expect(page.locator(".status")).to_contain_text("Read only")
    board.key("n")
    expect(page.locator("textarea")).to_have_count(0)
    note.dblclick()
    expect(page.locator("textarea")).to_have_count(0)
    note.click()
    count = page.locator("#notes > li").count()
    board.key("Delete")
    assert page.locator("#notes > li").count() == count
    expect(page.locator("#selection")).to_be_hidden()


@fake
@query("?status=offline&unsent=2")
def test_status_names_the_unsent_edits(board):
    page = board.page
    expect(page.locator(".status")).to_have_text("Offline · 2 unsent")
    page.locator(".status").click()
    expect(page.get_by_role("dialog")).to_contain_text("2 edits are not sent yet")
    with page.expect_download() as download:
        page.get_by_role("button", name="Export unsent edits").click()
    assert download.value.suggested_filename == "unsent-edits.jsonl"
    page.evaluate("fake.setStatus('live')")
    expect(page.locator(".status")).to_have_text("Live")


@pytest.mark.parametrize("form, ending", [("Markdown", "md"), ("JSON", "json"), ("SVG", "svg"), ("PNG", "png")])
def test_exports(board, form, ending, tmp_path):
    page = board.page
    board.key("n")
    board.type("exported")
    board.key("Escape", "E")
    with page.expect_download() as download:
        page.get_by_role("button", name=form).click()
    path = tmp_path / "board"
    download.value.save_as(path)
    assert download.value.suggested_filename.endswith("." + ending)
    content = path.read_bytes()
    assert content.startswith(b"\x89PNG") if ending == "png" else b"exported" in content


def test_print_shows_all_notes(board):
    page = board.page
    board.key("n")
    board.type("on paper")
    board.key("Escape")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    expect(page.locator("#paper article", has_text="on paper")).to_be_visible()
    expect(page.locator("#view")).to_be_hidden()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    expect(page.locator("#paper")).to_have_count(0)


@fake
@query("?notes=10000")
def test_only_near_notes_have_elements(board):
    page = board.page
    assert page.locator("#notes > li").count() < 400
    board.key("1")
    board.until("!document.getElementById('far').hidden")
    assert page.locator("#notes > li").count() < 10
    board.key("v")
    rows = page.locator("#list .rows > li")
    assert rows.count() < 40
    expect(rows.first).to_have_attribute("aria-setsize", "10000")
    board.key("End")
    expect(page.locator("#list .rows > li:focus")).to_have_attribute("aria-posinset", "10000")
