"""The board with mouse, keyboard and clipboard."""
import json
import re
import xml.etree.ElementTree

import pytest
from playwright.sync_api import expect

query, fake, options = pytest.mark.query, pytest.mark.fake, pytest.mark.options
PASTE = """all => { const data = new DataTransfer();
  for (const [type, content] of Object.entries(all)) data.setData(type, content);
  document.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true })); }"""


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
    page.evaluate(PASTE, {"text/plain": "one\n- two\n\nthree"})
    expect(page.locator("#notes > li")).to_have_count(count + 3)
    expect(board.note("two")).to_be_visible()
    assert board.selected() == 3
    expect(page.locator("#selection .count")).to_have_text("3 notes")


@fake
def test_copies_have_tags_and_links(board):
    page = board.page
    board.key("a", "d")
    expect(page.locator("#notes > li")).to_have_count(30)
    assert board.selected() == 15
    expect(page.locator("#notes > li.selected .chip")).to_have_count(9)
    expect(page.locator("#links text")).to_have_text(["", "swap", "", "swap"])
    board.key("u")
    expect(page.locator("#notes > li")).to_have_count(15)
    expect(page.locator("#links .arrow")).to_have_count(2)


@fake
def test_pasted_notes_have_tags_and_links(board):
    page = board.page
    notes = [{"text": "first copy", "tags": ["fresh"], "links": [{"to": 1, "label": "then"}, {"to": 9}]}, {"text": "second copy", "x": 300}]
    page.evaluate(PASTE, {"application/x-stickies+json": json.dumps(notes), "text/plain": "copies"})
    expect(board.note("first copy").locator(".chip")).to_have_text(["fresh"])
    expect(page.locator("#links text")).to_have_text(["", "swap", "then"])
    assert board.box(board.note("second copy"))["x"] - board.box(board.note("first copy"))["x"] == 300


@fake
def test_paste_says_what_it_left_out(board):
    board.page.evaluate(PASTE, {"text/plain": "\n".join(f"line {i}" for i in range(1200))})
    expect(board.page.locator("#toast")).to_contain_text("1000 notes pasted; the other 200 were left out")
    assert board.page.evaluate("fake.list[0].notes.size") == 1015


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
def test_collapsed_note_shows_its_title(board):
    note = board.note("Compost")
    before = board.box(note)
    note.click()
    board.key("k")
    expect(note).to_have_class(re.compile("collapsed"))
    assert abs(board.box(note)["height"] - 44) < 1
    expect(note).not_to_contain_text("Straw")
    board.key("k")
    expect(note).to_contain_text("Straw")
    assert board.box(note) == before


@fake
def test_fit_gives_a_note_the_height_of_its_text(board):
    page = board.page
    note = "document.querySelector('#notes > li.selected')"
    fits = f"(text => text.scrollHeight <= text.clientHeight + 1)({note}.querySelector('.text'))"
    board.note("Swallows").click()
    board.key("x")
    board.until(f"{note}.offsetHeight < 180 && {fits}")
    page.evaluate("""() => { const { id, text } = [...fake.list[0].notes.values()].find(n => n.text.startsWith('Swallows'));
      fake.list[0].other(id, text.length, text.length, '\\nand they nest'.repeat(12)); }""")
    assert not page.evaluate(fits)
    board.key("x")
    board.until(f"{note}.offsetHeight > 180 && {fits}")


@fake
def test_tag_is_removed_with_its_menu(board):
    page, chips = board.page, board.note("Tomatoes").locator(".chip")
    board.note("Tomatoes").click()
    board.key("T")
    page.get_by_role("menu", name="Remove tag").get_by_role("menuitem", name="greenhouse").click()
    expect(chips).to_have_text(["sow"])
    board.key("u")
    expect(chips).to_have_text(["sow", "greenhouse"])


@fake
def test_link_gets_a_label_and_is_removed(board):
    page, texts = board.page, board.page.locator("#links text")
    expect(texts).to_have_text(["", "swap"])
    at = page.evaluate("""() => { const path = document.querySelectorAll('#links .hit')[1];
      const { x, y } = path.getPointAtLength(path.getTotalLength() / 2).matrixTransform(path.getScreenCTM()); return [x, y]; }""")
    page.mouse.click(*at, button="right")
    page.get_by_role("menu", name="Link").get_by_role("menuitem", name="Label").click()
    page.get_by_label("Label", exact=True).fill("trade")
    board.key("Enter")
    expect(texts).to_have_text(["", "trade"])
    page.mouse.click(*at, button="right")
    page.get_by_role("menu", name="Link").get_by_role("menuitem", name="Remove link").click()
    expect(page.locator("#links .arrow")).to_have_count(1)


@fake
def test_tasks_are_ticked(board):
    boxes = board.note("Beans").locator("input")
    expect(boxes.nth(1)).not_to_be_checked()
    boxes.nth(1).click()
    expect(board.note("Beans").locator("input").nth(1)).to_be_checked()
    assert "- [x] sow after" in board.page.evaluate("[...fake.list[0].notes.values()][1].text")


@fake
def test_task_behind_a_tab_is_ticked(board):
    page = board.page
    page.evaluate("""() => { const [board] = fake.list, note = [...board.notes.values()][1];
      board.other(note.id, 0, note.text.length, 'Beans\\n- [ ] one\\n\\t- [ ] two'); }""")
    boxes = board.note("Beans").locator("input")
    boxes.nth(1).click()
    expect(boxes.nth(1)).to_be_checked()
    assert page.evaluate("[...fake.list[0].notes.values()][1].text") == "Beans\n- [ ] one\n\t- [x] two"


@fake
def test_keys_tick_tasks_and_reach_links(board):
    page, note = board.page, board.note("Beans")
    note.click()
    board.key("X")
    expect(page.get_by_role("menu", name="Tick task").get_by_role("menuitemcheckbox")).to_have_count(3)
    board.key("ArrowDown", "Enter")
    expect(note.locator("input").nth(1)).to_be_checked()
    expect(note).to_be_focused()
    board.key("K")
    expect(page.get_by_role("menu", name="Links of the note").get_by_role("menuitem")).to_have_text(["To note 3: Tomatoes"])
    board.key("Enter", "Enter")
    expect(page.get_by_label("Label", exact=True)).to_be_focused()
    board.type("shade")
    board.key("Enter")
    expect(page.locator("#links text", has_text="shade")).to_have_count(1)
    page.evaluate("""() => { const [board] = fake.list, note = [...board.notes.values()][1];
      board.other(note.id, 0, note.text.length, `Beans [picture](${new URL('icon.svg', location)})`); }""")
    board.key("v", "O")
    expect(page.get_by_role("menu", name="Open link").get_by_role("menuitem")).to_contain_text("picture (http://127.0.0.1")
    with page.expect_popup() as popup:
        board.key("Enter")
    popup.value.wait_for_url("**/icon.svg")
    popup.value.close()


@fake
@query("?role=reader")
def test_refused_tick_leaves_no_mark(board):
    boxes = board.note("Beans").locator("input")
    boxes.nth(1).click()
    expect(board.page.locator("#toast")).to_contain_text("your role here is reader")
    expect(boxes.nth(0)).to_be_checked()
    expect(boxes.nth(1)).not_to_be_checked()


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
@query("?none=1")
@options(has_touch=True, viewport={"width": 390, "height": 844})
def test_first_board_is_made_by_touch(board):
    page = board.page
    expect(page.locator("#hint")).to_have_text("Tap the name at the top to make the first board.")
    page.locator(".board-button").tap()
    page.get_by_label("Find a board").fill("First")
    board.key("Enter")
    expect(page.locator(".board-button")).to_contain_text("First")


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
def test_search_highlights_words_without_their_accents(board):
    board.key("n")
    board.type("Café au lait")
    board.key("Escape", "/")
    board.type("cafe")
    # Each typed letter is a search: the first highlight may be the one of "caf".
    board.until("[...(CSS.highlights.get('search') ?? [])].map(String).join() === 'Café'")


@fake
def test_filter_by_color_and_tag(board):
    page = board.page
    board.key("f")
    page.get_by_role("button", name="sow", exact=True).click()
    expect(page.locator("#notes > li")).to_have_count(2)
    page.get_by_role("button", name="green", exact=True).click()
    expect(page.locator("#notes > li")).to_have_count(1)
    board.key("Escape")
    expect(page.locator("dialog[open]")).to_have_count(0)
    board.key("F")
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
def test_failed_read_of_the_past_leaves_heading_and_notes(board):
    page, what = board.page, board.page.locator(".history .what")
    slider = page.get_by_label("Revision", exact=True)
    board.key("h")
    expect(what).to_contain_text("tidied")
    page.evaluate("""() => { window.reads = [];
      fake.list[0].beforeRead = () => new Promise((resolve, reject) => reads.push({ resolve, reject })); }""")
    board.key("ArrowLeft", "ArrowLeft", "ArrowLeft")
    board.until("reads.length > 0")
    expect(what).to_contain_text("tidied")
    page.evaluate("reads[0].reject(new Error('no connection'))")
    expect(page.locator("#toast")).to_contain_text("No connection")
    expect(what).to_contain_text("tidied")
    assert page.evaluate("reads.length") == 1, "one read at a time"
    assert slider.input_value() == slider.get_attribute("max")
    board.key("ArrowLeft")
    board.until("reads.length === 2")
    page.evaluate("reads[1].resolve()")
    expect(what).not_to_contain_text("tidied")


@fake
def test_history_is_searched_through_the_commits_of_others(board):
    board.page.evaluate("""() => { const [garden] = fake.list, read = garden.history.bind(garden), pages = [{ entries: [], next: 1e6 }];
      garden.history = async (page) => pages.pop() ?? read(page); }""")
    board.key("h")
    expect(board.page.locator(".history .what")).to_contain_text("tidied")


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


@fake
@query("?hostile=1")
def test_picture_of_any_text_is_well_formed(board, tmp_path):
    page = board.page
    assert page.evaluate("[...fake.list[0].notes.values()].some((note) => note.text.includes('\\0'))")
    for form in ("SVG", "PNG"):
        board.key("E")
        with page.expect_download() as download:
            page.get_by_role("button", name=form).click()
        download.value.save_as(tmp_path / form)
        # The dialog closes after the download.
        expect(page.locator("dialog[open]")).to_have_count(0)
    assert xml.etree.ElementTree.parse(tmp_path / "SVG").getroot().tag.endswith("svg")
    assert (tmp_path / "PNG").read_bytes().startswith(b"\x89PNG")


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


# The list

SIZE = "fake.list[0].notes.size"


@fake
def test_list_asks_before_a_locked_note_is_edited(board):
    page = board.page
    board.key("v")
    page.locator("#list li", has_text="Paths").dblclick()
    expect(page.get_by_role("dialog")).to_contain_text("locked")
    board.key("Escape")
    expect(page.locator("textarea")).to_have_count(0)


@fake
def test_empty_new_note_of_the_list_is_not_kept(board):
    page = board.page
    count = page.evaluate(SIZE)
    board.key("v")
    for end in ["Escape", "Control+z"]:
        board.key("n")
        expect(page.locator("#list textarea")).to_be_focused()
        board.key(end)
        expect(page.locator("textarea")).to_have_count(0)
        assert page.evaluate(SIZE) == count
        expect(page.locator("#list li:focus")).to_have_count(1)


@fake
def test_note_written_in_the_list_grows(board):
    page = board.page
    board.key("v", "n")
    board.type("line\n" * 16 + "last")
    board.key("Escape")
    expect(page.locator("textarea")).to_have_count(0)
    note = page.evaluate("[...fake.list[0].notes.values()].at(-1)")
    assert note["text"].endswith("last") and note["height"] > 300
    expect(page.locator("#view")).to_be_hidden()
    board.key("u")
    assert "last" not in page.evaluate("[...fake.list[0].notes.values()].at(-1).text"), "the growth is a part of the typing"


@fake
def test_tab_goes_to_the_next_row_of_the_list(board):
    page = board.page
    place = page.locator("#list li.open")
    board.key("v", "Home", "Enter")
    expect(place).to_have_attribute("aria-posinset", "1")
    board.key("Tab")
    expect(place).to_have_attribute("aria-posinset", "2")
    board.key("Control+Enter")
    expect(place).to_have_attribute("aria-posinset", "3")
    board.key("Shift+Tab")
    expect(place).to_have_attribute("aria-posinset", "2")
    page.evaluate("() => { window.field = document.activeElement; }")
    page.locator("#list textarea").dblclick()
    assert page.evaluate("document.activeElement === field"), "a double click selects a word"
    board.key("Escape", "End", "Enter")
    count = page.evaluate(SIZE)
    board.key("Tab")
    expect(place).to_have_attribute("aria-posinset", str(count + 1))
    board.type("behind the last")
    board.key("Escape")
    assert page.evaluate(SIZE) == count + 1


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


LARGE = "?notes=10000&part=1"


@fake
@query(LARGE)
def test_large_board_says_what_it_shows(board):
    page = board.page
    expect(page.locator(".part")).to_have_text(re.compile(r"^\d+ of 10000 notes$"))
    expect(page.locator("#toast")).to_contain_text("10000 notes")
    board.key("a")
    expect(page.locator("#toast")).to_contain_text("of 10000 notes are selected: those near the view")
    board.key("Escape", "v")
    expect(page.locator("#list > .summary")).to_have_text(re.compile(r"^\d+ of 10000 notes: those near the view$"))
    expect(page.locator("#list .rows > li").first).to_have_attribute("aria-setsize", "-1")
    board.key("v", "f")
    expect(page.get_by_role("dialog").get_by_role("status")).to_contain_text("the board has 10000")


@fake
@query(LARGE)
def test_search_goes_to_notes_that_are_not_in_memory(board):
    page = board.page
    board.key("/")
    board.type("call")
    expect(page.locator(".search .count")).to_have_text("625")
    board.key("ArrowUp")
    expect(page.locator(".search .count")).to_have_text(re.compile(r"^\d+ / 625$"))
    board.until("document.querySelector('#notes > li.selected.match')")
    assert page.evaluate("fake.list[0].notes.size") <= 1000
    board.key("Enter")
    expect(page.locator("#notes > li.selected.match")).to_have_count(1)


@fake
@query(LARGE)
def test_whole_of_a_large_board_is_shown(board):
    board.key("1")
    board.until("document.querySelector('.part').textContent === '1000 of 10000 notes'")
    assert board.page.evaluate("parseInt(document.querySelector('.zoom-text').textContent)") < 10
