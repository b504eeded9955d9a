"""Runs a program as a shell runs a job, and looks how it leaves the terminal before anything is mended.

It tells the program's process, then each time that the program stops or ends whether the line is as it was; behind a stop
a line of input lets the program go on. It exits with the code that a shell would tell.

usage: job.py PROGRAM [ARGUMENTS ...]
"""
import os
import signal
import sys
import termios


def run(command):
    line = termios.tcgetattr(0)
    # No terminal is like that by itself, so a program that leaves what terminals begin with is found out.
    line[0] &= ~termios.IXON
    line[6][termios.VERASE] = b"\b"
    termios.tcsetattr(0, termios.TCSANOW, line)
    before = termios.tcgetattr(0)
    # The terminal is taken back while the program's group has it.
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    job = os.fork()
    if job == 0:
        os.setpgid(0, 0)
        os.tcsetpgrp(0, os.getpid())
        print("job", os.getpid(), flush=True)
        for ignored in (signal.SIGTTOU, signal.SIGPIPE):
            signal.signal(ignored, signal.SIG_DFL)
        os.execv(command[0], command)
    while True:
        _, status = os.waitpid(job, os.WUNTRACED)
        os.tcsetpgrp(0, os.getpgrp())
        line = "as it was" if termios.tcgetattr(0) == before else "another"
        print("stopped," if os.WIFSTOPPED(status) else "ended,", "the line is", line, flush=True)
        if not os.WIFSTOPPED(status):
            return 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
        termios.tcsetattr(0, termios.TCSANOW, before)
        sys.stdin.readline()
        os.tcsetpgrp(0, job)
        os.kill(job, signal.SIGCONT)


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
