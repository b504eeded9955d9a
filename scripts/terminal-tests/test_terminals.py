"""The same board in terminals of every kind: colors or none, small and very large, and letters that take two cells."""

import re
import signal
import unittest

from stage import ESCAPE, LEFT, RIGHT, Stage

TEXT = "plain 世界 🙂 end"
# The content of the cell behind a letter of two cells, in pyte.
BEHIND_WIDE = ""


class TerminalsTests(unittest.TestCase):
    def setUp(self):
        self.stage = Stage()
        self.addCleanup(self.stage.close)
        self.stage.run("board", "add", "Work")

    def cells(self, ann):
        width, height = ann.screen.columns, ann.screen.lines
        return [[ann.screen.buffer[row][column] for column in range(width)] for row in range(height)]

    def leaves_no_ghosts(self, ann):
        """The screen equals one that is redrawn completely."""
        ann.settles()
        drawn = self.cells(ann)
        ann.screen.erase_in_display(2)
        ann.signal(signal.SIGCONT)
        ann.shows("connected")
        ann.settles()
        for row, (then, now) in enumerate(zip(drawn, self.cells(ann))):
            self.assertEqual(then, now, f"row {row}:\n{ann.text}")

    def columns(self, ann, letter, row):
        return [column for column, cell in enumerate(self.cells(ann)[row]) if cell.data == letter]

    def test_wide_letters_take_two_cells_and_leave_the_columns_beside_them_in_place(self):
        self.stage.run("add", TEXT, "--position", "80,64")
        self.stage.run("add", "second\n" + TEXT, "--position", "80,256")
        ann = self.stage.open()
        ann.shows("second")
        ann.settles()
        _, row = ann.place("plain")
        _, second = ann.place("second")
        cells = [cell.data for cell in self.cells(ann)[row]]
        self.assertEqual(cells[10:30], [
            "╭", " ", *"plain ", "世", BEHIND_WIDE, "界", BEHIND_WIDE, " ", "🙂", BEHIND_WIDE, *" end "])
        # The corner is in the column of the edge below it, as in a note without wide letters.
        self.assertEqual(self.columns(ann, "╮", row), self.columns(ann, "╮", second))
        self.assertEqual(self.columns(ann, "│", second + 1), [10, *self.columns(ann, "╮", second)])
        self.assertEqual(self.columns(ann, "世", second + 1), [18])

    def test_wide_letters_that_move_or_are_half_covered_leave_no_ghosts(self):
        self.stage.run("add", "\n".join([TEXT] * 4), "--position", "80,64")
        # With each key, the edge of the note moves one cell through the letters.
        self.stage.run("add", "over", "--position", "160,80")
        ann = self.stage.open()
        ann.shows("over")
        for name, keys in (("over", [RIGHT] * 5 + [LEFT]), ("plain", [RIGHT, RIGHT, LEFT])):
            column, row = ann.place(name)
            ann.press(column, row)
            ann.release(column, row)
            for key in keys:
                ann.types(key)
                self.leaves_no_ghosts(ann)
            moved = sum(1 if key == RIGHT else -1 for key in keys)
            self.assertEqual(ann.place(name), (column + moved, row))

    def test_program_uses_the_colors_that_the_terminal_has(self):
        self.stage.run("add", "yellow", "--color", "yellow")
        direct, palette = rb"[34]8;2;\d+;\d+;\d+", rb"[34]8;5;\d+"
        sixteen = rb"(?<=[\[;])(3[0-7]|4[0-7]|9[0-7]|10[0-7])(?=[;m])"
        for environment, shown in (
            (dict(TERM="xterm-256color", COLORTERM="truecolor"), direct),
            (dict(TERM="xterm-256color"), palette),
            (dict(TERM="xterm"), sixteen),
            (dict(TERM="vt100"), None),
            (dict(TERM="xterm-256color", COLORTERM="truecolor", NO_COLOR="1"), None),
        ):
            with self.subTest(**environment):
                ann = self.stage.open(**environment)
                ann.shows("yellow")
                ann.settles()
                styles = b" ".join(re.findall(rb"\x1b\[[0-9;]*m", ann.received))
                found = [
                    colors for colors in (direct, palette, sixteen)
                    if re.search(colors, styles if colors != sixteen else re.sub(rb"[34]8;[25][0-9;]*", b"", styles))]
                self.assertEqual(found, [shown] if shown else [])
                ann.types("q")
                self.assertEqual(ann.ends(), 0)

    def test_answers_of_a_terminal_are_used_and_missing_ones_are_not_waited_for(self):
        self.stage.run("add", "paper", "--position", "80,64")
        ann = self.stage.open()
        ann.shows("paper")
        ann.settles()
        column, row = ann.place("paper")
        self.assertIn(b"\x1b]11;?\x1b\\", ann.received)
        # The program works before the terminal has answered.
        dark = ann.screen.buffer[row + 2][column].bg
        ann.types("\x1b]11;rgb:ffff/ffff/ffff\x1b\\")
        ann.waits(lambda _: ann.screen.buffer[row + 2][column].bg != dark, "paper for a light background")
        ann.types("\x1b[?62;22c")
        ann.types("n")
        ann.types("answered late")
        ann.shows("answered late")

    def test_small_and_very_large_screens(self):
        self.stage.run("add", TEXT)
        for width, height in ((80, 24), (40, 10), (400, 120)):
            for more in ({}, dict(NO_COLOR="1")):
                with self.subTest(size=(width, height), **more):
                    ann = self.stage.open(size=(width, height), **more)
                    ann.shows("plain")
                    ann.settles()
                    self.assertIn("connected", ann.screen.display[height - 1])
                    # A note at the last place that may have one.
                    ann.press(width - 6, height - 4)
                    ann.release(width - 6, height - 4)
                    ann.press(width - 6, height - 4)
                    ann.release(width - 6, height - 4)
                    ann.types("far")
                    ann.waits(lambda _: "far" in ann.text, "the note in the corner")
                    self.assertGreater(ann.place("far")[0], width - 30)
                    ann.types(ESCAPE)
                    ann.waits(lambda text: ann.screen.cursor.hidden and "not yet" not in text, "the end of editing")
                    self.leaves_no_ghosts(ann)
                    ann.types("u")
                    ann.hides("far")
                    ann.types("q")
                    self.assertEqual(ann.ends(), 0)

    def test_a_terminal_that_grows_and_shrinks_shows_the_board_at_each_size(self):
        self.stage.run("add", TEXT)
        ann = self.stage.open()
        ann.shows("plain")
        for width, height in ((400, 120), (40, 10), (80, 24)):
            ann.screen.resize(height, width)
            ann.child.setwinsize(height, width)
            ann.waits(lambda _: "connected" in ann.screen.display[height - 1], f"the status line at {width} × {height}")
            ann.shows("plain")
            self.leaves_no_ghosts(ann)


if __name__ == "__main__":
    unittest.main()
