/// Ends work on long texts in the middle. SQLite asks between two of its instructions whether a statement is still wanted,
/// but a function of ours is one instruction, and a pattern over a text of 4 MiB may take it a minute; the evaluator asks
/// for itself as well. So whoever may lose interest runs the work inside `run`, and what takes long asks now and then.
///
/// A function that is interrupted gives an answer that means nothing, since most of them can't fail: whoever uses its
/// answer looks at `isOver` first.
public enum Interruption {
  /// Steps of work (bytes or scalars looked at) between two questions: less than a millisecond.
  static let pace = 1 << 16
  /// Shorter texts are not counted: to count them would take longer.
  static let shortText = 1 << 10

  /// `@unchecked Sendable`: it is bound for a synchronous `body`, on the thread that calls `run`, and no task begins in
  /// there that could inherit it: one thread has it.
  fileprivate final class Question: @unchecked Sendable {
    private let goesOn: () -> Bool
    private(set) var isOver = false
    private var left = Interruption.pace

    init(_ goesOn: @escaping () -> Bool) { self.goesOn = goesOn }

    func ask() -> Bool {
      if !isOver, !goesOn() { isOver = true }
      return !isOver
    }

    func spend(_ steps: Int) -> Bool {
      left -= steps
      if left > 0 { return !isOver }
      left = Interruption.pace
      return ask()
    }
  }

  @TaskLocal private static var question: Question?

  /// Runs `body`, in which long work ends early once `goesOn` has said no. It is not asked again then.
  public static func run<Result>(while goesOn: () -> Bool, _ body: () throws -> Result) rethrows -> Result {
    try withoutActuallyEscaping(goesOn) { goesOn in
      try $question.withValue(Question(goesOn)) { try body() }
    }
  }

  /// Whether the work around this was ended: what is calculated since means nothing.
  public static var isOver: Bool { question?.isOver ?? false }

  /// Asks now. True where nothing around this can end.
  public static func goesOn() -> Bool { question?.ask() ?? true }

  /// Asks after each `pace` steps, those of all work together.
  /// - Returns: false when the work is to end.
  @discardableResult public static func spend(_ steps: Int) -> Bool { question?.spend(steps) ?? true }

  /// Counts the steps of one piece of work, and asks now and then.
  struct Watch {
    private let question: Question?
    private var steps = 0

    /// - Parameters:
    ///   - size: of the text, in bytes.
    ///   - steps: that are done already.
    init(over size: Int, spending steps: Int = 0) {
      question = size < Interruption.shortText ? nil : Interruption.question
      self.steps = steps
    }

    /// False when the work is to end.
    mutating func goesOn(_ more: Int = 1) -> Bool {
      guard let question else { return true }
      steps += more
      // A piece of the pace at a time: to count each step in the question would cost more than the step.
      if steps < Interruption.pace / 16 { return true }
      defer { steps = 0 }
      return question.spend(steps)
    }

    /// Counts what is left of the work.
    func end() { if let question, steps > 0 { _ = question.spend(steps) } }
  }
}

extension String {
  /// Mapped scalar by scalar, as `lowercased()` and `uppercased()` do, piece by piece where it is long.
  func mappedInPieces(_ map: (String) -> String) -> String {
    let pieceSize = 1 << 14
    if utf8.count < Interruption.pace { return map(self) }
    var watch = Interruption.Watch(over: utf8.count)
    var result = ""
    result.reserveCapacity(utf8.count)
    var start = unicodeScalars.startIndex
    while start < unicodeScalars.endIndex {
      let end = unicodeScalars.index(start, offsetBy: pieceSize, limitedBy: unicodeScalars.endIndex)
      let piece = unicodeScalars[start..<(end ?? unicodeScalars.endIndex)]
      result += map(String(piece))
      // A scalar that is not ASCII takes as long as a hundred bytes that are.
      guard watch.goesOn(pieceSize * 16) else { return result }
      start = piece.endIndex
    }
    return result
  }
}
