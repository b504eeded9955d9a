/// A recursive-descent parser of patterns. Each nested group is a recursion, up to a limit.
struct RegularExpressionParser {
  typealias Tree = RegularExpressionTree

  let options: StringOptions
  let scalars: [Unicode.Scalar]
  var position = 0
  private let bytes: Int
  /// The folded forms of categories, cached because a category may occur in many classes.
  var foldedProperties = [ScalarProperty: [ClosedRange<UInt32>]]()

  init(_ pattern: String, options: StringOptions) {
    bytes = pattern.utf8.count
    if bytes > RegularExpression.maximumPatternBytes {
      // The pattern is refused; this prefix is enough for the position of the error.
      scalars = Array(pattern.unicodeScalars.prefix(RegularExpression.maximumPatternBytes + 1))
    } else {
      // Composed as the text will be, so that a decomposed syllable is a single literal.
      scalars = Array(options.contains(.diacriticInsensitive) ? pattern.composed : pattern.unicodeScalars)
    }
    self.options = options
  }

  mutating func parse() throws(RegularExpressionError) -> Tree {
    let limit = RegularExpression.maximumPatternBytes
    guard bytes <= limit else {
      throw fail(at: scalarsWithin(limit), "the pattern has \(bytes) bytes; at most \(limit) are allowed")
    }
    let tree = try alternation(depth: 0)
    if position < scalars.count { throw fail("there is no group to close here; write \\) for the character itself") }
    try checkSize(tree, at: 0)
    return tree
  }

  // MARK: - Levels

  private mutating func alternation(depth: Int) throws(RegularExpressionError) -> Tree {
    var branches = [try sequence(depth: depth)]
    while accept("|") { branches.append(try sequence(depth: depth)) }
    return branches.count == 1 ? branches[0] : .alternation(branches)
  }

  private mutating func sequence(depth: Int) throws(RegularExpressionError) -> Tree {
    var parts = [Tree]()
    while let scalar = next, scalar != "|", scalar != ")" {
      parts.append(try repeated(try atom(depth: depth)))
    }
    return parts.count == 1 ? parts[0] : .sequence(parts)
  }

  private mutating func atom(depth: Int) throws(RegularExpressionError) -> Tree {
    let start = position
    guard let scalar = consume() else { return .sequence([]) }
    switch scalar {
    case "(": return try group(openedAt: start, depth: depth + 1)
    case "[": return .set(try scalarClass(openedAt: start))
    case ".": return .set(.anyButLineEnds)
    case "^": return .assertion(.beginning)
    case "$": return .assertion(.end)
    case "\\": return try escape(at: start)
    case "*", "+", "?", "{":
      throw fail(at: start, "there is nothing to repeat; write \\\(scalar) for the character itself")
    default: return literal(scalar)
    }
  }

  private mutating func group(openedAt start: Int, depth: Int) throws(RegularExpressionError) -> Tree {
    if depth > RegularExpression.maximumDepth {
      throw fail(at: start, "groups are nested deeper than \(RegularExpression.maximumDepth)")
    }
    if accept("?"), !accept(":") {
      switch (next, position + 1 < scalars.count ? scalars[position + 1] : nil) {
      case ("=", _), ("!", _), ("<", "="?), ("<", "!"?):
        throw fail(at: start, "lookahead and lookbehind are not supported")
      case (">", _): throw fail(at: start, "atomic groups are not supported")
      case ("<", _), ("P", _): throw fail(at: start, "named groups are not supported; write (…)")
      default: throw fail(at: start, "only : is allowed after (?; flags such as (?i) are the options [c] and [d]")
      }
    }
    let tree = try alternation(depth: depth)
    if !accept(")") { throw fail(at: start, "this group is not closed") }
    // In a group of its own an assertion may be repeated, like everything that may be empty.
    if case .assertion = tree { return .sequence([tree]) }
    return tree
  }

  /// A literal; its folded form may have several scalars, or none.
  func literal(_ scalar: Unicode.Scalar) -> Tree {
    if options.isEmpty { return .scalar(scalar) }
    let folded = String(scalar).foldedForPatterns(options).unicodeScalars.map(Tree.scalar)
    return folded.count == 1 ? folded[0] : .sequence(folded)
  }

  // MARK: - Repetition

  private mutating func repeated(_ tree: Tree) throws(RegularExpressionError) -> Tree {
    let start = position
    guard let (minimum, maximum) = try quantifier() else { return tree }
    if case .assertion = tree { throw fail(at: start, "a position can't be repeated, only characters and groups") }
    // A lazy quantifier matches the same texts.
    if !accept("?"), next == "+" {
      throw fail("possessive quantifiers are not supported")
    }
    if let scalar = next, ["*", "+", "?", "{"].contains(scalar) {
      throw fail("this is repeated already; put it into a group to repeat it again")
    }
    let repetition = Tree.repetition(tree, minimum: minimum, maximum: maximum)
    try checkSize(repetition, at: start)
    return repetition
  }

  private mutating func quantifier() throws(RegularExpressionError) -> (minimum: Int, maximum: Int?)? {
    let start = position
    if accept("*") { return (0, nil) }
    if accept("+") { return (1, nil) }
    if accept("?") { return (0, 1) }
    if !accept("{") { return nil }
    guard let minimum = number() else {
      throw fail("{ begins a repetition and needs a number here; write \\{ for the character itself")
    }
    var maximum: Int? = minimum
    if accept(",") { maximum = number() }
    if !accept("}") { throw fail("a repetition is written {2}, {2,} or {2,5}; } is missing here") }
    if let maximum, maximum < minimum { throw fail(at: start, "the second number is less than the first") }
    return (minimum, maximum)
  }

  /// Parses a number, clamped to a million, which exceeds every program.
  private mutating func number() -> Int? {
    let start = position
    var result = 0
    while let scalar = next, ("0"..."9").contains(scalar) {
      result = min(1_000_000, result * 10 + Int(scalar.value - 0x30))
      position += 1
    }
    return position > start ? result : nil
  }

  private func checkSize(_ tree: Tree, at place: Int) throws(RegularExpressionError) {
    let limit = RegularExpression.maximumProgramSize
    // The program has one more instruction at its end.
    if tree.programSize >= limit {
      throw fail(at: place, "the pattern is too long with its repetitions expanded: at most \(limit) instructions")
    }
  }

  // MARK: - Reading

  var next: Unicode.Scalar? { position < scalars.count ? scalars[position] : nil }

  mutating func consume() -> Unicode.Scalar? {
    guard position < scalars.count else { return nil }
    position += 1
    return scalars[position - 1]
  }

  mutating func accept(_ scalar: Unicode.Scalar) -> Bool {
    guard next == scalar else { return false }
    position += 1
    return true
  }

  /// - Parameter place: the position in scalars, from 0; by default the current one.
  func fail(at place: Int? = nil, _ reason: String) -> RegularExpressionError {
    var before = String.UnicodeScalarView()
    before.append(contentsOf: scalars.prefix(place ?? position))
    return RegularExpressionError(column: String(before).count + 1, reason: reason)
  }

  private func scalarsWithin(_ limit: Int) -> Int {
    var bytes = 0
    return scalars.firstIndex {
      bytes += UTF8.width($0)
      return bytes > limit
    } ?? scalars.count
  }
}
