import Dispatch

#if canImport(Glibc)
  import CMalloc
#endif

/// What the C library's allocator keeps for itself of memory that was freed. It is fast so, and after a commit of 100,000
/// objects the daemon would hold hundreds of megabytes that it never needs again.
enum FreedMemory {
  /// A commit of so many changes leaves more behind than the allocator needs.
  static let largeCommit = 10_000
  /// When so long nothing came behind it, what it left is given back to the system.
  static let quietTime = DispatchTimeInterval.seconds(1)

  /// Takes some tens of milliseconds for hundreds of megabytes.
  static func giveBack() {
    #if canImport(Glibc)
      malloc_trim(0)
    #endif
  }
}

extension GraphServer {
  /// Lets a process of many threads keep its freed memory in few places: each thread would have its own, and after some large
  /// commits each of them holds as much as the largest took. For the beginning of a program that is a server.
  public static func keepFreedMemoryTogether() {
    #if canImport(Glibc)
      mallopt(M_ARENA_MAX, 2)
    #endif
  }
}
