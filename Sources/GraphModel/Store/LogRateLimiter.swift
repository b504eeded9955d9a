/// A rate limit for log lines that a failing disk would cause hundreds of times per second.
///
/// The first line of a kind is written at once, then one per `intervalNanoseconds`, with the number of lines omitted
/// before it. A kind without lines for an interval starts over. Kinds are few: failure codes, never texts.
public struct LogRateLimiter: Sendable {
  private struct LineState {
    var written: Int64
    var omitted = 0
  }

  /// The interval between two lines of one kind: ten seconds.
  public static let intervalNanoseconds: Int64 = 10_000_000_000

  private let clock: @Sendable () -> Int64
  private var lines = [String: LineState]()

  /// - Parameter clock: returns nanoseconds on a monotonic clock.
  public init(clock: @escaping @Sendable () -> Int64) { self.clock = clock }

  /// Determines whether a line may be written now.
  /// - Returns: nil if the line is omitted; otherwise the number of lines of its kind omitted since the last one.
  public mutating func omitted(before kind: String) -> Int? {
    let now = clock()
    let last = lines[kind]
    if var last, now - last.written < Self.intervalNanoseconds {
      last.omitted += 1
      lines[kind] = last
      return nil
    }
    lines[kind] = LineState(written: now)
    return if let last { last.omitted } else { 0 }
  }
}
