// One thread, one epoll, one buffer that everything is read into and nobody looks at twice. What is kept of a
// connection is where in its current message it stands.
#include "CLoad.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

enum {
  /// A delta's first byte: field 9, length-delimited. Advances and pongs are not deliveries.
  DELTA_TAG = 9 << 3 | 2,
  HEADER = 4,
  SCRATCH = 256 * 1024,
  EVENTS = 1024,
};

typedef struct {
  int descriptor;
  int64_t messages;
  /// Bytes of the current message that are still to come; of a fixed size: bytes that have come.
  uint32_t rest;
  uint32_t length;
  uint8_t header;
  uint8_t counts;
  /// Bytes of a WebSocket's length that are still to come.
  uint8_t extra;
} connection;

struct load_watchers {
  int poll;
  int64_t total;
  connection **connections;
  size_t count;
  uint8_t scratch[SCRATCH];
};

load_watchers *load_watchers_make(void) {
  load_watchers *watchers = calloc(1, sizeof(load_watchers));
  if (!watchers) return NULL;
  watchers->poll = epoll_create1(EPOLL_CLOEXEC);
  return watchers;
}

int load_watchers_add(load_watchers *watchers, int descriptor, int64_t messages) {
  connection **grown = realloc(watchers->connections, (watchers->count + 1) * sizeof(connection *));
  connection *added = calloc(1, sizeof(connection));
  if (grown) watchers->connections = grown;
  if (!grown || !added) {
    free(added);
    return -1;
  }
  added->descriptor = descriptor;
  added->messages = messages;
  watchers->connections[watchers->count++] = added;
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = added};
  if (fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK) != 0) return -1;
  return epoll_ctl(watchers->poll, EPOLL_CTL_ADD, descriptor, &event);
}

int64_t load_watchers_total(const load_watchers *watchers) { return watchers->total; }

static int64_t count_frames(connection *from, const uint8_t *bytes, const uint8_t *end) {
  int64_t found = 0;
  while (bytes < end) {
    if (from->rest > 0) {
      size_t here = (size_t)(end - bytes) < from->rest ? (size_t)(end - bytes) : from->rest;
      bytes += here;
      from->rest -= (uint32_t)here;
      if (from->rest == 0) found += from->counts;
      continue;
    }
    if (from->header == 0 && end - bytes >= HEADER) {
      uint32_t length;
      memcpy(&length, bytes, HEADER);
      from->length = ntohl(length);
      from->header = HEADER;
      bytes += HEADER;
      continue;
    }
    if (from->header < HEADER) {
      from->length = from->length << 8 | *bytes++;
      from->header++;
      continue;
    }
    from->counts = *bytes == DELTA_TAG;
    from->rest = from->length;
    from->header = 0;
    from->length = 0;
  }
  return found;
}

/// Frames of a WebSocket's server: a byte for the kind, a length in 1, 3 or 9 bytes, the message.
static int64_t count_websocket_frames(connection *from, const uint8_t *bytes, const uint8_t *end) {
  int64_t found = 0;
  while (bytes < end) {
    if (from->rest > 0) {
      size_t here = (size_t)(end - bytes) < from->rest ? (size_t)(end - bytes) : from->rest;
      if (from->header != 0) {
        from->counts = *bytes == DELTA_TAG;
        from->header = 0;
      }
      bytes += here;
      from->rest -= (uint32_t)here;
      if (from->rest == 0) found += from->counts;
      continue;
    }
    uint8_t byte = *bytes++;
    from->header++;
    // The bytes of the header that are still to come; a message of the load has less than 4 GiB.
    if (from->header == 1) {
      from->length = 0;
      from->extra = 0;
    } else if (from->header == 2 && byte >= 126) {
      from->extra = byte == 126 ? 2 : 8;
    } else if (from->header == 2) {
      from->length = byte;
    } else {
      from->length = from->length << 8 | byte;
      from->extra--;
    }
    if (from->header >= 2 && from->extra == 0) {
      from->rest = from->length;
      if (from->rest == 0) from->header = 0;
    }
  }
  return found;
}

static int read_once(load_watchers *watchers, connection *from) {
  ssize_t count = read(from->descriptor, watchers->scratch, SCRATCH);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
  if (count <= 0) return -1;
  if (from->messages == LOAD_FRAMES) {
    watchers->total += count_frames(from, watchers->scratch, watchers->scratch + count);
  } else if (from->messages == LOAD_WEBSOCKET) {
    watchers->total += count_websocket_frames(from, watchers->scratch, watchers->scratch + count);
  } else if (from->messages > LOAD_WEBSOCKET) {
    int64_t bytes = from->rest + count;
    watchers->total += bytes / from->messages;
    from->rest = (uint32_t)(bytes % from->messages);
  }
  return 0;
}

static int64_t milliseconds_now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

int load_watchers_wait(load_watchers *watchers, int64_t total, int milliseconds) {
  struct epoll_event events[EVENTS];
  int64_t deadline = milliseconds_now() + milliseconds;
  while (watchers->total < total) {
    int64_t left = deadline - milliseconds_now();
    if (left <= 0) return 1;
    int ready = epoll_wait(watchers->poll, events, EVENTS, (int)left);
    if (ready < 0 && errno != EINTR) return -1;
    for (int index = 0; index < ready; index++) {
      if (read_once(watchers, events[index].data.ptr) != 0) return -1;
    }
  }
  return 0;
}

void load_watchers_free(load_watchers *watchers) {
  if (!watchers) return;
  close(watchers->poll);
  for (size_t index = 0; index < watchers->count; index++) free(watchers->connections[index]);
  free(watchers->connections);
  free(watchers);
}
