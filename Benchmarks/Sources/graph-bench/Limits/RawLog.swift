import CLoad

/// The limit of any log: overwrites a file of zeros with records of the same bytes as the daemon's commits, and
/// synchronizes each group of them. C code does this; there is no database, no encoding and no socket.
final class RawLog {
  private static let size = 64 << 20

  private let handle: OpaquePointer
  private let recordBytes: Int

  /// - Parameter recordBytes: the size of the record of one commit.
  init(recordBytes: Int, in bench: Bench) throws {
    let path = bench.place("log")
    guard let handle = load_log_make(path, Self.size) else {
      throw BenchmarkError(description: "a log of \(Self.size >> 20) MiB can't be created at \(path)")
    }
    self.handle = handle
    self.recordBytes = recordBytes
  }

  /// Appends the records of a number of commits as one group.
  func append(commits: Int) throws {
    guard load_log_append(handle, recordBytes, commits) == 0 else {
      throw BenchmarkError(description: "a record of the log can't be written")
    }
  }

  deinit { load_log_free(handle) }
}
