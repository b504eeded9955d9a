import Synchronization

/// Lines of the log that a failing disk would write hundreds of times a second.
///
/// The first line of a kind is written at once, and then one in `intervalNanoseconds`, with the number of those that were
/// left out before it. A kind that was silent for an interval begins again with its first line. Kinds are few: codes of
/// failures, never texts.
public final class RepeatedLines: Sendable {
  private struct Line {
    var written: Int64
    var omitted = 0
  }

  /// Between two lines of one kind: ten seconds.
  public static let intervalNanoseconds: Int64 = 10_000_000_000

  private let clock: @Sendable () -> Int64
  /// Guarded by its mutex: any thread may log.
  private let lines = Mutex<[String: Line]>([:])

  /// - Parameter clock: nanoseconds on a clock that only goes forward.
  public init(clock: @escaping @Sendable () -> Int64) { self.clock = clock }

  /// Asks whether a line may be written now.
  /// - Returns: nil when it is left out; else how many of its kind were left out since the last one.
  public func omitted(before kind: String) -> Int? {
    let now = clock()
    return lines.withLock { lines in
      if var line = lines[kind], now - line.written < Self.intervalNanoseconds {
        line.omitted += 1
        lines[kind] = line
        return nil
      }
      let omitted = lines[kind]?.omitted ?? 0
      lines[kind] = Line(written: now)
      return omitted
    }
  }
}
