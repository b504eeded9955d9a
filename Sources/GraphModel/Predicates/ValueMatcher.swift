/// A comparator with its options and the prepared constant part of its right side.
struct ValueMatcher: Sendable {
  /// The right side of one comparison.
  enum Operand {
    /// The constant of the comparison.
    case constant
    case value(Value)
    case list([Value])
  }

  private let comparator: GraphPredicate.Comparator
  private let options: StringOptions
  private let constant: Value
  private let list: [Value]
  /// The list as a set, if the comparison is an equality and all elements have the same type.
  private let set: Set<Value>?
  private let search: SearchTermMatcher?
  private let pattern: RegularExpression?

  init(_ comparison: GraphPredicate.Comparison) {
    comparator = comparison.comparator
    options = comparison.options
    var values = [Value]()
    if case .list(let constants) = comparison.right { values = constants }
    let folded = values.map { Self.folded($0, comparison.options) }
    list = folded
    let mixes = folded.contains { if case .double = $0 { true } else { false } }
    set = comparison.comparator == .in && !mixes ? Set(folded) : nil
    // A regular expression is folded by its parser, because its classes and escapes are not plain text.
    constant =
      comparison.comparator == .matches
      ? comparison.right.constant : Self.folded(comparison.right.constant, comparison.options)
    if comparison.comparator == .search, case .string(let text) = constant {
      search = SearchTermMatcher(text.words)
    } else {
      search = nil
    }
    pattern =
      comparison.comparator == .matches
      ? constant.stringValue.flatMap { RegularExpression.prepare($0, options: comparison.options) } : nil
  }

  private static func folded(_ value: Value, _ options: StringOptions) -> Value {
    guard !options.isEmpty, case .string(let text) = value else { return value }
    return .string(text.folded(options))
  }

  func callAsFunction(_ left: Value, _ operand: Operand) -> Bool {
    switch comparator {
    case .in:
      let left = Self.folded(left, options)
      if case .list(let values) = operand { return values.contains { Self.equal(left, Self.folded($0, options)) } }
      // A calculated integer that overflowed is a double, which compares by value.
      if case .double = left { return list.contains { Self.equal(left, $0) } }
      return set?.contains(left) ?? list.contains { Self.equal(left, $0) }
    case .between:
      var ends = list
      if case .list(let values) = operand { ends = values.map { Self.folded($0, options) } }
      guard ends.count == 2, !left.isNull, !ends.contains(.null) else { return false }
      let left = Self.folded(left, options)
      return Value.order(left, ends[0]) != .ascending && Value.order(left, ends[1]) != .descending
    case .matches:
      guard case .string(let text) = left else { return false }
      return pattern?.matchesWhole(text) == true
    case .search:
      // A null finds nothing, as it does in SQL.
      guard case .string(let text) = left, let search else { return false }
      return search.matches(text)
    default: break
    }
    var right = constant
    if case .value(let value) = operand { right = Self.folded(value, options) }
    let left = Self.folded(left, options)
    switch comparator {
    case .equal: return Self.equal(left, right)
    case .notEqual: return !Self.equal(left, right)
    case .less: return ordered(left, right) == .ascending
    case .lessOrEqual: return ordered(left, right).map { $0 != .descending } == true
    case .greater: return ordered(left, right) == .descending
    case .greaterOrEqual: return ordered(left, right).map { $0 != .ascending } == true
    case .beginsWith:
      if case (.object(let id), .string(let prefix)) = (left, right) { return id.key.hasPrefix(prefix) }
      return strings(left, right) { $0.utf8.starts(with: $1.utf8) }
    case .endsWith: return strings(left, right) { $0.utf8.reversed().starts(with: $1.utf8.reversed()) }
    case .contains: return strings(left, right) { TextSearch.contains($0, $1) }
    case .like: return strings(left, right) { TextSearch.like($0, pattern: $1) }
    case .in, .between, .matches, .search: return false
    }
  }

  /// The order of the two; nil if one is null.
  private func ordered(_ left: Value, _ right: Value) -> ValueOrdering? {
    left.isNull || right.isNull ? nil : Value.order(left, right)
  }

  private func strings(_ left: Value, _ right: Value, _ holds: (String, String) -> Bool) -> Bool {
    guard case .string(let left) = left, case .string(let right) = right else { return false }
    return holds(left, right)
  }

  /// Integers and doubles compare by value.
  static func equal(_ left: Value, _ right: Value) -> Bool {
    switch (left, right) {
    case (.integer(let a), .double(let b)): Int64(exactly: b) == a
    case (.double(let a), .integer(let b)): Int64(exactly: a) == b
    default: left == right
    }
  }
}

/// Searches in texts, by bytes and scalars.
public enum TextSearch {
  /// Whether `part` occurs in `text`; the empty string always does.
  static func contains(_ text: String, _ part: String) -> Bool {
    var (text, part) = (text, part)
    return text.withUTF8 { text in part.withUTF8 { contains(text, $0) } }
  }

  /// Whether the bytes `part` occur in `text`; an empty `part` always does.
  public static func contains(_ text: UnsafeBufferPointer<UInt8>, _ part: UnsafeBufferPointer<UInt8>) -> Bool {
    guard !part.isEmpty, part.count <= text.count else { return part.isEmpty }
    var counter = Cancellation.StepCounter(over: text.count)
    defer { counter.flush() }
    // The Knuth-Morris-Pratt algorithm, which is linear for every text.
    var fallback = [Int](repeating: 0, count: part.count)
    var length = 0
    for index in part.indices.dropFirst() {
      while length > 0, part[index] != part[length] { length = fallback[length - 1] }
      if part[index] == part[length] { length += 1 }
      fallback[index] = length
    }
    var matched = 0
    for byte in text {
      guard counter.addSteps() else { return false }
      while matched > 0, byte != part[matched] { matched = fallback[matched - 1] }
      if byte == part[matched] { matched += 1 }
      if matched == part.count { return true }
    }
    return false
  }

  /// Whether `text` matches the pattern: `*` is any run, `?` one scalar, `\` escapes the next. Linear in the text for
  /// each `*`, as a mismatch only retries the last `*`.
  public static func like(_ text: String, pattern: String) -> Bool {
    var counter = Cancellation.StepCounter(over: text.utf8.count)
    defer { counter.flush() }
    let (text, pattern) = (Array(text.unicodeScalars), Array(pattern.unicodeScalars))
    var (t, p) = (0, 0)
    var retry: (t: Int, p: Int)?
    while t < text.count {
      guard counter.addSteps() else { return false }
      if p < pattern.count, pattern[p] == "*" {
        retry = (t, p)
        p += 1
        continue
      }
      let isEscape = p + 1 < pattern.count && pattern[p] == "\\"
      if p < pattern.count, isEscape ? pattern[p + 1] == text[t] : pattern[p] == "?" || pattern[p] == text[t] {
        t += 1
        p += isEscape ? 2 : 1
      } else if let last = retry {
        retry = (last.t + 1, last.p)
        (t, p) = (last.t + 1, last.p + 1)
      } else {
        return false
      }
    }
    while p < pattern.count, pattern[p] == "*" { p += 1 }
    return p == pattern.count
  }

  /// The longest literal substring of a LIKE pattern, which every matching text contains.
  static func longestPart(ofPattern pattern: String) -> String {
    var (longest, run) = ([Unicode.Scalar](), [Unicode.Scalar]())
    var isEscaped = false
    let scalars = pattern.unicodeScalars
    for (index, scalar) in zip(scalars.indices, scalars) {
      // A backslash at the end is literal.
      if !isEscaped, scalar == "\\", scalars.index(after: index) < scalars.endIndex {
        isEscaped = true
      } else if !isEscaped, scalar == "*" || scalar == "?" {
        if run.count > longest.count { swap(&run, &longest) }
        run.removeAll(keepingCapacity: true)
      } else {
        isEscaped = false
        run.append(scalar)
      }
    }
    if run.count > longest.count { longest = run }
    return String(String.UnicodeScalarView(longest))
  }
}
