#if canImport(Glibc)
  import CMalloc
#endif

/// Controls the memory that the C library's allocator retains after it was freed.
///
/// Retaining is fast. But each thread retains its own, and a process that runs all day would hold for good what a
/// change of a hundred thousand objects needed for a moment.
public enum FreedMemory {
  /// Limits the allocator to two arenas, regardless of the number of threads; call it when the program starts.
  public static func keepTogether() {
    #if canImport(Glibc)
      mallopt(M_ARENA_MAX, 2)
    #endif
  }

  /// Returns freed memory to the system; takes some tens of milliseconds for hundreds of megabytes.
  public static func giveBack() {
    #if canImport(Glibc)
      malloc_trim(0)
    #endif
  }
}
