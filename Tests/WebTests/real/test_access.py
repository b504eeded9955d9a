"""The page of a daemon for assistive technology, with its policy, and with hostile texts; the states of the fake session
are in Tests/WebTests/browser/test_access.py."""
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
HOSTILE = [
    "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "[x](javascript:alert(1))", "<svg/onload=alert(1)>",
    "`</textarea><script>alert(1)</script>`", "\u202e\u0000<b onmouseover=alert(1)>x</b>", "- [ ] <iframe src=//x.example>",
]
# The states of a page in turn, and the keys that lead from one to the next.
STATES = {
    "board": [], "editing": ["n"], "list": ["Escape", "v"], "boards": ["v", "b"], "history": ["Escape", "h"],
    "now": ["Escape"], "selected": [], "details": ["i"], "help": ["Escape", "?"], "closed": ["Escape"], "away": [],
}


@pytest.mark.core
def test_tree_of_the_page(room):
    room.add("# Groceries\n- [ ] milk\n- [x] bread", "Call Ann")
    page = room.open()
    page.settle()
    expect(page.page.locator("body")).to_match_aria_snapshot(f"""
      - link "Skip to the notes"
      - banner "Board":
        - button "{room.name}"
        - 'button "Status: Live"': Live
        - button "Search (/)"
      - main "Notes":
        - list "Notes":
          - 'listitem "Note {room.notes()[0]["number"]}: Groceries (yellow)"':
            - paragraph: Groceries
            - list:
              - listitem:
                - checkbox "milk"
              - listitem:
                - checkbox "bread" [checked]
          - 'listitem "Note {room.notes()[1]["number"]}: Call Ann (yellow)"':
            - paragraph: Call Ann
      - contentinfo "Tools":
        - toolbar "Tools":
          - button "New note"
    """)
    # One note is reached with Tab, and the arrow keys go on from there.
    assert page.page.locator("#notes [tabindex='0']").count() == 1


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(room, daemon, theme):
    room.add("# Groceries\n- [ ] milk", "Call Ann")
    page = room.open(color_scheme=theme, bypass_csp=True, outage=True)
    for state, keys in STATES.items():
        if state == "selected":
            page.note("Call Ann").click()
        if state == "away":
            page.settle()
            daemon.kill()
            page.write("unsent")
            expect(page.status).to_contain_text("unsent")
        page.key(*keys)
        page.page.wait_for_timeout(250)
        # The policy forbids axe's own script: it runs without the policy here, and the other tests run with it.
        found = Axe().run(page.page, options={"runOnly": RULES}).response["violations"]
        assert not found, f"{state}: " + "\n".join(
            f"{each['id']}: {each['help']} {[node['html'][:160] for node in each['nodes'][:3]]}" for each in found)
    daemon.start()
    page.settle()


def test_hostile_texts_stay_texts(room, daemon):
    """Closing the page also checks that its console and the reports of its policy are empty."""
    for text in HOSTILE:
        answer = daemon.client.post("/v1/objects/Note", json={"text": text, "board": room.id})
        assert answer.status_code == 201, answer.text
    daemon.shell("tag", str(room.notes()[0]["number"]), "<img src=x onerror=alert(1)>")
    daemon.shell("board", "rename", room.id, "<script>alert(1)</script>")
    page = room.open()
    expect(page.page.locator("#notes > li")).to_have_count(len(HOSTILE))
    for keys in (["1"], ["v"], ["v", "b"], ["Escape", "h"], ["Escape", "/"]):
        page.key(*keys)
        page.page.wait_for_timeout(100)
    page.type("<script>")
    expect(page.page.locator("#notes > li.match").first).to_be_visible()
    counted = "document.querySelectorAll('script, [onerror], [onload], [onmouseover], img, iframe').length"
    assert page.page.evaluate(counted) == 1, "the page has its own script only"
    links = page.page.eval_on_selector_all("main a", "all => all.map(each => each.protocol)")
    assert set(links) <= {"https:", "http:", "mailto:"}
