"""However the program ends or stops, the terminal is as it was: its line, its screen, its cursor, its modes."""

import json
import os
import resource
import signal
import unittest

from stage import Stage

# What ends a program that has no use for it, sent by somebody.
FATAL = [
    signal.SIGQUIT, signal.SIGILL, signal.SIGTRAP, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGSEGV,
    signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM, signal.SIGXCPU, signal.SIGXFSZ, signal.SIGVTALRM, signal.SIGPROF,
    signal.SIGIO, signal.SIGPWR, signal.SIGSYS, signal.SIGSTKFLT,
]
# What asks a program to end.
ASKING = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
# The cursor, the mouse, bracketed paste and the other screen; a terminal begins with the cursor and with line wrap.
CURSOR, WRAP, FOCUS, PASTE, OTHER_SCREEN = 25, 7, 1004, 2004, 1049
MOUSE = {1002, 1003, 1006}


class GivingBackTests(unittest.TestCase):
    def setUp(self):
        self.stage = Stage()
        self.addCleanup(self.stage.close)
        self.stage.run("board", "add", "Work")

    def opens(self, *arguments, **more):
        ann = self.stage.job(*arguments, **more)
        self.is_held(ann)
        return ann

    def is_held(self, ann):
        ann.shows("connected")
        self.assertEqual(ann.modes, {FOCUS, PASTE, OTHER_SCREEN, *MOUSE})

    def goes_on(self, ann):
        ann.screen.reset()
        ann.types("\n")
        ann.shows("here")
        self.is_held(ann)

    def is_given_back(self, ann, how):
        self.assertEqual(ann.after_leaving, f"{how}, the line is as it was\r\n")
        self.assertEqual(ann.modes, {CURSOR, WRAP})
        # The keyboard's protocol, which is a stack.
        self.assertEqual(ann.received.count(b"\x1b[>5u"), ann.received.count(b"\x1b[<u"))

    def test_a_key_and_a_signal_that_asks_end_it_as_it_should_end(self):
        for end in ("q", "\x03", *ASKING):
            with self.subTest(end=end):
                ann = self.opens()
                if isinstance(end, str):
                    ann.types(end)
                else:
                    ann.signal(end)
                self.assertEqual(ann.ends(), 0)
                self.is_given_back(ann, "ended")

    def test_what_ends_a_program_ends_it_as_a_shell_expects(self):
        for number in FATAL:
            with self.subTest(signal=number.name):
                ann = self.opens()
                ann.signal(number)
                self.assertEqual(ann.ends(), 128 + number)
                self.is_given_back(ann, "ended")

    def test_the_frame_that_is_being_drawn_is_not_drawn_behind_that(self):
        lines = [json.dumps({"$entity": "Board", "$id": "full", "name": "Full"})]
        lines += [
            json.dumps(dict(text="word " * 100, x=n * 97 % 2400, y=n * 61 % 1600, z=n, board={"$ref": "full"}))
            for n in range(40)]
        self.stage.run("graph", "insert", "Note", "-", input="\n".join(lines))
        for column in range(8):
            ann = self.opens("Full", size=(300, 100))
            ann.settles()
            # A larger screen is drawn anew, more than the line takes at once.
            ann.child.setwinsize(100, 301 + column)
            ann.begins()
            ann.signal(signal.SIGQUIT)
            self.assertEqual(ann.ends(), 128 + signal.SIGQUIT)
            self.is_given_back(ann, "ended")

    def test_a_second_one_that_asks_does_not_wait_for_a_server(self):
        for number in (signal.SIGTERM, signal.SIGHUP):
            with self.subTest(signal=number.name):
                ann = self.opens()
                self.stage.freeze()
                ann.types("nslow words")
                ann.shows("slow words")
                ann.signal(number)
                ann.waits(lambda _: ann.is_restored, "the shell's own screen")
                ann.signal(number)
                self.assertEqual(ann.ends(), 128 + number)
                self.is_given_back(ann, "ended")
                self.stage.thaw()

    def test_stopped_it_leaves_the_terminal_and_going_on_it_takes_it_again(self):
        self.stage.run("add", "here")
        ann = self.opens()
        for times, stop in enumerate((lambda: ann.signal(signal.SIGTSTP), lambda: ann.types("\x1a")), start=1):
            stop()
            ann.waits(lambda _: ann.received.count(b"stopped, the line is as it was\r\n") == times, "the stop")
            self.is_given_back(ann, "stopped")
            self.goes_on(ann)
        ann.types("q")
        self.assertEqual(ann.ends(), 0)
        self.is_given_back(ann, "ended")

    def test_stopped_without_being_asked_it_draws_anew_when_it_goes_on(self):
        self.stage.run("add", "here")
        ann = self.opens()
        ann.signal(signal.SIGSTOP)
        ann.waits(lambda _: b"stopped," in ann.received, "the stop")
        self.goes_on(ann)
        ann.types("q")
        self.assertEqual(ann.ends(), 0)
        self.is_given_back(ann, "ended")

    def crashes(self, **more):
        """A fault of its own: a terminal that has grown, and no memory for its cells."""
        ann = self.opens(**more)
        with open(f"/proc/{ann.pid}/status") as status:
            size = next(int(line.split()[1]) << 10 for line in status if line.startswith("VmSize:"))
        resource.prlimit(ann.pid, resource.RLIMIT_AS, (size, size))
        ann.child.setwinsize(2_000, 4_000)
        return ann

    def test_a_fault_of_its_own_gives_the_terminal_back(self):
        ann = self.crashes(SWIFT_BACKTRACE="enable=no")
        self.assertEqual(ann.ends(), 128 + signal.SIGABRT)
        self.is_given_back(ann, "ended")

    def test_what_tells_of_a_fault_tells_it_on_the_screen_that_stays(self):
        teller = f"{self.stage.home}/teller"
        with open(teller, "w") as file:
            file.write("#!/bin/sh\necho where it was\n")
        os.chmod(teller, 0o755)
        ann = self.crashes(SWIFT_BACKTRACE=f"enable=yes,interactive=no,swift-backtrace={teller}")
        self.assertEqual(ann.ends(), 128 + signal.SIGABRT)
        self.assertIn("where it was", ann.after_leaving)
        self.assertIn("the line is as it was", ann.after_leaving)


if __name__ == "__main__":
    unittest.main()
