// Controls the memory that the C library's allocator retains after it was freed.
//
// Retained memory makes the next allocation fast. But each thread retains its own, and a process that runs all day would
// keep the memory of its largest change. Swift's module of the C library leaves these functions out.
#pragma once

/// Limits the allocator to eight arenas, regardless of the number of processors, and gives each block above 128 KiB its own
/// mapping; call it when the program starts.
///
/// `releaseFreedMemory` locks one arena after the other, a large one for a tenth of a second. With fewer arenas, the
/// event loop shares one with the threads that read large results, and waits for it. By default, the allocator raises the
/// size above which a block gets its own mapping, up to 32 MiB; then the large tables of the event loop are in its arena.
void configureAllocator(void);

/// Returns freed memory to the system; takes some tens of milliseconds for hundreds of megabytes.
void releaseFreedMemory(void);
