/// A value of a property. The attribute's type determines the meaning of a case: `string` is also used for texts,
/// URIs, JSON documents and the names of enumeration cases; `integer` also for sequences.
///
/// Strings are compared by their UTF-8 bytes, in equality and in order. Swift's own `==` is canonical equivalence and
/// SQLite's compares bytes; as indexes and predicates must agree, bytes are used.
public enum Value: Sendable {
  /// No value.
  case null
  /// True or false.
  case bool(Bool)
  /// A 64-bit integer; for a difference of two dates, in microseconds.
  case integer(Int64)
  /// A finite floating-point number.
  case double(Double)
  /// An exact decimal of up to 38 digits.
  case decimal(DecimalValue)
  /// A string, of any kind of text.
  case string(String)
  /// A point in time, in microseconds since 1970.
  case date(Timestamp)
  /// A UUID that a client supplied; not an object's id.
  case uuid(UniqueID)
  /// Bytes; the empty array is a value.
  case data([UInt8])
  /// The target of a to-one relationship.
  case object(ObjectID)
  /// The members of a stored many-to-many relationship. The ids are distinct, and in ascending order unless the
  /// relationship is ordered.
  case objects([ObjectID])

  /// Whether the value is null.
  public var isNull: Bool {
    if case .null = self { true } else { false }
  }

  /// The id of a to-one relationship; nil for anything else.
  public var objectID: ObjectID? {
    if case .object(let id) = self { id } else { nil }
  }

  /// The ids of a to-one or to-many relationship.
  public var objectIDs: [ObjectID] {
    switch self {
    case .object(let id): [id]
    case .objects(let ids): ids
    default: []
    }
  }

  /// Whether a relationship is empty; true for a value that is not a relationship's.
  public var hasNoObjects: Bool {
    switch self {
    case .object: false
    case .objects(let ids): ids.isEmpty
    default: true
    }
  }

  /// The string, for all kinds of text attributes; nil for anything else.
  public var stringValue: String? {
    if case .string(let string) = self { string } else { nil }
  }
}

extension Value: Hashable {
  public static func == (left: Value, right: Value) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.bool(let a), .bool(let b)): a == b
    case (.integer(let a), .integer(let b)): a == b
    case (.double(let a), .double(let b)): a == b
    case (.decimal(let a), .decimal(let b)): a == b
    case (.string(let a), .string(let b)): UTF8Comparison.equal(a, b)
    case (.date(let a), .date(let b)): a == b
    case (.uuid(let a), .uuid(let b)): a == b
    case (.data(let a), .data(let b)): a == b
    case (.object(let a), .object(let b)): a == b
    case (.objects(let a), .objects(let b)): a == b
    default: false
    }
  }

  public func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0)
    case .bool(let value): hasher.combine(value)
    case .integer(let value): hasher.combine(value)
    case .double(let value): hasher.combine(value)
    case .decimal(let value): hasher.combine(value)
    case .string(let value): UTF8Comparison.hash(value, into: &hasher)
    case .date(let value): hasher.combine(value)
    case .uuid(let value): hasher.combine(value)
    case .data(let value): hasher.combine(value)
    case .object(let id): hasher.combine(id)
    case .objects(let ids): hasher.combine(ids)
    }
  }
}

extension Value {
  /// The order of two values of an attribute: null first, then by value, strings by bytes. Values of different kinds,
  /// which a checked model never compares, are ordered by kind.
  public static func order(_ left: Value, _ right: Value) -> ValueOrdering {
    switch (left, right) {
    case (.integer(let a), .integer(let b)), (.date(let a), .date(let b)): ValueOrdering(a, b)
    case (.double(let a), .double(let b)): ValueOrdering(a, b)
    case (.integer(let a), .double(let b)): order(a, b)
    case (.double(let a), .integer(let b)): order(b, a).reversed
    case (.string(let a), .string(let b)): UTF8Comparison.order(a, b)
    case (.bool(let a), .bool(let b)): ValueOrdering(a ? 1 : 0, b ? 1 : 0)
    case (.decimal(let a), .decimal(let b)): ValueOrdering(a, b)
    case (.uuid(let a), .uuid(let b)): ValueOrdering(a, b)
    case (.data(let a), .data(let b)):
      a == b ? .same : a.lexicographicallyPrecedes(b) ? .ascending : .descending
    case (.object(let a), .object(let b)): ValueOrdering(a, b)
    default: ValueOrdering(left.rank, right.rank)
    }
  }

  /// Exact comparison by value: above 2^53 not every integer has a double.
  private static func order(_ whole: Int64, _ number: Double) -> ValueOrdering {
    let floor = number.rounded(.down)
    guard let other = Int64(exactly: floor) else { return number > 0 ? .ascending : .descending }
    return whole == other ? (number > floor ? .ascending : .same) : ValueOrdering(whole, other)
  }

  private var rank: Int {
    switch self {
    case .null: 0
    case .bool: 1
    case .integer, .double: 2
    case .decimal: 3
    case .string: 4
    case .date: 5
    case .uuid: 6
    case .data: 7
    case .object: 8
    case .objects: 9
    }
  }
}

/// The order of two values.
public enum ValueOrdering: Sendable {
  /// The first precedes the second.
  case ascending
  /// Neither precedes the other.
  case same
  /// The first follows the second.
  case descending

  /// Compares two elements.
  @inlinable
  public init<Element: Comparable>(_ left: Element, _ right: Element) {
    self = left < right ? .ascending : right < left ? .descending : .same
  }

  /// The order of the exchanged values.
  public var reversed: ValueOrdering {
    switch self {
    case .ascending: .descending
    case .same: .same
    case .descending: .ascending
    }
  }
}

/// Comparison of strings by their UTF-8 bytes.
public enum UTF8Comparison {
  /// Whether the bytes are equal; canonically equivalent strings may differ.
  public static func equal(_ left: String, _ right: String) -> Bool {
    // The count is available in constant time for strings stored as UTF-8, such as the strings of objects.
    guard left.utf8.count == right.utf8.count else { return false }
    return order(left, right) == .same
  }

  /// Hashes consistently with `equal`.
  static func hash(_ text: String, into hasher: inout Hasher) {
    var copy = text
    copy.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }

  /// Compares by unsigned bytes; a prefix comes first.
  public static func order(_ left: String, _ right: String) -> ValueOrdering {
    let fast = left.utf8.withContiguousStorageIfAvailable { a in
      right.utf8.withContiguousStorageIfAvailable { b in order(a, b) }
    }
    if let order = fast ?? nil { return order }
    var (left, right) = (left, right)
    return left.withUTF8 { a in right.withUTF8 { b in order(a, b) } }
  }

  private static func order(_ a: UnsafeBufferPointer<UInt8>, _ b: UnsafeBufferPointer<UInt8>) -> ValueOrdering {
    // Copies of a string share its storage.
    if a.baseAddress == b.baseAddress, a.count == b.count { return .same }
    let shared = min(a.count, b.count)
    let (left, right) = (UnsafeRawBufferPointer(a), UnsafeRawBufferPointer(b))
    var index = 0
    // Skip the common prefix eight bytes at a time.
    while index + 8 <= shared {
      let (x, y) = (
        left.loadUnaligned(fromByteOffset: index, as: UInt64.self),
        right.loadUnaligned(fromByteOffset: index, as: UInt64.self)
      )
      if x != y { break }
      index += 8
    }
    while index < shared {
      if a[index] != b[index] { return a[index] < b[index] ? .ascending : .descending }
      index += 1
    }
    return ValueOrdering(a.count, b.count)
  }
}

extension Value? {
  /// The value; null where there is none, as in a result without an operand.
  package var orNull: Value { if let self { self } else { .null } }
}
