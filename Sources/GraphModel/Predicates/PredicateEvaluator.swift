/// Where a predicate finds the objects that a path leads to.
public protocol ImageSource {
  /// The object; nil when it is not there, which ends the path.
  func image(of id: ObjectID) -> ObjectImage?
  /// The objects whose stored relationship `property` refers to `id`.
  func referrers(to id: ObjectID, through property: Property) -> [ObjectID]
}

/// For predicates that read an object's own image only.
public struct NoImageSource: ImageSource {
  /// Needs nothing: it has no objects.
  public init() {}
  public func image(of id: ObjectID) -> ObjectImage? { nil }
  public func referrers(to id: ObjectID, through property: Property) -> [ObjectID] { [] }
}

/// A predicate ready to be asked many times: names resolved to slots, strings folded, patterns split. The SQL that
/// `GraphStore` makes of a predicate has the same meaning; a test compares the two on random graphs.
public struct PredicateEvaluator: Sendable {
  fileprivate typealias Test = @Sendable (ObjectImage, any ImageSource) -> Bool

  private let test: Test

  /// Resolves the predicate against the model that it was made for.
  public init(_ predicate: GraphPredicate, model: Model) {
    test = Self.compile(predicate, model)
  }

  /// Whether the object belongs to the result. Its entity is not looked at.
  /// - Parameter source: where paths through relationships lead; none for a predicate that reads the object alone.
  public func matches(_ image: ObjectImage, in source: any ImageSource = NoImageSource()) -> Bool {
    test(image, source)
  }

  private static func compile(_ predicate: GraphPredicate, _ model: Model) -> Test {
    switch predicate {
    case .always: return { _, _ in true }
    case .never: return { _, _ in false }
    case .and(let parts):
      let tests = parts.map { compile($0, model) }
      return { image, source in tests.allSatisfy { $0(image, source) } }
    case .or(let parts):
      let tests = parts.map { compile($0, model) }
      return { image, source in tests.contains { $0(image, source) } }
    case .not(let inner):
      let test = compile(inner, model)
      return { image, source in !test(image, source) }
    case .comparison(let comparison): return compile(comparison, model)
    }
  }

  private static func compile(_ comparison: GraphPredicate.Comparison, _ model: Model) -> Test {
    let match = matcher(comparison)
    // By far the most common: one own property against a constant.
    if comparison.path.hops.isEmpty, case .property(let number) = comparison.path.end,
      let slot = model.property(number)?.slot, case .one = comparison.quantifier
    {
      switch comparison.operand {
      case .path: break
      default: return { image, _ in match(slot < image.values.count ? image.values[slot] : .null, .null) }
      }
    }
    let left = values(at: comparison.path, model)
    let right: @Sendable (ObjectImage, any ImageSource) -> Value =
      if case .path(let other) = comparison.operand {
        { [read = values(at: other, model)] image, source in read(image, source).first ?? .null }
      } else {
        { _, _ in .null }
      }
    switch comparison.quantifier {
    case .one: return { match(left($0, $1).first ?? .null, right($0, $1)) }
    case .any:
      return { image, source in
        let other = right(image, source)
        return left(image, source).contains { match($0, other) }
      }
    case .all:
      return { image, source in
        let other = right(image, source)
        return left(image, source).allSatisfy { match($0, other) }
      }
    case .none:
      return { image, source in
        let other = right(image, source)
        return !left(image, source).contains { match($0, other) }
      }
    }
  }

  private static func values(
    at path: GraphPredicate.Path, _ model: Model
  ) -> @Sendable (ObjectImage, any ImageSource) -> [Value] {
    let reader = PathReader(path, model)
    return { image, source in reader.values(image, source) }
  }

  // MARK: - Comparing two values

  private static func matcher(_ comparison: GraphPredicate.Comparison) -> @Sendable (Value, Value) -> Bool {
    let options = comparison.options
    let fold: @Sendable (Value) -> Value = { value in
      if options.isEmpty { return value }
      if case .string(let text) = value { return .string(text.folded(options)) }
      return value
    }
    let usesPath = if case .path = comparison.operand { true } else { false }
    var constant = Value.null
    var list = [Value]()
    if case .value(let value) = comparison.operand { constant = fold(value) }
    if case .list(let values) = comparison.operand { list = values.map(fold) }
    let operand: @Sendable (Value) -> Value = { [constant] in usesPath ? fold($0) : constant }

    func ordered(_ holds: @escaping @Sendable (Order) -> Bool) -> @Sendable (Value, Value) -> Bool {
      { left, right in
        let (left, right) = (fold(left), operand(right))
        return !left.isNull && !right.isNull && holds(Value.order(left, right))
      }
    }
    func strings(_ holds: @escaping @Sendable (String, String) -> Bool) -> @Sendable (Value, Value) -> Bool {
      { left, right in
        guard case .string(let left) = fold(left), case .string(let right) = operand(right) else { return false }
        return holds(left, right)
      }
    }
    switch comparison.comparator {
    case .equal: return { equal(fold($0), operand($1)) }
    case .notEqual: return { !equal(fold($0), operand($1)) }
    case .less: return ordered { $0 == .ascending }
    case .lessOrEqual: return ordered { $0 != .descending }
    case .greater: return ordered { $0 == .descending }
    case .greaterOrEqual: return ordered { $0 != .ascending }
    case .in:
      let set = Set(list)
      let mixed = list.contains { if case .double = $0 { true } else { false } }
      return { [list] left, _ in
        let left = fold(left)
        return mixed ? list.contains { equal(left, $0) } : set.contains(left)
      }
    case .between:
      return { [list] left, _ in
        guard !left.isNull, list.count == 2, !list.contains(.null) else { return false }
        let left = fold(left)
        return Value.order(left, list[0]) != .ascending && Value.order(left, list[1]) != .descending
      }
    case .beginsWith:
      let prefix = comparison.operand
      return { left, right in
        if case .object(let id) = left, case .value(.string(let prefix)) = prefix { return id.key.hasPrefix(prefix) }
        guard case .string(let left) = fold(left), case .string(let right) = operand(right) else { return false }
        return left.utf8.starts(with: right.utf8)
      }
    case .endsWith: return strings { $0.utf8.reversed().starts(with: $1.utf8.reversed()) }
    case .contains: return strings { contains($0, $1) }
    case .like: return strings { like(Array($0.unicodeScalars), Array($1.unicodeScalars)) }
    case .search:
      let wanted = constant.stringValue?.words ?? []
      return { left, _ in
        guard case .string(let text) = left else { return false }
        return text.hasWords(beginningWith: wanted)
      }
    }
  }

  /// Whole and floating-point numbers compare by value.
  private static func equal(_ left: Value, _ right: Value) -> Bool {
    switch (left, right) {
    case (.integer(let a), .double(let b)): Int64(exactly: b) == a
    case (.double(let a), .integer(let b)): Int64(exactly: a) == b
    default: left == right
    }
  }

  private static func contains(_ text: String, _ part: String) -> Bool {
    let (text, part) = (Array(text.utf8), Array(part.utf8))
    guard !part.isEmpty, part.count <= text.count else { return part.isEmpty }
    // Knuth, Morris and Pratt: no text makes it slow.
    var fallback = [Int](repeating: 0, count: part.count)
    var length = 0
    for index in part.indices.dropFirst() {
      while length > 0, part[index] != part[length] { length = fallback[length - 1] }
      if part[index] == part[length] { length += 1 }
      fallback[index] = length
    }
    var matched = 0
    for byte in text {
      while matched > 0, byte != part[matched] { matched = fallback[matched - 1] }
      if byte == part[matched] { matched += 1 }
      if matched == part.count { return true }
    }
    return false
  }

  /// `*` is any run, `?` is one scalar, `\` takes the next literally. Linear in the text for each `*`: on a mismatch
  /// only the last `*` is tried again.
  private static func like(_ text: [Unicode.Scalar], _ pattern: [Unicode.Scalar]) -> Bool {
    var (t, p) = (0, 0)
    var retry: (t: Int, p: Int)?
    while t < text.count {
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
}

/// Reads the values at the end of a path. A to-one that is null ends the path with a null.
private struct PathReader: Sendable {
  /// One relationship of the way, with what following it needs.
  private struct Hop: Sendable {
    let property: Property
    let isToMany: Bool
    /// The side that holds the reference, when it is not this one.
    let inverse: Property?

    init?(_ number: PropertyNumber, _ model: Model) {
      guard let property = model.property(number), case .relationship(let relationship) = property.kind else {
        return nil
      }
      self.property = property
      isToMany = relationship.isToMany
      inverse = relationship.storage == .inverse ? model.property(relationship.inverse) : nil
    }

    func related(to id: ObjectID, _ image: ObjectImage, _ source: any ImageSource) -> [ObjectID] {
      if let inverse { return source.referrers(to: id, through: inverse) }
      let object = id == image.id ? image : source.image(of: id)
      return object?[property].objectIDs ?? []
    }
  }

  private enum End: Sendable {
    case identifier
    case count(Hop)
    case property(Property)
    case nothing
  }

  private let hops: [Hop]
  private let end: End

  init(_ path: GraphPredicate.Path, _ model: Model) {
    hops = path.hops.compactMap { Hop($0, model) }
    end =
      switch path.end {
      case .identifier: .identifier
      case .count(let number): Hop(number, model).map(End.count) ?? .nothing
      case .property(let number): model.property(number).map(End.property) ?? .nothing
      }
  }

  func values(_ image: ObjectImage, _ source: any ImageSource) -> [Value] {
    var ids: [ObjectID?] = [image.id]
    for hop in hops {
      var next = [ObjectID?]()
      for id in ids {
        guard let id else {
          next.append(nil)
          continue
        }
        let related = hop.related(to: id, image, source)
        if hop.isToMany {
          for other in related { next.append(other) }
        } else {
          next.append(related.first)
        }
      }
      ids = next
    }
    return ids.map { value(at: $0, image, source) }
  }

  private func value(at id: ObjectID?, _ image: ObjectImage, _ source: any ImageSource) -> Value {
    guard let id else { return .null }
    switch end {
    case .identifier: return .object(id)
    case .count(let hop): return .integer(Int64(hop.related(to: id, image, source).count))
    case .property(let property):
      let object = id == image.id ? image : source.image(of: id)
      return object?[property] ?? .null
    case .nothing: return .null
    }
  }
}
