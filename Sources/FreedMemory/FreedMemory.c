#include "FreedMemory.h"

#ifdef __linux__
#include <malloc.h>
#endif

void configureAllocator(void) {
#ifdef __GLIBC__
  mallopt(M_ARENA_MAX, 8);
  mallopt(M_MMAP_THRESHOLD, 128 * 1024);
  mallopt(M_TRIM_THRESHOLD, 4 * 1024 * 1024);
#endif
}

void releaseFreedMemory(void) {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}
