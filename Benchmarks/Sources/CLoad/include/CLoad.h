// What a load generator needs of C: a reader of a thousand sockets that costs next to nothing, children that can't
// outlive it, and the bare cost of a durable append.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// Starts a program that is killed when the calling thread ends, however it ends.
/// - arguments: the program's path and its arguments, closed by a null pointer.
/// - output: receives the reading end of the program's standard output; null sends that to /dev/null.
/// Returns the process's id, or -1.
pid_t load_spawn(char *const *arguments, int *output);

/// Sockets that are read as fast as they fill, and the messages on them counted.
typedef struct load_watchers load_watchers;

/// How a connection's messages are told apart. Any larger number: all of them have so many bytes.
enum { LOAD_DISCARD = 0, LOAD_FRAMES = 1, LOAD_WEBSOCKET = 2 };

load_watchers *load_watchers_make(void);
/// Adds a socket, which is not owned and is non-blocking from now on. Returns 0, or -1.
int load_watchers_add(load_watchers *watchers, int descriptor, int64_t messages);
/// Messages counted so far.
int64_t load_watchers_total(const load_watchers *watchers);
/// Reads until so many messages were counted in all. Returns 0; 1 after so many milliseconds; -1 when a peer is gone.
int load_watchers_wait(load_watchers *watchers, int64_t total, int milliseconds);
void load_watchers_free(load_watchers *watchers);

/// A file of a fixed size that is appended to durably, from its start again when it is full.
typedef struct load_log load_log;

/// Creates the file, filled with zeros that are on disk. Returns null if that fails.
load_log *load_log_make(const char *path, size_t size);
/// Appends records of this many bytes each, at least 8, in one write and one fdatasync. Returns 0, or -1.
int load_log_append(load_log *log, size_t bytes, size_t count);
void load_log_free(load_log *log);
