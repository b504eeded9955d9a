import os
import sys
import unittest

from stage import PROGRAMS, TAB, Stage

SHELLS = {
    "bash": (["bash", "--norc", "-i"], "PS1='% '; source <(stickies completion bash)"),
    "zsh": (
        ["zsh", "-f", "-i"],
        "PS1='%% '; autoload -Uz compinit; compinit -u -D; source <(stickies completion zsh)"),
    "fish": (["fish", "--no-config", "-i"], "function fish_prompt; echo '% '; end; stickies completion fish | source"),
}

# Typed text, and the line after a tab.
LINES = [
    ("stickies wat", "stickies watch "),
    ("stickies list --boa", "stickies list --board "),
    ("stickies list --board T", "stickies list --board To\\ do "),
    ("stickies list --board To\\ d", "stickies list --board To\\ do "),
    ("stickies list --board 'T", "stickies list --board 'To do' "),
    ('stickies list --board "T', 'stickies list --board "To do" '),
    ("stickies list --board=T", "stickies list --board=To\\ do "),
    ("stickies list --board 12:", "stickies list --board 12:30\\ today "),
    ("stickies list --board ba", "stickies list --board back\\\\slash "),
    ("stickies tag 1 ho", "stickies tag 1 home "),
    ("stickies show ", "stickies show 1 "),
    ("stickies open --interface l", "stickies open --interface list "),
    ("stickies graph fetch No", "stickies graph fetch Note "),
    ("stickies import lett", "stickies import letters.jsonl "),
]

# Names that run a command in a shell that expands them; each has another first letter.
NAMES = ["a'$(touch harm)", "k`touch harm`", "c;touch harm;'", "d!touch harm", 'e"$(touch harm)"', "f\\$(touch harm)\\",
         "g ~#{x,y}*?[z]", "h'", 'i"', "j!"]


class CompletionTests(unittest.TestCase):
    """The real shells complete when a person presses tab."""

    def setUp(self):
        self.stage = Stage()
        self.addCleanup(self.stage.close)
        self.stage.run("board", "add", "To do")
        self.stage.run("board", "add", "12:30 today")
        self.stage.run("board", "add", "back\\slash")
        self.stage.run("add", "one: two", "--tag", "home", "--board", "To do")
        open(f"{self.stage.home}/letters.jsonl", "w").close()

    def complete(self, name):
        command, setup = SHELLS[name]
        path = f"{PROGRAMS}:{os.environ['PATH']}"
        person = self.stage.sits_at(command, size=(100, 40), PATH=path, HISTFILE="/dev/null")
        person.types(f"{setup}; echo REA''DY\r")
        person.shows("\nREADY\n%")
        line = lambda: person.screen.display[person.screen.cursor.y][:person.screen.cursor.x]
        for typed, completed in LINES:
            with self.subTest(shell=name, typed=typed):
                person.types(typed + TAB)
                person.waits(lambda _: line() == "% " + completed, f"{completed!r} in {name}")
                person.types("\x15")
                person.waits(lambda _: line() == "% ", "an empty line")
        person.types("stickies color 1 p" + TAB + TAB)
        person.waits(lambda screen: "pink" in screen and "purple" in screen, "two colors")

    def offer(self, name, quotes):
        """Completes names of other users in every kind of quotation mark, and runs the command."""
        for board in NAMES:
            self.stage.run("board", "add", "--", board)
        with open(f"{self.stage.home}/say", "w") as say:
            say.write(f"#!{sys.executable}\nimport sys\nprint('SAID', ascii(sys.argv[4:]), end='.')\n")
        os.chmod(f"{self.stage.home}/say", 0o755)
        command, setup = SHELLS[name]
        path = f"{PROGRAMS}:{os.environ['PATH']}"
        person = self.stage.sits_at(command, size=(200, 40), PATH=path, HISTFILE="/dev/null")
        person.types(f"{setup}; touch harmless; echo REA''DY\r")
        person.shows("\nREADY\n%")
        line = lambda: person.screen.display[person.screen.cursor.y][:person.screen.cursor.x]
        for board in NAMES:
            for quote in quotes:
                with self.subTest(shell=name, quote=quote, board=board):
                    typed = f"stickies list --board {quote}{board[0]}"
                    person.types(typed + TAB)
                    person.waits(lambda _: len(line().rstrip()) > len(typed) + 2, f"{board!r} in {name}")
                    person.settles()
                    # Another program, put in front of the line, prints its arguments.
                    person.types("\x01./say \x05\r")
                    person.shows("SAID " + ascii([board]) + ".")
                    self.assertFalse(os.path.exists(f"{self.stage.home}/harm"))
                    person.types("\x0c")
                    person.hides("SAID")

    def test_bash_offers_names_of_others(self):
        self.offer("bash", ["", "'", '"', "$'"])

    def test_zsh_offers_names_of_others(self):
        self.offer("zsh", ["", "'", '"', "$'"])

    def test_fish_offers_names_of_others(self):
        self.offer("fish", ["", "'", '"'])

    def test_bash_completes(self):
        self.complete("bash")

    def test_zsh_completes(self):
        self.complete("zsh")

    def test_fish_completes(self):
        self.complete("fish")


if __name__ == "__main__":
    unittest.main()
