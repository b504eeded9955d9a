/// Cancels work on long texts. SQLite checks for cancellation between two of its instructions, but a custom function
/// is a single instruction, and a pattern over a text of 4 MiB may take it a minute; the in-memory evaluator has to
/// check as well. A caller that may cancel the work runs it within `run`, and long work polls regularly.
///
/// The result of a canceled function is meaningless, because most of these functions can't throw; the caller must
/// check `isCancelled` before using it.
public enum Cancellation {
  /// The number of steps (bytes or scalars processed) between two checks: less than a millisecond.
  public static let pollInterval = 1 << 16
  /// Texts shorter than this are not counted, because counting would take longer.
  public static let uncountedSize = 1 << 10

  /// `@unchecked Sendable`: a single thread uses it. It is bound for a synchronous `body` on the thread that calls
  /// `run`, in which no task starts that could inherit it.
  fileprivate final class Token: @unchecked Sendable {
    private let shouldContinue: () -> Bool
    private(set) var isCancelled = false
    private var stepsUntilPoll = Cancellation.pollInterval

    init(_ shouldContinue: @escaping () -> Bool) { self.shouldContinue = shouldContinue }

    func poll() -> Bool {
      if !isCancelled, !shouldContinue() { isCancelled = true }
      return !isCancelled
    }

    func addSteps(_ steps: Int) -> Bool {
      assert(steps >= 0, "work is never taken back")
      stepsUntilPoll -= steps
      if stepsUntilPoll > 0 { return !isCancelled }
      stepsUntilPoll = Cancellation.pollInterval
      return poll()
    }
  }

  @TaskLocal private static var token: Token?

  /// Runs `body`; long work in it ends early after `shouldContinue` returns false, which is then not called again.
  public static func run<Result>(
    while shouldContinue: () -> Bool, _ body: () throws -> Result
  ) rethrows -> Result {
    try withoutActuallyEscaping(shouldContinue) { shouldContinue in
      try $token.withValue(Token(shouldContinue)) { try body() }
    }
  }

  /// Whether the surrounding work was canceled, so that results are meaningless.
  public static var isCancelled: Bool { token?.isCancelled == true }

  /// Checks now.
  /// - Returns: false if the work should end; true if the surrounding work can't be canceled.
  public static func poll() -> Bool { token?.poll() != false }

  /// Counts steps, and checks after each `pollInterval` steps of all work together.
  /// - Returns: false if the work should end.
  @discardableResult public static func addSteps(_ steps: Int) -> Bool { token?.addSteps(steps) != false }

  /// Counts the steps of one piece of work, and checks regularly.
  struct StepCounter {
    private let token: Token?
    private var steps = 0

    /// - Parameters:
    ///   - size: the size of the text, in bytes.
    ///   - steps: the steps already done.
    init(over size: Int, counting steps: Int = 0) {
      token = size < Cancellation.uncountedSize ? nil : Cancellation.token
      self.steps = steps
    }

    /// Counts steps, and checks after each part of `pollInterval`.
    /// - Returns: false if the work should end.
    mutating func addSteps(_ count: Int = 1) -> Bool {
      assert(count >= 0, "work is never taken back")
      guard let token else { return true }
      steps += count
      // Steps are passed on in larger amounts, as counting each one there would cost more than the step.
      if steps < Cancellation.pollInterval / 16 { return true }
      defer { steps = 0 }
      return token.addSteps(steps)
    }

    /// Passes the remaining steps on.
    func flush() { if let token, steps > 0 { _ = token.addSteps(steps) } }
  }
}

extension String {
  /// Maps the text scalar by scalar, as `lowercased()` and `uppercased()` do, in pieces if it is long.
  func mappedInPieces(_ map: (String) -> String) -> String {
    let pieceSize = 1 << 14
    if utf8.count < Cancellation.pollInterval { return map(self) }
    var counter = Cancellation.StepCounter(over: utf8.count)
    var result = ""
    result.reserveCapacity(utf8.count)
    var start = unicodeScalars.startIndex
    while start < unicodeScalars.endIndex {
      let end = unicodeScalars.index(start, offsetBy: pieceSize, limitedBy: unicodeScalars.endIndex)
      let piece = unicodeScalars[start..<(end ?? unicodeScalars.endIndex)]
      result += map(String(piece))
      // A scalar beyond ASCII takes as long as a hundred ASCII bytes.
      guard counter.addSteps(pieceSize * 16) else { return result }
      start = piece.endIndex
    }
    return result
  }

  /// The text without white space at its beginning and end; the rest is copied in one step.
  var withoutWhiteSpaceAtEnds: String {
    var counter = Cancellation.StepCounter(over: utf8.count)
    defer { counter.flush() }
    let scalars = unicodeScalars
    var (start, end) = (scalars.startIndex, scalars.endIndex)
    while start < end, scalars[start].properties.isWhitespace, counter.addSteps() {
      start = scalars.index(after: start)
    }
    while start < end {
      let last = scalars.index(before: end)
      guard scalars[last].properties.isWhitespace, counter.addSteps() else { break }
      end = last
    }
    return String(scalars[start..<end])
  }
}
