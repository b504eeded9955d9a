/// Cancels work on long texts. SQLite checks for cancellation between two of its instructions, but a custom function
/// is a single instruction, and a pattern over a text of 4 MiB may take it a minute; the in-memory evaluator has to
/// check as well. A caller that may cancel the work runs it within `run`, and long work polls regularly.
///
/// The result of a canceled function is meaningless, because most of these functions can't throw; the caller must
/// check `isOver` before using it.
public enum Cancellation {
  /// The number of steps (bytes or scalars processed) between two checks: less than a millisecond.
  static let pace = 1 << 16
  /// Texts shorter than this are not counted, because counting would take longer.
  static let shortText = 1 << 10

  /// `@unchecked Sendable`: a single thread uses it. It is bound for a synchronous `body` on the thread that calls
  /// `run`, in which no task starts that could inherit it.
  fileprivate final class Token: @unchecked Sendable {
    private let goesOn: () -> Bool
    private(set) var isOver = false
    private var left = Cancellation.pace

    init(_ goesOn: @escaping () -> Bool) { self.goesOn = goesOn }

    func ask() -> Bool {
      if !isOver, !goesOn() { isOver = true }
      return !isOver
    }

    func spend(_ steps: Int) -> Bool {
      left -= steps
      if left > 0 { return !isOver }
      left = Cancellation.pace
      return ask()
    }
  }

  @TaskLocal private static var question: Token?

  /// Runs `body`; long work in it ends early after `goesOn` returns false, which is then not called again.
  public static func run<Result>(while goesOn: () -> Bool, _ body: () throws -> Result) rethrows -> Result {
    try withoutActuallyEscaping(goesOn) { goesOn in
      try $question.withValue(Token(goesOn)) { try body() }
    }
  }

  /// Whether the surrounding work was canceled, so that results are meaningless.
  public static var isOver: Bool { question?.isOver ?? false }

  /// Checks now. True if the surrounding work can't be canceled.
  public static func goesOn() -> Bool { question?.ask() ?? true }

  /// Counts steps, and checks after each `pace` steps of all work together.
  /// - Returns: false if the work should end.
  @discardableResult public static func spend(_ steps: Int) -> Bool { question?.spend(steps) ?? true }

  /// Counts the steps of one piece of work, and checks regularly.
  struct StepCounter {
    private let question: Token?
    private var steps = 0

    /// - Parameters:
    ///   - size: the size of the text, in bytes.
    ///   - steps: the steps already done.
    init(over size: Int, spending steps: Int = 0) {
      question = size < Cancellation.shortText ? nil : Cancellation.question
      self.steps = steps
    }

    /// False if the work should end.
    mutating func goesOn(_ more: Int = 1) -> Bool {
      guard let question else { return true }
      steps += more
      // Steps are passed on in larger amounts, as counting each one there would cost more than the step.
      if steps < Cancellation.pace / 16 { return true }
      defer { steps = 0 }
      return question.spend(steps)
    }

    /// Counts the remaining steps.
    func end() { if let question, steps > 0 { _ = question.spend(steps) } }
  }
}

extension String {
  /// Maps the text scalar by scalar, as `lowercased()` and `uppercased()` do, in pieces if it is long.
  func mappedInPieces(_ map: (String) -> String) -> String {
    let pieceSize = 1 << 14
    if utf8.count < Cancellation.pace { return map(self) }
    var watch = Cancellation.StepCounter(over: utf8.count)
    var result = ""
    result.reserveCapacity(utf8.count)
    var start = unicodeScalars.startIndex
    while start < unicodeScalars.endIndex {
      let end = unicodeScalars.index(start, offsetBy: pieceSize, limitedBy: unicodeScalars.endIndex)
      let piece = unicodeScalars[start..<(end ?? unicodeScalars.endIndex)]
      result += map(String(piece))
      // A scalar beyond ASCII takes as long as a hundred ASCII bytes.
      guard watch.goesOn(pieceSize * 16) else { return result }
      start = piece.endIndex
    }
    return result
  }
}
