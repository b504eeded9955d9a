#if canImport(Glibc)
  import CMalloc
#endif

/// What the C library's allocator keeps of memory that was freed. A change of a hundred thousand notes is answered with as
/// many; without this a program that is open all day would hold for good what they took for a moment.
enum FreedMemory {
  /// When so long nothing was answered, in milliseconds, what is free goes back to the system.
  static let quietMilliseconds: Int64 = 1_000

  /// Keeps it in few places: each thread would have one of its own.
  static func keepTogether() {
    #if canImport(Glibc)
      mallopt(M_ARENA_MAX, 2)
    #endif
  }

  static func giveBack() {
    #if canImport(Glibc)
      malloc_trim(0)
    #endif
  }
}
