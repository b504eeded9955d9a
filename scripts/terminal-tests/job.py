"""Runs a program as a shell runs a job, and checks the state of the terminal before anything restores it.

It prints the program's process id. Each time the program stops or ends, it prints whether the settings of the line are as
before. After a stop, a line of input continues the program. Its exit code is that of a shell.

usage: job.py PROGRAM [ARGUMENTS ...]
"""
import os
import signal
import sys
import termios


def run(command):
    line = termios.tcgetattr(0)
    # No terminal begins in this state, so a program that sets the usual state instead of restoring is detected.
    line[0] &= ~termios.IXON
    line[6][termios.VERASE] = b"\b"
    termios.tcsetattr(0, termios.TCSANOW, line)
    before = termios.tcgetattr(0)
    # A process in the background may take the terminal only with this signal ignored.
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
