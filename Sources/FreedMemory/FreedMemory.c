#include "FreedMemory.h"

#ifdef __linux__
#include <malloc.h>
#endif

void configureAllocator(void) {
#ifdef __GLIBC__
  mallopt(M_ARENA_MAX, 8);
#endif
}

void releaseFreedMemory(void) {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}
