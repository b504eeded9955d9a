// What durable appending costs at least: one write over blocks that the file already has, and one fdatasync. A file that
// grows, or whose blocks were reserved but never written, would also wait for its metadata.
#include "CLoad.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct load_log {
  int file;
  size_t size;
  size_t place;
  uint64_t group;
  size_t capacity;
  uint8_t *buffer;
};

enum { ZEROS = 1 << 20 };

static int fill_with_zeros(load_log *log) {
  uint8_t *zeros = calloc(1, ZEROS);
  if (!zeros) return -1;
  int code = 0;
  for (size_t place = 0; place < log->size && code == 0; place += ZEROS) {
    size_t part = log->size - place < ZEROS ? log->size - place : ZEROS;
    if (pwrite(log->file, zeros, part, (off_t)place) != (ssize_t)part) code = -1;
  }
  free(zeros);
  return code == 0 ? fsync(log->file) : code;
}

load_log *load_log_make(const char *path, size_t size) {
  load_log *log = calloc(1, sizeof(load_log));
  if (!log) return NULL;
  log->size = size;
  log->file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (log->file >= 0 && fill_with_zeros(log) == 0) return log;
  load_log_free(log);
  return NULL;
}

int load_log_append(load_log *log, size_t bytes, size_t count) {
  size_t length = bytes * count;
  if (bytes < sizeof(log->group) || length > log->size) return -1;
  if (length > log->capacity) {
    uint8_t *grown = realloc(log->buffer, length);
    if (!grown) return -1;
    memset(grown, 'x', length);
    log->buffer = grown;
    log->capacity = length;
  }
  log->group++;
  for (size_t record = 0; record < count; record++) {
    memcpy(log->buffer + record * bytes, &log->group, sizeof(log->group));
  }
  if (log->place + length > log->size) log->place = 0;
  if (pwrite(log->file, log->buffer, length, (off_t)log->place) != (ssize_t)length) return -1;
  log->place += length;
  return fdatasync(log->file);
}

void load_log_free(load_log *log) {
  if (!log) return;
  if (log->file >= 0) close(log->file);
  free(log->buffer);
  free(log);
}
