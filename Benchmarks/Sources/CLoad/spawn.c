#define _GNU_SOURCE
#include "CLoad.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

pid_t load_spawn(char *const *arguments, int *output) {
  int ends[2] = {-1, -1};
  if (output && pipe2(ends, O_CLOEXEC) != 0) return -1;
  int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  // vfork: a large load generator must not pay for a copy of its page tables in what it measures as a start.
  pid_t child = vfork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(nothing, STDIN_FILENO);
    dup2(output ? ends[1] : nothing, STDOUT_FILENO);
    execv(arguments[0], arguments);
    _exit(127);
  }
  close(nothing);
  if (output) {
    close(ends[1]);
    if (child < 0) close(ends[0]);
    *output = ends[0];
  }
  return child;
}
