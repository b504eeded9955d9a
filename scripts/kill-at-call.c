// Ends a program with SIGKILL before one of its system calls that change files or send bytes: LD_PRELOAD=… with KILL_AT,
// the number of the call from 1, and KILL_COUNT, a file of eight bytes that receives the number of calls.
//
// strace's injection counts the calls of each thread by itself, so it can't reach each call of a program with several.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

static _Atomic uint64_t own;
static _Atomic uint64_t *count = &own;
static uint64_t last;

__attribute__((constructor)) static void begin(void) {
  const char *number = getenv("KILL_AT"), *path = getenv("KILL_COUNT");
  if (number) last = strtoull(number, NULL, 10);
  int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
  if (file >= 0) {
    void *shared = mmap(NULL, 8, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (shared != MAP_FAILED) count = shared;
  }
  // Not its children.
  unsetenv("LD_PRELOAD");
}

static void next(void) {
  if (atomic_fetch_add(count, 1) + 1 == last) {
    kill(getpid(), SIGKILL);
    for (;;) pause();
  }
}

#define CALL(result, name, parameters, arguments)                          \
  result name parameters {                                                 \
    static result(*real) parameters;                                       \
    if (!real) real = (result(*) parameters)dlsym(RTLD_NEXT, #name);       \
    next();                                                                \
    return real arguments;                                                 \
  }

CALL(ssize_t, write, (int f, const void *b, size_t n), (f, b, n))
CALL(ssize_t, pwrite, (int f, const void *b, size_t n, off_t o), (f, b, n, o))
CALL(ssize_t, pwrite64, (int f, const void *b, size_t n, off64_t o), (f, b, n, o))
CALL(ssize_t, writev, (int f, const struct iovec *v, int n), (f, v, n))
CALL(ssize_t, pwritev, (int f, const struct iovec *v, int n, off_t o), (f, v, n, o))
CALL(ssize_t, send, (int f, const void *b, size_t n, int g), (f, b, n, g))
CALL(ssize_t, sendto, (int f, const void *b, size_t n, int g, const struct sockaddr *a, socklen_t l), (f, b, n, g, a, l))
CALL(ssize_t, sendmsg, (int f, const struct msghdr *m, int g), (f, m, g))
CALL(int, fsync, (int f), (f))
CALL(int, fdatasync, (int f), (f))
CALL(int, ftruncate, (int f, off_t n), (f, n))
CALL(int, ftruncate64, (int f, off64_t n), (f, n))
CALL(int, rename, (const char *a, const char *b), (a, b))
CALL(int, renameat, (int f, const char *a, int g, const char *b), (f, a, g, b))
CALL(int, renameat2, (int f, const char *a, int g, const char *b, unsigned h), (f, a, g, b, h))
CALL(int, unlink, (const char *a), (a))
CALL(int, unlinkat, (int f, const char *a, int g), (f, a, g))
