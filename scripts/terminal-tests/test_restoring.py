"""The program restores the terminal however it ends or stops: its line, its screen, its cursor, its modes."""

import json
import os
import resource
import signal
import time
import unittest

from stage import Stage

# Signals that end a program that does not handle them, sent by another process.
FATAL = [
    signal.SIGQUIT, signal.SIGILL, signal.SIGTRAP, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGSEGV,
    signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM, signal.SIGXCPU, signal.SIGXFSZ, signal.SIGVTALRM, signal.SIGPROF,
    signal.SIGIO, signal.SIGPWR, signal.SIGSYS, signal.SIGSTKFLT,
]
# Signals that ask a program to end.
ASKING = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
# The cursor, the mouse, bracketed paste and the other screen; a terminal begins with the cursor and with line wrap.
CURSOR, WRAP, FOCUS, PASTE, OTHER_SCREEN = 25, 7, 1004, 2004, 1049
MOUSE = {1002, 1003, 1006}


class RestoringTests(unittest.TestCase):
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

    def is_restored_after(self, ann, how):
        self.assertEqual(ann.after_leaving, f"{how}, the line is as it was\r\n")
        self.assertEqual(ann.modes, {CURSOR, WRAP})
        # The keyboard's protocol, which is a stack.
        self.assertEqual(ann.received.count(b"\x1b[>5u"), ann.received.count(b"\x1b[<u"))

    def test_quit_key_and_termination_signals_end_it_with_code_0(self):
        for end in ("q", "\x03", *ASKING):
            with self.subTest(end=end):
                ann = self.opens()
                if isinstance(end, str):
                    ann.types(end)
                else:
                    ann.signal(end)
                self.assertEqual(ann.ends(), 0)
                self.is_restored_after(ann, "ended")

    def test_fatal_signals_restore_the_terminal_and_set_the_exit_code(self):
        for number in FATAL:
            with self.subTest(signal=number.name):
                ann = self.opens()
                ann.signal(number)
                self.assertEqual(ann.ends(), 128 + number)
                self.is_restored_after(ann, "ended")

    def test_unfinished_frame_is_not_drawn_after_the_terminal_was_restored(self):
        lines = [json.dumps({"$entity": "Board", "$id": "full", "name": "Full"})]
        lines += [
            json.dumps(dict(text="word " * 100, x=n * 97 % 2400, y=n * 61 % 1600, z=n, board={"$ref": "full"}))
            for n in range(40)]
        self.stage.run("graph", "insert", "Note", "-", input="\n".join(lines))
        for column in range(8):
            ann = self.opens("Full", size=(300, 100))
            ann.settles()
            # A larger screen is redrawn: more bytes than the line takes at once.
            ann.child.setwinsize(100, 301 + column)
            ann.begins()
            ann.signal(signal.SIGQUIT)
            self.assertEqual(ann.ends(), 128 + signal.SIGQUIT)
            self.is_restored_after(ann, "ended")

    def test_second_termination_signal_right_after_the_first_ends_it_by_the_signal(self):
        for number in (signal.SIGTERM, signal.SIGHUP):
            with self.subTest(signal=number.name):
                ann = self.opens()
                self.stage.freeze()
                ann.types("nslow words")
                ann.shows("slow words")
                ann.signals_twice(number)
                code = ann.ends()
                self.stage.thaw()
                self.assertEqual(code, 128 + number)
                self.is_restored_after(ann, "ended")

    def test_second_termination_signal_does_not_wait_for_the_server(self):
        for number in (signal.SIGTERM, signal.SIGHUP):
            with self.subTest(signal=number.name):
                # The program waits two seconds for the server and then ends by itself. On a busy machine this test may
                # send its second signal too late, and that attempt proves nothing.
                self.assertTrue(any(self.ends_by_second(number) for _ in range(20)), "no signal was sent in time")

    def ends_by_second(self, number):
        """Returns whether the second signal was sent while the program waited for the server."""
        ann = self.opens()
        self.stage.freeze()
        ann.types("nslow words")
        ann.shows("slow words")
        first = time.monotonic()
        ann.signal(number)
        ann.waits(lambda _: ann.is_restored, "the shell's own screen")
        try:
            ann.signal(number)
        except ProcessLookupError:
            pass  # It has ended already, which the time shows.
        was_waiting = time.monotonic() - first < 1
        code = ann.ends()
        self.stage.thaw()
        if was_waiting:
            self.assertEqual(code, 128 + number)
            self.is_restored_after(ann, "ended")
        return was_waiting

    def test_stop_restores_the_terminal_and_continuing_takes_it_again(self):
        self.stage.run("add", "here")
        ann = self.opens()
        for times, stop in enumerate((lambda: ann.signal(signal.SIGTSTP), lambda: ann.types("\x1a")), start=1):
            stop()
            ann.waits(lambda _: ann.received.count(b"stopped, the line is as it was\r\n") == times, "the stop")
            self.is_restored_after(ann, "stopped")
            self.goes_on(ann)
        ann.types("q")
        self.assertEqual(ann.ends(), 0)
        self.is_restored_after(ann, "ended")

    def test_program_that_was_stopped_by_sigstop_redraws_when_it_continues(self):
        self.stage.run("add", "here")
        ann = self.opens()
        ann.signal(signal.SIGSTOP)
        ann.waits(lambda _: b"stopped," in ann.received, "the stop")
        self.goes_on(ann)
        ann.types("q")
        self.assertEqual(ann.ends(), 0)
        self.is_restored_after(ann, "ended")

    def crashes(self, **more):
        """Makes the program crash: the terminal grows, and there is no memory for its cells."""
        ann = self.opens(**more)
        with open(f"/proc/{ann.pid}/status") as status:
            size = next(int(line.split()[1]) << 10 for line in status if line.startswith("VmSize:"))
        resource.prlimit(ann.pid, resource.RLIMIT_AS, (size, size))
        ann.child.setwinsize(2_000, 4_000)
        return ann

    def test_crash_restores_the_terminal(self):
        ann = self.crashes(SWIFT_BACKTRACE="enable=no")
        self.assertEqual(ann.ends(), 128 + signal.SIGABRT)
        self.is_restored_after(ann, "ended")

    def test_backtrace_of_a_crash_is_on_the_restored_screen(self):
        backtracer = f"{self.stage.home}/backtracer"
        with open(backtracer, "w") as file:
            file.write("#!/bin/sh\necho where it was\n")
        os.chmod(backtracer, 0o755)
        ann = self.crashes(SWIFT_BACKTRACE=f"enable=yes,interactive=no,swift-backtrace={backtracer}")
        self.assertEqual(ann.ends(), 128 + signal.SIGABRT)
        self.assertIn("where it was", ann.after_leaving)
        self.assertIn("the line is as it was", ann.after_leaving)


if __name__ == "__main__":
    unittest.main()
