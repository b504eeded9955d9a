// The device and the inode number of a file, without its times.
//
// Swift's module of the C library leaves out the function that reads only these numbers (`statx`); `stat` also reads the
// times. Since version 6.13, Linux then gives the next write a finer time, which the next sync writes to the disk. This is
// a third more work for a file that is repeatedly written, synced and examined.
#pragma once

#include <stdint.h>

/// Reads the numbers of the file that a path refers to, through links. Returns 0, or -1 with `errno`.
int fileNumberOfPath(const char *path, uint64_t *device, uint64_t *number);

/// Reads the numbers of an open file. Returns 0, or -1 with `errno`.
int fileNumberOfDescriptor(int descriptor, uint64_t *device, uint64_t *number);
