"""A page of the web board, as tests use it."""
import re
import time

# A browser reports each request to a server that is away, and each refused WebSocket.
OUTAGE = re.compile(r"Failed to load resource: |WebSocket connection to '[^']*' failed|Failed to update a ServiceWorker|"
                    r"The FetchEvent for .* network error")


class Board:
    """A page with the board, and the messages that its console must not have. `patience` is the longest time for what
    the page does, in seconds; with `outage`, the server is away at times. Before the page is loaded `prepare` is called, and
    before its own scripts it runs `script`."""

    def __init__(
            self, browser, address, query="", context=None, patience=5, outage=False, script="", prepare=None, **options):
        options.setdefault("viewport", {"width": 1280, "height": 800})
        options.setdefault("reduced_motion", "reduce")
        self.patience, self.outage, self.owns_context = patience, outage, context is None
        self.context = context or browser.new_context(**options)
        self.page = self.context.new_page()
        self.messages = []
        self.page.on("console", lambda m: self.messages.append(f"{m.type}: {m.text}"))
        self.page.on("pageerror", lambda e: self.messages.append(f"exception: {e}"))
        self.page.on("dialog", lambda d: (self.messages.append(f"dialog: {d.message}"), d.dismiss()))
        self.page.add_init_script(
            "window.violations = []; addEventListener('securitypolicyviolation', "
            "e => violations.push(`${e.violatedDirective} ${e.blockedURI}`));" + script)
        if prepare:
            prepare(self)
        self.page.goto(address + query)
        self.until_shown()

    def until_shown(self):
        """Awaits the notes of the board, or the sentence of an empty one."""
        self.until("document.querySelector('#notes li') || /Double|Tap|is empty/.test(document.getElementById('hint').textContent)")

    def close(self):
        violations = [] if self.page.is_closed() else self.page.evaluate("window.violations")
        if self.owns_context:
            self.context.close()
        else:
            self.page.close()
        messages = [m for m in self.messages if not (self.outage and OUTAGE.search(m))]
        assert not messages, messages
        assert not violations, violations

    def key(self, *names):
        for name in names:
            self.page.keyboard.press(name)

    def type(self, text):
        self.page.keyboard.type(text)

    def note(self, text):
        return self.page.locator("#notes > li", has_text=text).first

    def texts(self):
        return self.page.eval_on_selector_all("#notes > li > .paper > .text", "all => all.map(n => n.innerText.trim())")

    def until(self, expression):
        """Awaits an expression. The page's policy forbids the evaluation of strings that wait_for_function needs."""
        end = time.monotonic() + self.patience
        while not self.page.evaluate(expression):
            assert time.monotonic() < end, expression
            self.page.wait_for_timeout(20)

    def selected(self):
        return self.page.eval_on_selector_all("#notes > li.selected", "all => all.length")

    def box(self, locator):
        return locator.bounding_box()
