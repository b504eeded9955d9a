#if canImport(Glibc)
  import CMalloc
#endif

/// What the C library's allocator keeps for itself of memory that was freed. It is fast so; but each thread keeps its own, and a
/// process that is open all day would hold for good what a change of a hundred thousand objects took for a moment.
public enum FreedMemory {
  /// Keeps it in few places, whatever number of threads there is. For the beginning of a program.
  public static func keepTogether() {
    #if canImport(Glibc)
      mallopt(M_ARENA_MAX, 2)
    #endif
  }

  /// Gives it back to the system; takes some tens of milliseconds for hundreds of megabytes.
  public static func giveBack() {
    #if canImport(Glibc)
      malloc_trim(0)
    #endif
  }
}
