import os
import re
import shutil
import subprocess
import unittest

from stage import DELETE, ENTER, ESCAPE, PROGRAMS, RIGHT, TAB, TERMINATE, Stage


class OpenTests(unittest.TestCase):
    def setUp(self):
        self.stage = Stage()
        self.addCleanup(self.stage.close)
        self.stage.run("board", "add", "Work")

    def test_note_added_in_the_shell_appears_as_a_window(self):
        ann = self.stage.open()
        ann.shows("connected")
        self.stage.run("add", "Buy milk", "--position", "80,64", "--color", "blue")
        ann.shows("Buy milk")
        column, row = ann.place("Buy milk")
        self.assertEqual((column, row), (12, 5))
        paper = ann.screen.buffer[row + 2][column].bg
        self.assertNotEqual(paper, "default")
        self.stage.run("move", "1", "160,64")
        ann.waits(lambda _: any(line.find("Buy milk") == 22 for line in ann.screen.display), "the move")

    def test_two_people_and_the_shell_see_one_note_grow_and_move(self):
        ann, ben = self.stage.open(), self.stage.open(author="ben@test")
        for person in (ann, ben):
            person.shows("connected")
        ann.types("nhello")
        ben.shows("hello")
        ben.shows("ann edits")
        ann.types(ESCAPE)
        ben.hides("ann edits")
        self.assertIn("hello", self.stage.run("list"))
        ann.shows("hello")
        column, row = ann.place("hello")
        ann.press(column, row)
        ann.press(column + 4, row + 2, code=32)
        ann.release(column + 4, row + 2)
        ben.waits(lambda _: ben.screen.display[row + 2].find("╭") == column + 2, "the drag")
        ann.types("u")
        ben.waits(lambda _: ben.screen.display[row].find("╭") == column - 2, "the undo")

    def test_editor_that_returns_later_without_writing_leaves_a_named_file(self):
        self.stage.run("add", "Buy milk")
        editor = os.path.join(self.stage.home, "editor")
        with open(editor, "w") as file:
            file.write("#!/bin/sh\nsleep 2.5\n")
        os.chmod(editor, 0o755)
        ann = self.stage.open(size=(120, 24), VISUAL=editor, TMPDIR=self.stage.home)
        ann.shows("Buy milk")
        ann.types(TAB + "E")
        ann.shows("text saved later stays in")
        [folder] = [name for name in os.listdir(self.stage.home) if name.startswith("stickies-")]
        with open(os.path.join(self.stage.home, folder, "note.md")) as file:
            self.assertEqual(file.read(), "Buy milk")
        self.assertIn("Buy milk", self.stage.run("list"))

    def test_ctrl_z_stops_it_and_fg_continues(self):
        ann = self.stage.sits_at(["bash", "--norc", "-i"])
        ann.types(f"PS1='$ '; '{PROGRAMS}/stickies' open\r")
        ann.shows("connected")
        ann.types("\x1a")
        ann.shows("Stopped")
        ann.types("fg\r")
        ann.shows("connected")
        ann.types("q")
        ann.waits(lambda _: ann.received.count(b"\x1b[?1049l") == 2, "the end")
        # Keys before the prompt are dropped with the late answers of the terminal.
        ann.waits(lambda _: b"$ " in ann.received.rpartition(b"\x1b[?1049l")[2], "the prompt")
        ann.types("echo EN''DED\r")
        ann.shows("ENDED")

    def test_board_without_a_daemon_is_a_copy_that_is_sent_later(self):
        self.stage.run("add", "buy milk")
        self.stage.run("sync", "on", author="ann@test")
        self.stage.kill()
        ann = self.stage.open()
        ann.shows("offline")
        ann.shows("buy milk")
        ann.types(f"ncall Ann{ESCAPE}")
        ann.shows("+1")
        ann.shows("not sent")
        # The program knows that no further key belongs to the Escape.
        ann.waits(lambda _: ann.screen.cursor.hidden, "the end of the editor")
        ann.types("q")
        self.assertEqual(ann.ends(), 0)
        # The edit is on disk: another run shows it.
        ann = self.stage.open()
        ann.shows("+1")
        self.stage.start()
        ann.shows("connected")
        ann.hides("not sent")
        ann.hides("+1")
        self.assertIn("call Ann", self.stage.run("list", author="ben@test"))
        ann.types("C")
        ann.shows("No edit is in conflict")
        ann.types(ESCAPE)
        ann.hides("No edit is in conflict")
        ann.types("q")
        self.assertEqual(ann.ends(), 0)

    def test_leaving_waits_for_unsent_changes_and_can_be_requested_again(self):
        self.stage.run("add", "one")
        ann = self.stage.open()
        ann.shows("one")
        self.stage.kill()
        ann.shows("reconnecting")
        ann.types(f"{TAB}l")
        ann.shows("1 change not yet")
        ann.types("u")
        ann.shows("undo needs the server")
        ann.types("q")
        ann.shows("Leave?")
        ann.types("w")
        ann.shows("leaves when")
        ann.types("q")
        ann.shows("Leave?")
        ann.types("w")
        ann.hides("Leave?")
        self.stage.start()
        self.assertEqual(ann.ends(), 0)
        self.assertIn('"locked":true', self.stage.run("list", "--json").replace(" ", ""))

    def test_refused_change_does_not_block_later_ones(self):
        self.stage.run("board", "add", "Home")
        for text in ("one", "two"):
            self.stage.run("add", text, "--board", "Work")
        ann = self.stage.open("Home")
        ann.shows("connected")
        self.stage.kill()
        ann.shows("reconnecting")
        ann.types("nmade on a board that goes")
        ann.shows("not yet on the server")
        ann.types(ESCAPE)
        ann.waits(lambda _: ann.screen.cursor.hidden, "the end of editing")
        self.stage.meanwhile(("board", "delete", "Home", "--yes"))
        self.stage.start()
        ann.waits(lambda text: "connected" in text and "not yet" not in text, "the end of all changes")
        self.assertIn("made on a board that goes", self.stage.run("list"))
        ann.shows("made on a board")
        ann.types("nand another")
        ann.waits(lambda text: "and another" in text and "not yet" not in text, "the next note")

    def test_board_stays_while_other_boards_are_unavailable(self):
        self.stage.run("board", "add", "Home")
        self.stage.run("add", "one", "--board", "Work")
        ann = self.stage.open("Work")
        ann.shows("one")
        ann.types(f"{TAB}l")
        ann.waits(lambda text: "■" in text and "not yet" not in text, "the lock")
        ann.types(DELETE)
        ann.shows("the note is locked")
        self.stage.kill()
        ann.shows("reconnecting")
        ann.types("2")
        ann.shows("other boards need the server")
        self.assertIn("one", ann.text)

    def test_text_from_an_editor_of_a_deleted_note_is_in_a_new_note(self):
        self.stage.run("add", "one")
        script = f"{self.stage.home}/editor"
        with open(script, "w") as file:
            # The editor ends when the test lets it.
            file.write(f'#!/bin/sh\nwhile [ ! -e "{self.stage.home}/go" ]; do sleep 0.05; done\necho "and more" >> "$1"\n')
        os.chmod(script, 0o755)
        ann = self.stage.open(EDITOR=script)
        ann.shows("one")
        ann.types(f"{TAB}E")
        ann.waits(lambda _: b"\x1b[?1049l" in ann.received, "the editor")
        self.stage.run("delete", "1", author="ben@test")
        open(f"{self.stage.home}/go", "w").close()
        ann.shows("and more")
        ann.waits(lambda text: "not yet" not in text, "the new note")
        self.assertIn("one", self.stage.run("list"))

    def test_text_from_an_editor_that_fails_is_in_the_named_file(self):
        self.stage.run("add", "one")
        script = f"{self.stage.home}/editor"
        with open(script, "w") as file:
            file.write('#!/bin/sh\necho " and more" >> "$1"\nexit 3\n')
        os.chmod(script, 0o755)
        ann = self.stage.open(EDITOR=script)
        ann.shows("one")
        ann.types(f"{TAB}E")
        # The path comes first: the line is cut at the edge of the screen.
        ann.shows("your text is in /")
        path = re.search(r"your text is in (/\S+note\.md)", ann.text)
        self.assertIsNotNone(path, ann.text)
        with open(path[1]) as file:
            self.assertIn("and more", file.read())
        shutil.rmtree(os.path.dirname(path[1]))
        ann.types("q")
        self.assertEqual(ann.ends(), 0)
        self.assertNotIn("more", self.stage.run("list"))

    def test_text_from_an_editor_that_returns_at_once_is_in_the_named_file(self):
        self.stage.run("add", "one")
        # An editor with its own window may touch the file before it returns.
        for editor in ("true", "touch"):
            with self.subTest(editor=editor):
                ann = self.stage.open(EDITOR=editor)
                ann.shows("one")
                ann.types(f"{TAB}E")
                ann.shows("text saved later stays in /")
                path = re.search(r"stays in (/\S+note\.md)", ann.text)
                self.assertIsNotNone(path, ann.text)
                ann.types("q")
                self.assertEqual(ann.ends(), 0)
                # The path is repeated where it can be copied.
                self.assertIn(path[1], ann.after_leaving)
                with open(path[1]) as file:
                    self.assertEqual(file.read(), "one")
                shutil.rmtree(os.path.dirname(path[1]))

    def test_keys_typed_during_an_editor_without_a_terminal_are_dropped(self):
        self.stage.run("add", "one")
        begun, go, script = (f"{self.stage.home}/{name}" for name in ("begun", "go", "editor"))
        with open(script, "w") as file:
            # Like an editor with its own window.
            file.write(f'#!/bin/sh\ntouch "{begun}"\nwhile [ ! -e "{go}" ]; do sleep 0.05; done\necho " more" >> "$1"\n')
        os.chmod(script, 0o755)
        ann = self.stage.open(EDITOR=script)
        ann.shows("one")
        ann.types(f"{TAB}E")
        ann.waits(lambda _: os.path.exists(begun), "the editor")
        ann.types("nlost")
        # The terminal echoes the keys.
        ann.shows("nlost")
        open(go, "w").close()
        ann.waits(lambda _: ann.received.count(b"\x1b[?1049h") == 2, "the board")
        ann.types("?")
        ann.shows("New Note")
        ann.types("?q")
        self.assertEqual(ann.ends(), 0)
        self.assertNotIn("lost", self.stage.run("list"))

    def test_link_to_a_deleted_note_is_dropped(self):
        for text in ("one", "two"):
            self.stage.run("add", text)
        ann = self.stage.open()
        ann.shows("two")
        self.stage.kill()
        ann.shows("reconnecting")
        ann.types(f"{TAB}L{TAB}{ENTER}")
        ann.shows("1 change not yet")
        self.stage.meanwhile(("delete", "2"))
        self.stage.start()
        ann.waits(lambda text: "connected" in text and "not yet" not in text, "the end of all changes")
        ann.types("nstill here")
        ann.waits(lambda text: "still here" in text and "not yet" not in text, "the next note")
        self.assertIn("still here", self.stage.run("list"))

    def test_text_written_while_the_daemon_was_away_is_committed_once(self):
        ann = self.stage.open()
        ann.shows("connected")
        self.stage.kill()
        ann.shows("reconnecting")
        ann.types("nwritten offline")
        ann.shows("written offline")
        ann.types(ESCAPE)
        # Before that, the terminal reads the escape and the q as one key.
        ann.waits(lambda _: ann.screen.cursor.hidden, "the end of editing")
        ann.shows("not yet on the server")
        ann.types("q")
        ann.shows("Leave?")
        ann.types(ESCAPE)
        ann.hides("Leave?")
        self.stage.start()
        ann.hides("reconnecting")
        ann.hides("not yet")
        self.assertEqual(self.stage.run("list").count("written offline"), 1)
        ann.types("q")
        self.assertEqual(ann.ends(), 0)
        self.assertTrue(ann.is_restored)

    def test_closing_the_terminal_ends_the_program_and_keeps_the_typed_text(self):
        ann, ben = self.stage.open(), self.stage.open(author="ben@test")
        for person in (ann, ben):
            person.shows("connected")
        ann.types("nlast words")
        ann.shows("last words")
        ben.shows("ann edits")
        ann.hangs_up()
        ben.hides("ann edits")
        self.assertIn("last words", self.stage.run("list"))

    def test_text_of_a_note_deleted_during_editing_is_offered(self):
        self.stage.run("add", "precious")
        ann = self.stage.open()
        ann.shows("precious")
        ann.types(TAB + ENTER)
        ann.types(" words")
        ann.shows("precious words")
        ann.hides("not yet")
        self.stage.run("delete", "1", author="ben@test")
        ann.shows("ben@test deleted it")
        ann.shows("New note with it")
        ann.types("n")
        ann.hides("The note is gone")
        ann.hides("not yet")
        self.assertIn("precious words", self.stage.run("list"))

    def test_keys_move_delete_and_undo(self):
        self.stage.run("add", "here", "--position", "80,64")
        ann = self.stage.open()
        ann.shows("here")
        column, row = ann.place("here")
        ann.types(TAB)
        ann.types(RIGHT)
        ann.waits(lambda _: ann.screen.display[row].find("here") == column + 1, "the move")
        ann.types(DELETE)
        ann.shows("u brings it back")
        ann.types("u")
        ann.waits(lambda _: ann.screen.display[row].find("here") == column + 1, "the note again")

    def test_help_menu_and_search(self):
        self.stage.run("add", "red apples", "--position", "0,0")
        self.stage.run("add", "green pears", "--position", "300,0")
        ann = self.stage.open(size=(100, 40))
        ann.shows("green pears")
        ann.types("?")
        ann.shows("New Note")
        ann.types(ESCAPE)
        ann.hides("New Note")
        ann.types("\x1b[21~")
        ann.shows("Next Board")
        ann.types(ESCAPE)
        ann.hides("Next Board")
        ann.types("/app")
        ann.hides("green pears")
        ann.types(ESCAPE)
        ann.shows("green pears")

    def test_light_background_makes_light_papers(self):
        self.stage.run("add", "paper", "--position", "80,64")
        ann = self.stage.open(COLORTERM="truecolor")
        ann.shows("paper")
        self.assertIn(b"\x1b]11;?\x1b\\", ann.received)
        column, row = ann.place("paper")

        def brightness():
            return sum(bytes.fromhex(ann.screen.buffer[row + 2][column].bg))

        dark = brightness()
        ann.types("\x1b]11;rgb:ffff/ffff/ffff\x1b\\")
        ann.waits(lambda _: brightness() > dark + 200, "light paper")
        self.assertEqual(ann.place("paper"), (column, row))
        ann.types("q")
        self.assertEqual(ann.ends(), 0)

    def test_slow_connection_is_reported_and_leaves_no_trace(self):
        self.stage.run("add", "Buy milk")
        self.stage.freeze()
        ann = self.stage.open()
        ann.shows("Connecting")
        self.stage.thaw()
        ann.shows("Buy milk")
        ann.types("q")
        self.assertEqual(ann.ends(), 0)
        self.assertNotIn("Connecting", ann.text)

    def test_last_typed_text_arrives_at_a_slow_server(self):
        self.stage.run("add", "first")
        ann = self.stage.open()
        ann.shows("first")
        ann.types(TAB)
        ann.types(ENTER)
        self.stage.freeze()
        ann.types(" slow words")
        ann.shows("slow words")
        ann.signal(TERMINATE)
        ann.waits(lambda _: ann.is_restored, "the shell's own screen")
        self.stage.thaw()
        self.assertEqual(ann.ends(), 0)
        self.assertIn("slow words", self.stage.run("list"))

    def test_unsent_text_is_kept_in_a_file_that_is_named_after_a_signal(self):
        self.stage.run("add", "first")
        ann = self.stage.open(XDG_STATE_HOME=self.stage.home + "/state")
        ann.shows("first")
        self.stage.kill()
        ann.shows("reconnecting")
        ann.types(TAB)
        ann.types(ENTER)
        ann.types(" lonely words")
        ann.shows("lonely words")
        ann.signal(TERMINATE)
        self.assertEqual(ann.ends(), 1)
        self.assertIn("1 change did not reach the server; the texts among them are in", ann.received.decode(errors="replace"))
        (file,) = os.listdir(self.stage.home + "/state/stickies")
        with open(f"{self.stage.home}/state/stickies/{file}", encoding="utf-8") as kept:
            self.assertEqual(kept.read(), "first lonely words")

    def test_without_a_daemon_it_says_so_and_exits_69(self):
        self.stage.kill()
        environment = self.stage.environment("ann@test")
        done = subprocess.run([f"{PROGRAMS}/stickies", "open"], env=environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=15)
        self.assertEqual(done.returncode, 69)
        self.assertIn("no stickiesd answers", done.stderr)

    def test_interface_is_chosen_by_name(self):
        self.stage.run("add", "first")
        ann = self.stage.open(STICKIES_INTERFACE="list")
        # The list has a border.
        ann.shows("1 │")
        ann.types("q")
        self.assertEqual(ann.ends(), 0)
        ann = self.stage.open("--interface", "board", STICKIES_INTERFACE="list")
        ann.shows("connected")
        self.assertNotIn("1 │", ann.text)
        ann.types("q")
        self.assertEqual(ann.ends(), 0)
        unknown = self.stage.open("--interface", "grid")
        self.assertEqual(unknown.ends(), 64)
        message = b" ".join(unknown.received.split())
        self.assertIn(b"no interface is called 'grid'; the interfaces are board, list Usage: stickies open [", message)
        ben = self.stage.open("--read-only")
        ben.shows("read-only")
        ben.types("n")
        ben.shows("opened to view only")
        ben.types("q")
        self.assertEqual(ben.ends(), 0)

    def test_message_for_a_terminal_without_a_cursor_says_what_to_do(self):
        dumb = self.stage.open(TERM="dumb")
        self.assertEqual(dumb.ends(), 64)
        self.assertIn(b"set TERM to your terminal's type", b" ".join(dumb.received.split()))
        self.assertNotIn(b"\x1b", dumb.received)


if __name__ == "__main__":
    unittest.main()
