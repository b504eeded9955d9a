#define _GNU_SOURCE
#include "FileNumber.h"

#include <fcntl.h>
#include <sys/stat.h>

#ifdef __linux__
#include <sys/sysmacros.h>

static int read_numbers(int folder, const char *path, int flags, uint64_t *device, uint64_t *number) {
  struct statx status;
  if (statx(folder, path, flags, STATX_INO, &status) != 0) return -1;
  *device = makedev(status.stx_dev_major, status.stx_dev_minor);
  *number = status.stx_ino;
  return 0;
}

int fileNumberOfPath(const char *path, uint64_t *device, uint64_t *number) {
  return read_numbers(AT_FDCWD, path, 0, device, number);
}

int fileNumberOfDescriptor(int descriptor, uint64_t *device, uint64_t *number) {
  return read_numbers(descriptor, "", AT_EMPTY_PATH, device, number);
}
#else
int fileNumberOfPath(const char *path, uint64_t *device, uint64_t *number) {
  struct stat status;
  if (stat(path, &status) != 0) return -1;
  *device = (uint64_t)status.st_dev;
  *number = (uint64_t)status.st_ino;
  return 0;
}

int fileNumberOfDescriptor(int descriptor, uint64_t *device, uint64_t *number) {
  struct stat status;
  if (fstat(descriptor, &status) != 0) return -1;
  *device = (uint64_t)status.st_dev;
  *number = (uint64_t)status.st_ino;
  return 0;
}
#endif
