// Controls the memory that the C library's allocator retains after it was freed.
//
// Retaining is fast. But each thread retains its own, and a process that runs all day would hold for good what a change
// of a hundred thousand objects needed for a moment. Swift's module of the C library leaves these functions out.
#pragma once

/// Limits the allocator to two arenas, regardless of the number of threads; call it when the program starts.
void limitAllocatorArenas(void);

/// Returns freed memory to the system; takes some tens of milliseconds for hundreds of megabytes.
void releaseFreedMemory(void);
