"""axe finds nothing in any state and theme, the console and the policy's reports stay empty, and hostile texts stay texts."""
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from board_page import Board

pytestmark = pytest.mark.fake
AXE = Axe()


def keys(*names):
    return lambda board: board.key(*names)


def select(board):
    board.note("Compost").click()


def edit(board):
    board.note("Compost").dblclick()
    expect(board.page.locator("textarea")).to_be_focused()


def after_select(name):
    def act(board):
        select(board)
        board.key(name)
    return act


def search(board):
    board.key("/")
    board.type("the")
    expect(board.page.locator("#notes > li.match").first).to_be_visible()


def menu(board):
    board.note("Compost").click(button="right")


STATES = {
    "board": ("?people=2", lambda board: None), "selected": ("", select), "several": ("", keys("a")), "editing": ("", edit),
    "search": ("", search), "palette": ("", after_select("c")), "menu": ("", menu), "tag": ("", after_select("t")),
    "details": ("", after_select("i")), "list": ("", keys("v")), "boards": ("", keys("b")), "filter": ("", keys("f")),
    "history": ("", keys("h", "ArrowLeft")), "conflicts": ("?conflicts=1", keys("!")), "share": ("", keys("S")),
    "export": ("", keys("E")), "help": ("", keys("?")), "empty": ("?empty=1", lambda board: None),
    "denied": ("?role=reader", menu), "commenter": ("?role=commenter", select), "status": ("?conflicts=1", lambda board: board.page.locator(".status").click()),
    "carets": ("?people=1", edit), "offline": ("?status=offline&unsent=3", keys("n")), "reader": ("?role=reader", lambda board: None),
    "far": ("?notes=3000", keys("1")),
}


@pytest.mark.parametrize("theme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
@pytest.mark.parametrize("state", STATES)
def test_axe(browser, address, state, theme):
    query, act = STATES[state]
    board = Board(browser, address, query, color_scheme=theme, bypass_csp=True)
    act(board)
    board.page.wait_for_timeout(250)
    # The policy forbids axe's own script: it runs without the policy here, and the other tests run with it.
    results = AXE.run(board.page, options={"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]})
    found = [f"{v['id']}: {v['help']} {[n['html'][:160] for n in v['nodes'][:3]]} {v['nodes'][0]['any'][:1]}" for v in results.response["violations"]]
    board.context.close()
    assert not found, "\n".join(found)


@pytest.mark.parametrize("state", ["board", "list", "boards", "filter", "history", "details", "export", "search"])
def test_hostile_texts_stay_texts(browser, address, state):
    board = Board(browser, address, "?hostile=1&people=2")
    page = board.page
    if state == "details":
        page.locator("#notes > li").first.click()
    board.key({"board": "1", "list": "v", "boards": "b", "filter": "f", "history": "h", "details": "i", "export": "E", "search": "/"}[state])
    if state == "search":
        board.type("<script>")
    page.wait_for_timeout(200)
    assert page.evaluate("document.querySelectorAll('script, [onerror], [onload], [onmouseover], img, iframe').length") == 1
    links = page.eval_on_selector_all("main a", "all => all.map(a => a.protocol)")
    assert set(links) <= {"https:", "http:", "mailto:"}
    board.close()


def test_targets_are_large_enough(browser, address):
    board = Board(browser, address, "?people=4")
    select(board)
    small = board.page.evaluate("""() => [...document.querySelectorAll('button, [data-edges]:not(.n, .s, .e, .w)')].filter(b => b.offsetParent)
      .map(b => [b.getAttribute('aria-label') ?? b.className, b.getBoundingClientRect()]).filter(([, r]) => r.width < 24 || r.height < 24).map(([n]) => n)""")
    assert small == []
    board.close()


def test_zoomed_page_shows_the_list(browser, address):
    board = Board(browser, address, viewport={"width": 320, "height": 256})
    expect(board.page.locator("#list")).to_be_visible()
    expect(board.page.locator("#view")).to_be_hidden()
    assert board.page.evaluate("document.documentElement.scrollWidth") <= 320
    board.close()


def test_one_stop_for_tab(browser, address):
    board = Board(browser, address)
    assert board.page.locator("#notes [tabindex='0']").count() == 1
    board.key("Home", "ArrowRight")
    assert board.page.locator("#notes [tabindex='0']").count() == 1
    board.close()


def test_live_region_speaks_seldom(browser, address):
    board = Board(browser, address)
    board.page.evaluate("""() => { window.spoken = []; new MutationObserver(() => spoken.push([performance.now(), document.getElementById('live').textContent]))
      .observe(document.getElementById('live'), { childList: true, characterData: true, subtree: true }); }""")
    for _ in range(8):
        board.page.evaluate("fake.list[0].other([...fake.list[0].notes.keys()][3], 0, 0, 'x')")
        board.page.wait_for_timeout(120)
    board.until("spoken.length > 0")
    assert board.page.evaluate("spoken.length") <= 2
    board.close()
