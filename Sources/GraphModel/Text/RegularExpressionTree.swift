/// A parsed regular expression, already folded. It has no groups, as they only affect parsing.
indirect enum RegularExpressionTree: Hashable, Sendable {
  case scalar(Unicode.Scalar)
  case set(ScalarSet)
  case assertion(Assertion)
  /// A sequence; an empty one matches the empty text.
  case sequence([RegularExpressionTree])
  case alternation([RegularExpressionTree])
  /// A repetition; without a maximum it is unlimited.
  case repetition(RegularExpressionTree, minimum: Int, maximum: Int?)

  /// A condition between two scalars that consumes none.
  enum Assertion: Hashable, Sendable {
    case beginning, end, wordBoundary, noWordBoundary
  }

  /// The number of instructions. A repeated part without instructions counts as one, because compiling it takes time,
  /// too; the parser keeps every repetition below the limit, so that nothing overflows here.
  var programSize: Int {
    switch self {
    case .scalar, .set, .assertion: return 1
    case .sequence(let parts): return parts.reduce(0) { $0 + $1.programSize }
    case .alternation(let parts): return parts.reduce(parts.count - 1) { $0 + $1.programSize }
    case .repetition(let part, let minimum, let maximum):
      let size = max(1, part.programSize)
      guard let maximum else { return max(1, minimum) * size + 1 }
      return minimum * size + (maximum - minimum) * (size + 1)
    }
  }
}
