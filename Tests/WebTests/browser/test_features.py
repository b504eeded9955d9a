"""Share links, rights, repairs, other people's carets, many boards, forced colors and the manifest, with the fake session."""
import json
import re
import struct

import pytest
from playwright.sync_api import expect

import serve
from conftest import Board

pytestmark = pytest.mark.fake
query, options = pytest.mark.query, pytest.mark.options
NOTE = "[...fake.list[0].notes.values()]"


# Share links

def test_share_links_are_made_listed_and_removed(board):
    page = board.page
    board.key("S")
    dialog = page.get_by_role("dialog", name="Share")
    expect(dialog.locator(".shares li")).to_have_count(1)
    expect(dialog.locator(".shares li")).to_contain_text("can read")
    dialog.get_by_label("The link ends").select_option("7")
    dialog.get_by_role("button", name="Make a link").click()
    link = dialog.get_by_label("Link", exact=True)
    expect(link).to_be_focused()
    assert "#share=stk_example&board=" in link.input_value()
    assert page.evaluate("(n => n.selectionEnd - n.selectionStart)(document.activeElement)") == len(link.input_value())
    expect(dialog.locator(".shares li")).to_have_count(2)
    dialog.get_by_role("button", name="Remove garden club").click()
    page.get_by_role("dialog", name="Remove the link").get_by_role("button", name="Remove").click()
    expect(dialog.locator(".shares li")).to_have_count(1)
    expect(dialog.locator(".shares li")).not_to_contain_text("garden club")


# Over plain HTTP a page has no clipboard.
PLAIN = "Object.defineProperty(Navigator.prototype, 'clipboard', { get: () => undefined });"


def test_link_is_copied_over_plain_http(browser, address):
    board = Board(browser, address, script=PLAIN)
    page, dialog = board.page, board.page.get_by_role("dialog", name="Share")
    page.evaluate("document.addEventListener('copy', (event) => { window.copied = event.target.value; })")
    board.key("S")
    dialog.get_by_role("button", name="Make a link").click()
    dialog.get_by_role("button", name="Copy link").click()
    expect(dialog.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("copied") == dialog.get_by_label("Link", exact=True).input_value()
    page.evaluate("document.execCommand = () => false")
    dialog.get_by_role("button", name="Copied").click()
    expect(dialog.get_by_role("status")).to_contain_text("This browser does not let the page copy")
    board.close()


@query("?role=editor")
def test_only_owners_share(board):
    board.key("S")
    expect(board.page.get_by_role("dialog")).to_contain_text("Only an owner can share a board: your role here is editor")
    expect(board.page.get_by_role("button", name="Make a link")).to_have_count(0)


# Rights

@query("?role=reader")
def test_reader_sees_greyed_commands_with_a_sentence(board):
    page = board.page
    new = page.get_by_role("button", name="New note")
    expect(new).to_have_attribute("aria-disabled", "true")
    expect(new).to_have_attribute("title", re.compile("your role here is reader"))
    # Playwright waits until a button is enabled; people do not.
    new.click(force=True)
    expect(page.locator("#toast")).to_contain_text("You can read this board, but not change it")
    board.note("Compost").click(button="right")
    menu = page.get_by_role("menu")
    expect(menu.locator(".refusal")).to_contain_text("your role here is reader")
    expect(menu.get_by_role("menuitem", name="Delete")).to_have_attribute("aria-disabled", "true")
    expect(menu.get_by_role("menuitem", name="Details")).not_to_have_attribute("aria-disabled", "true")
    board.key("Escape", "n")
    assert page.locator("textarea").count() == 0
    page.mouse.dblclick(700, 650)
    assert page.locator("textarea").count() == 0


@query("?role=commenter")
def test_commenter_changes_only_its_own_notes(board):
    page = board.page
    board.note("Compost").click()
    edit = page.locator("#selection [data-command=edit]")
    expect(edit).to_have_attribute("aria-disabled", "true")
    expect(edit).to_have_attribute("title", re.compile("someone else’s"))
    expect(page.locator("#frame")).to_be_hidden()
    board.key("Enter")
    assert page.locator("textarea").count() == 0
    expect(page.locator("#toast")).to_contain_text("note 8 is someone else’s", ignore_case=True)
    before = board.box(board.note("Compost"))
    page.mouse.move(before["x"] + 40, before["y"] + 40)
    page.mouse.down()
    page.mouse.move(before["x"] + 140, before["y"] + 140, steps=4)
    page.mouse.up()
    assert board.box(board.note("Compost")) == before
    board.key("n")
    board.type("my own")
    board.key("Escape")
    board.note("my own").click()
    expect(edit).not_to_have_attribute("aria-disabled", "true")
    expect(edit).to_have_attribute("title", re.compile("Edit text"))


def test_changed_role_ends_what_was_begun(board):
    page = board.page
    board.note("Compost").dblclick()
    expect(page.locator("textarea")).to_be_focused()
    page.evaluate("fake.list[0].setRole('reader')")
    expect(page.locator("textarea")).to_have_count(0)
    expect(page.locator("#toast")).to_contain_text("Your role on this board is reader now")
    expect(page.locator("[data-command=new]")).to_have_attribute("aria-disabled", "true")
    expect(page.locator(".status")).to_contain_text("Read only")
    page.evaluate("fake.list[0].setRole('editor')")
    expect(page.locator("[data-command=new]")).not_to_have_attribute("aria-disabled", "true")
    board.key("n")
    expect(page.locator("textarea")).to_be_focused()


def test_board_that_is_no_longer_visible_closes_with_a_sentence(board):
    page = board.page
    board.key("E")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.evaluate("""() => { const [gone] = fake.list.splice(0, 1);
      gone.dispatchEvent(new CustomEvent('gone', { detail: { message: 'you no longer see the board “Garden”: your role on it has ended' } }));
      fake.dispatchEvent(new Event('boards')); }""")
    expect(page.locator("#toast")).to_contain_text("You no longer see the board “Garden”")
    expect(page.locator(".board-button")).not_to_contain_text("Garden")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_page_that_is_signed_out_shows_no_notes(board):
    page = board.page
    page.evaluate("fake.signOut()")
    expect(page.locator("#notes > li")).to_have_count(0)
    assert "Garden" not in page.title()
    page.evaluate("fake.dispatchEvent(new Event('boards'))")
    expect(page.locator("#notes > li")).to_have_count(0)


# Repairs

@query("?conflicts=1")
def test_merged_text_repairs_a_conflict(board):
    page = board.page
    expect(page.locator(".status")).to_contain_text("2 to repair")
    page.locator(".status").click()
    page.get_by_role("button", name="Repair 2").click()
    cards = page.locator(".conflicts > li")
    expect(cards).to_have_count(2)
    expect(cards.nth(0).locator("pre")).to_have_count(2)
    field = page.get_by_label("merged")
    expect(field).to_have_count(1)
    field.fill("Beans and peas")
    page.evaluate("fake.dispatchEvent(new Event('conflicts'))")
    expect(field).to_have_value("Beans and peas")
    page.get_by_role("button", name="Use merged").click()
    expect(cards).to_have_count(1)
    expect(page.locator(".status")).to_contain_text("1 to repair")
    page.get_by_role("button", name="Keep theirs").click()
    expect(page.get_by_role("dialog")).to_contain_text("no conflicts")
    board.key("Escape")
    expect(board.note("Beans and peas")).to_be_visible()
    expect(page.locator(".status")).not_to_contain_text("repair")


@options(viewport={"width": 390, "height": 844})
@pytest.mark.parametrize("key, name", [("!", "Conflicts"), ("b", "Boards"), ("S", "Share"), ("E", "Export"), ("?", "Keyboard"), ("f", "Show only")])
def test_dialogs_fit_a_phone(board, key, name):
    board.key(key)
    dialog = board.page.get_by_role("dialog", name=name)
    expect(dialog).to_be_visible()
    box = board.box(dialog)
    assert box["x"] >= 0 and box["x"] + box["width"] <= 390 and box["y"] >= 0 and box["y"] + box["height"] <= 844


# Others

CARET = "document.querySelector('.caret:not([hidden])')?.getBoundingClientRect()"


def caret(board, note, at):
    board.page.evaluate(f"fake.list[0].write({NOTE}[{note}].id, {at})")
    board.until(f"!!{CARET}")
    return board.page.evaluate(f"(({{ x, y, height }}) => ({{ x, y, height }}))({CARET})")


@query("?people=1")
def test_caret_of_another_stands_in_the_rendered_text(board):
    text = board.page.evaluate(f"{NOTE}[2].text")
    box = board.box(board.note("Tomatoes"))
    first = caret(board, 2, 0)
    assert abs(first["x"] - box["x"] - 16) < 3 and box["y"] < first["y"] < box["y"] + 30
    inside = caret(board, 2, 4)
    assert inside["y"] == first["y"] and inside["x"] > first["x"] + 20
    bold = caret(board, 2, text.index("pots"))
    assert bold["y"] > first["y"] + 10, "the second line"
    left = board.page.evaluate("""() => { const node = document.createTreeWalker(document.querySelector('#notes strong'), NodeFilter.SHOW_TEXT).nextNode();
      const range = document.createRange(); range.setStart(node, 3), range.setEnd(node, 4); return range.getBoundingClientRect().x; }""")
    assert abs(bold["x"] - left) < 3, "the marks of Markdown take no room"


@query("?people=1")
def test_caret_of_another_stands_in_the_field(board):
    page = board.page
    board.note("Tomatoes").dblclick()
    expect(page.locator("textarea")).to_be_focused()
    box, first = board.box(page.locator("textarea")), caret(board, 2, 0)
    assert abs(first["x"] - box["x"] - 16) < 3
    second = caret(board, 2, page.evaluate(f"{NOTE}[2].text").index("Prick"))
    assert abs(second["x"] - first["x"]) < 2 and 15 < second["y"] - first["y"] < 40
    expect(page.locator("textarea")).to_be_focused()
    expect(page.locator(".editor.copy")).to_have_count(0)
    board.key("H")


@query("?people=1")
def test_caret_is_hidden_with_the_cursors_and_out_of_sight(board):
    caret(board, 2, 0)
    board.key("H")
    board.until("document.querySelector('.caret').hidden")
    board.key("H")
    board.until("!document.querySelector('.caret').hidden")
    board.page.evaluate("fake.list[0].write(null, null)")
    board.until("document.querySelector('.caret').hidden")


@query("?people=1")
def test_list_names_who_writes(board):
    board.key("v")
    board.page.evaluate(f"fake.list[0].write({NOTE}[2].id, 0)")
    expect(board.page.locator("#list .writer")).to_have_text("Ann writes")


@query("?people=1")
def test_view_follows_a_person_to_another_board(board):
    page = board.page
    page.get_by_role("button", name="Follow Ann").click()
    page.evaluate("""() => { const [garden, kitchen] = fake.list;
      const there = { ...garden.presence[0], board: kitchen.id };
      fake.people = [there], kitchen.presence = [there], garden.presence = [];
      garden.dispatchEvent(new Event('presence')); }""")
    expect(page.locator(".board-button")).to_contain_text("Kitchen")
    expect(page.locator("#overlay")).to_have_class("following")


@options(reduced_motion="no-preference")
def test_note_of_another_fades_in(board):
    board.page.evaluate("""() => { window.animations = []; document.addEventListener('animationstart', (e) => animations.push(e.animationName));
      fake.list[0].otherInsert({ text: 'from Ann', x: 300, y: 560 }); }""")
    board.until("animations.includes('arrive')")
    board.until("!document.querySelector('.arrived')")
    expect(board.note("from Ann")).to_be_visible()


def test_reduced_motion_is_respected(board):
    board.page.evaluate("fake.list[0].otherInsert({ text: 'from Ann', x: 300, y: 560 })")
    expect(board.note("from Ann")).to_be_visible()
    assert board.page.evaluate("getComputedStyle(document.querySelector('.arrived') ?? document.body).animationName") == "none"


def test_undo_in_an_empty_new_note_removes_it(board):
    page = board.page
    count = page.locator("#notes > li").count()
    board.key("n")
    expect(page.locator("textarea")).to_be_focused()
    board.key("Control+z")
    expect(page.locator("textarea")).to_have_count(0)
    expect(page.locator("#notes > li")).to_have_count(count)
    board.key("u")
    expect(page.locator("#toast")).to_contain_text("nothing to undo")


# Addresses

def test_link_in_an_open_page_starts_it_again(board):
    page = board.page
    page.evaluate("window.isOld = true")
    with page.expect_event("load"):
        page.evaluate("location.hash = '#share=stk_example&board=x'")
    board.until_shown()
    assert page.evaluate("window.isOld") is None
    assert "share" not in page.url


# Boards, details

@query("?boards=500")
def test_many_boards_are_listed_in_pages(board):
    page = board.page
    board.key("b")
    rows = page.locator(".boards .row")
    expect(rows).to_have_count(60)
    expect(page.get_by_role("dialog").get_by_role("status")).to_have_text("504 of 504 boards")
    page.get_by_role("dialog").evaluate("node => node.scrollTo(0, node.scrollHeight)")
    expect(rows).to_have_count(120)
    page.get_by_label("Find a board").fill("box 499")
    expect(rows).to_have_count(1)
    board.key("ArrowDown", "Enter")
    expect(page.locator(".board-button")).to_contain_text("Box 499")


@query("?boards=30")
def test_note_moves_to_one_of_many_boards(board):
    page = board.page
    board.key("b")
    page.get_by_label("Find a board").fill("garden")
    board.key("Enter")
    board.note("Compost").click()
    board.key("m")
    page.get_by_label("Find a board").fill("box 17")
    board.key("Enter")
    expect(page.locator("#toast")).to_contain_text("Moved to Box 17")


def test_details_name_the_value_before_and_the_lost_one(board):
    board.note("Compost").click()
    board.key("i")
    dialog = board.page.get_by_role("dialog")
    expect(dialog).to_contain_text("before: white")
    expect(dialog).to_contain_text("Ben’s red lost")


# Newer versions

def test_part_of_a_former_version_asks_for_a_reload(browser, address):
    def remove(board):
        board.context.route("**/dialogs.js", lambda route: route.fulfill(status=404))

    board = Board(browser, address, outage=True, prepare=remove)
    page = board.page
    board.key("S")
    expect(page.locator("#toast")).to_contain_text("reload the page")
    expect(page.get_by_role("dialog")).to_have_count(0)
    board.context.unroute("**/dialogs.js")
    with page.expect_event("load"):
        page.locator("#toast").get_by_role("button", name="Reload").click()
    board.until_shown()
    board.key("S")
    expect(page.get_by_role("dialog", name="Share")).to_be_visible()
    board.close()


def test_late_part_is_loaded_before_it_is_needed(browser, address):
    board = Board(browser, address, patience=10)
    board.until("performance.getEntriesByType('resource').some((each) => each.name.endsWith('/dialogs.js'))")
    board.close()


# Looks and installation

@options(forced_colors="active")
@query("?people=2")
def test_forced_colors_keep_what_colors_say(board):
    page = board.page
    style = "(selector, name) => getComputedStyle(document.querySelector(selector))[name]"

    def look(selector, name):
        return page.evaluate(f"([s, n]) => ({style})(s, n)", [selector, name])

    assert look(".note", "borderTopStyle") == "solid"
    assert look(".status i", "backgroundColor") != look("body", "backgroundColor")
    assert look("#links .arrow", "stroke") == look(".status", "color") or look("#links .arrow", "stroke") != "none"
    board.note("Compost").click()
    assert look(".note.selected", "outlineStyle") == "solid" and look(".note.selected", "outlineWidth") == "3px"
    assert look(".swatch", "backgroundColor") == "rgb(232, 213, 191)", "a swatch keeps its color"
    board.note("Compost").dblclick()
    assert look(".note.editing", "outlineStyle") == "solid"


def test_manifest_describes_files_that_exist():
    web = serve.ROOT / "Web"
    manifest = json.loads((web / "manifest.webmanifest").read_text())
    assert manifest["start_url"] == manifest["scope"] == "../../", "relative, for any prefix"
    assert "id" not in manifest, "it would be the same under all prefixes of a host"
    for image in manifest["icons"] + manifest["screenshots"]:
        if image["type"] == "image/png":
            head = (web / image["src"]).read_bytes()[:24]
            assert "{}x{}".format(*struct.unpack(">II", head[16:24])) == image["sizes"], image["src"]
        else:
            assert (web / image["src"]).read_text().startswith("<svg")
    assert {i["purpose"] for i in manifest["icons"]} == {"any", "maskable"}
    assert {s["form_factor"] for s in manifest["screenshots"]} == {"wide", "narrow"}


def test_browser_finds_no_fault_in_the_manifest(board):
    cdp = board.context.new_cdp_session(board.page)
    found = cdp.send("Page.getAppManifest")
    assert not found["errors"], found["errors"]
    assert json.loads(found["data"])["short_name"] == "Stickies"


def test_installation_is_offered_when_the_browser_offers_it(board):
    page = board.page
    page.get_by_role("button", name="Menu", exact=True).click()
    expect(page.get_by_role("menuitem", name="Install")).to_have_count(0)
    board.key("Escape")
    page.evaluate("""() => { const event = new Event('beforeinstallprompt', { cancelable: true });
      event.prompt = () => { window.prompted = true; }, dispatchEvent(event); }""")
    page.get_by_role("button", name="Menu", exact=True).click()
    page.get_by_role("menuitem", name="Install").click()
    assert page.evaluate("prompted")
