/// A regular expression as it was read, already folded. Groups are gone: they only say what belongs together.
indirect enum RegularExpressionTree: Hashable, Sendable {
  case scalar(Unicode.Scalar)
  case set(ScalarSet)
  case assertion(Assertion)
  /// Empty: the empty text.
  case sequence([RegularExpressionTree])
  case choice([RegularExpressionTree])
  /// Without a maximum: as often as one likes.
  case repetition(RegularExpressionTree, minimum: Int, maximum: Int?)

  /// What holds between two scalars and takes none.
  enum Assertion: Hashable, Sendable {
    case beginning, end, wordBoundary, noWordBoundary
  }

  /// How many instructions it becomes. A part that becomes none counts as one where it is repeated, because compiling
  /// it takes as long; the parser keeps every repetition below the limit, so nothing here overflows.
  var programSize: Int {
    switch self {
    case .scalar, .set, .assertion: return 1
    case .sequence(let parts): return parts.reduce(0) { $0 + $1.programSize }
    case .choice(let parts): return parts.reduce(parts.count - 1) { $0 + $1.programSize }
    case .repetition(let part, let minimum, let maximum):
      let size = max(1, part.programSize)
      guard let maximum else { return max(1, minimum) * size + 1 }
      return minimum * size + (maximum - minimum) * (size + 1)
    }
  }
}
