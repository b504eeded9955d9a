// What the C library says of its allocator, and Swift's module of it leaves out.
#include <malloc.h>
