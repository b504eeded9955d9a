// Tests: AuditLimiterTests.swift

/// Limits the lines of the audit log: one in ten seconds for each kind of event, principal and network. The next line
/// of the kind has the number of the omitted ones, so that a client in a loop fills neither the log nor the disk.
struct AuditLimiter {
  private struct Line {
    var written: Int64
    var omitted = 0
  }

  private var lines = [String: Line]()
  /// Events that were omitted because too many kinds were known.
  private var overflow = 0

  /// The time between two lines of one kind.
  static let intervalMilliseconds: Int64 = 10_000
  /// The kinds that are remembered; beyond it, further ones get no line until some are forgotten.
  static let maximumLines = 10_000

  /// Determines whether an event gets a line.
  /// - Parameter now: the time in milliseconds of a monotonic clock.
  /// - Returns: nil if it is omitted; otherwise the number of events that were omitted since the last line.
  mutating func omitted(before kind: String, now: Int64) -> Int? {
    if var line = lines[kind] {
      guard now - line.written >= Self.intervalMilliseconds else {
        line.omitted += 1
        lines[kind] = line
        return nil
      }
      lines[kind] = Line(written: now)
      return line.omitted + takeOverflow()
    }
    if lines.count >= Self.maximumLines { forget(now) }
    guard lines.count < Self.maximumLines else {
      overflow += 1
      return nil
    }
    lines[kind] = Line(written: now)
    return takeOverflow()
  }

  private mutating func takeOverflow() -> Int {
    defer { overflow = 0 }
    return overflow
  }

  private mutating func forget(_ now: Int64) {
    for (kind, line) in lines where now - line.written >= Self.intervalMilliseconds {
      overflow += line.omitted
      lines[kind] = nil
    }
  }
}
