"""A daemon in its own folder, and people at their own terminals."""

import itertools
import os
import re
import select
import signal
import shutil
import subprocess
import sys
import tempfile
import time

import pexpect
import pyte

PROGRAMS = os.path.abspath(os.environ.get("STICKIES_PROGRAMS", ".build/debug"))
PATIENCE = 15


class Stage:
    def __init__(self):
        self.home = tempfile.mkdtemp(prefix="stickies-terminal-")
        self.address = f"unix://{self.home}/socket"
        self.people = []
        self.start()

    def start(self, address=None):
        """Starts a daemon, at the default address or at another one."""
        environment = dict(os.environ, XDG_CONFIG_HOME=self.home)
        self.daemon = subprocess.Popen(
            [f"{PROGRAMS}/stickiesd", "--data", f"{self.home}/data", "--listen", address or self.address],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, env=environment, text=True)
        line = self.daemon.stdout.readline()
        assert line.startswith("listening "), line

    def kill(self):
        self.daemon.kill()
        self.daemon.wait()
        self.daemon.stdout.close()

    def freeze(self):
        """Stops the daemon: it accepts connections and does not answer before `thaw`."""
        self.daemon.send_signal(signal.SIGSTOP)
        # Its threads continue until the first of them has received the signal.
        os.waitid(os.P_PID, self.daemon.pid, os.WSTOPPED)

    def thaw(self):
        self.daemon.send_signal(signal.SIGCONT)

    def environment(self, author, **more):
        around = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLORTERM")}
        ours = dict(STICKIES_SERVER=self.address, STICKIES_AUTHOR=author, TERM="xterm-256color", HOME=self.home)
        return {**around, **ours, **more}

    def run(self, *arguments, author="shell@test", address=None, input=""):
        environment = dict(self.environment(author), STICKIES_SERVER=address or self.address)
        done = subprocess.run(
            [f"{PROGRAMS}/stickies", *arguments], env=environment, input=input, capture_output=True, text=True,
            timeout=PATIENCE)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def open(self, *arguments, author="ann@test", size=(80, 24), **more):
        return self.sits_at([f"{PROGRAMS}/stickies", "open", *arguments], author, size, **more)

    def sits_at(self, command, author="ann@test", size=(80, 24), **more):
        """A person at a terminal in which a program runs, in the folder of the stage."""
        person = Terminal(command, self.environment(author, **more), size, self.home)
        self.people.append(person)
        return person

    def job(self, *arguments, **more):
        """The program as a job of a shell that reports the state of the terminal after it."""
        keeper = os.path.join(os.path.dirname(os.path.abspath(__file__)), "job.py")
        person = self.sits_at([sys.executable, keeper, f"{PROGRAMS}/stickies", "open", *arguments], **more)
        person.waits(lambda _: re.search(rb"job \d+\r\n", person.received), "the job")
        person.pid = int(re.search(rb"job (\d+)", person.received)[1])
        return person

    def close(self):
        for person in self.people:
            person.child.close(force=True)
        if self.daemon.poll() is None:
            self.kill()
        shutil.rmtree(self.home, ignore_errors=True)


    def meanwhile(self, *commands):
        """Runs commands of other users with a daemon at another address, while the own one is stopped."""
        elsewhere = f"unix://{self.home}/elsewhere"
        self.start(elsewhere)
        for command in commands:
            self.run(*command, author="ben@test", address=elsewhere)
        self.kill()


class Terminal:
    """A program in a pseudo-terminal, and the screen that a terminal would show."""

    def __init__(self, command, environment, size, folder):
        columns, rows = size
        self.screen = pyte.Screen(columns, rows)
        self.stream = pyte.ByteStream(self.screen)
        self.received = b""
        self.child = pexpect.spawn(
            command[0], command[1:], env=environment, dimensions=(rows, columns), timeout=PATIENCE, cwd=folder)
        self.child.delaybeforesend = None
        self.pid = self.child.pid

    @property
    def text(self):
        return "\n".join(line.rstrip() for line in self.screen.display)

    def feed(self, wait):
        """Reads the available output, for at most so many seconds; False if the program has ended."""
        try:
            data = self.child.read_nonblocking(1 << 16, timeout=wait)
        except pexpect.TIMEOUT:
            return True
        except pexpect.EOF:
            return False
        self.received += data
        # pyte does not know these private sequences and would draw them.
        self.stream.feed(re.sub(rb"\x1b\[[<>=][0-9;]*[a-zA-Z]|\x1b\[\?[0-9;]*\$p", b"", data))
        return True

    def waits(self, fits, what):
        end = time.monotonic() + PATIENCE
        while not fits(self.text):
            assert self.feed(0.1), f"the program ended while {what} was waited for:\n{self.text}"
            assert time.monotonic() < end, f"{what} did not come:\n{self.text}"

    def settles(self):
        """Waits until no output has come for a while."""
        count = -1
        while count < len(self.received):
            count = len(self.received)
            assert self.feed(0.3), f"the program ended:\n{self.text}"

    def begins(self):
        """Waits until there is output, without reading it."""
        assert select.select([self.child.child_fd], [], [], PATIENCE)[0], f"nothing is drawn:\n{self.text}"

    def shows(self, text):
        self.waits(lambda screen: text in screen, repr(text))

    def hides(self, text):
        self.waits(lambda screen: text not in screen, f"the end of {text!r}")

    def types(self, keys):
        self.child.send(keys)

    def press(self, column, row, code=0):
        self.types(f"\x1b[<{code};{column + 1};{row + 1}M")

    def release(self, column, row):
        self.types(f"\x1b[<0;{column + 1};{row + 1}m")

    def place(self, text):
        for row in range(self.screen.lines):
            cells = [self.screen.buffer[row][column].data for column in range(self.screen.columns)]
            before, found, _ = "".join(cells).partition(text)
            if found:
                # A letter of two cells has an empty cell behind it.
                starts = itertools.accumulate((len(cell) for cell in cells), initial=0)
                return next(column for column, start in enumerate(starts) if start == len(before) and cells[column]), row
        raise AssertionError(f"{text!r} is not to be seen:\n{self.text}")

    def hangs_up(self):
        """Closes the window, and waits until the program has ended."""
        ended = os.pidfd_open(self.child.pid)
        self.child.ptyproc.fileobj.close()
        self.child.ptyproc.closed = self.child.closed = True
        assert select.select([ended], [], [], PATIENCE)[0], "it goes on without a terminal"
        os.close(ended)
        self.child.wait()

    def ends(self):
        """Waits for the end of the program, and returns its exit code."""
        end = time.monotonic() + PATIENCE
        while self.feed(0.1):
            assert time.monotonic() < end, f"it goes on:\n{self.text}"
        self.child.wait()
        return self.child.exitstatus if self.child.exitstatus is not None else -self.child.signalstatus

    @property
    def is_restored(self):
        """Whether the screen was restored, and nothing was drawn after that."""
        return self.received.rstrip().endswith(LEAVE)

    @property
    def after_leaving(self):
        """The output after the screen was restored for the last time."""
        return self.received.rpartition(LEAVE)[2].decode(errors="replace")

    @property
    def modes(self):
        """The private modes of the terminal that are on, such as the cursor, the mouse and the alternate screen."""
        return {mode >> 5 for mode in self.screen.mode if mode % 32 == 0}

    def signal(self, number):
        os.kill(self.pid, number)

    def signals_twice(self, number):
        """Sends a signal, and again as soon as a thread of the program has received it."""
        self.signal(number)
        end = time.monotonic() + PATIENCE
        while self.is_pending(number):
            assert time.monotonic() < end, "the program does not receive the signal"
            time.sleep(0.001)
        self.signal(number)

    def is_pending(self, number):
        """Whether a signal that was sent to the program is not received yet."""
        with open(f"/proc/{self.pid}/status") as status:
            pending = next(int(line.split()[1], 16) for line in status if line.startswith("ShdPnd:"))
        return pending >> (number - 1) & 1 == 1


# The cursor is visible, and the alternate screen is off.
LEAVE = b"\x1b[?25h\x1b[?1049l"
INTERRUPT, TERMINATE = signal.SIGINT, signal.SIGTERM
ESCAPE, ENTER, TAB, DELETE = "\x1b", "\r", "\t", "\x1b[3~"
RIGHT, LEFT = "\x1b[C", "\x1b[D"
