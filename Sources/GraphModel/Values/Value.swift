/// What a property can hold. The attribute's type gives a case its meaning: `string` carries strings, texts, URIs,
/// JSON documents and the names of enumeration cases; `integer` also carries sequences.
///
/// Equality and order of strings compare UTF-8 bytes. Swift's own `==` is canonical equivalence and SQLite's is
/// bytes; an index and a predicate must agree, so bytes it is.
public enum Value: Sendable {
  /// No value.
  case null
  /// True or false.
  case bool(Bool)
  /// A whole number of 64 bits; of two dates, the microseconds between them.
  case integer(Int64)
  /// A finite floating-point number.
  case double(Double)
  /// An exact number, of up to 38 digits.
  case decimal(DecimalValue)
  /// Text of any sort.
  case string(String)
  /// A point in time, in microseconds since 1970.
  case date(Timestamp)
  /// A UUID that a client gave; it names no object.
  case uuid(UniqueID)
  /// Bytes; the empty array is a value.
  case data([UInt8])
  /// A to-one relationship.
  case object(ObjectID)
  /// A stored many-to-many relationship: ids without duplicates, in ascending order unless the relationship is ordered.
  case objects([ObjectID])

  /// Whether there is no value.
  public var isNull: Bool {
    if case .null = self { true } else { false }
  }

  /// The one id of a to-one relationship; nil for anything else.
  public var objectID: ObjectID? {
    if case .object(let id) = self { id } else { nil }
  }

  /// The ids of a relationship of either kind.
  public var objectIDs: [ObjectID] {
    switch self {
    case .object(let id): [id]
    case .objects(let ids): ids
    default: []
    }
  }

  /// Whether a relationship of either kind leads to no object; true for what is no relationship's.
  public var hasNoObjects: Bool {
    switch self {
    case .object: false
    case .objects(let ids): ids.isEmpty
    default: true
    }
  }

  /// The string of whatever type of attribute; nil for anything else.
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
    case (.string(let a), .string(let b)): Bytes.equal(a, b)
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
    case .string(let value): Bytes.hash(value, into: &hasher)
    case .date(let value): hasher.combine(value)
    case .uuid(let value): hasher.combine(value)
    case .data(let value): hasher.combine(value)
    case .object(let id): hasher.combine(id)
    case .objects(let ids): hasher.combine(ids)
    }
  }
}

extension Value {
  /// The order of two values of one attribute: nil first, then by value, strings by bytes. Values of different kinds,
  /// which a checked model never compares, are ordered by kind.
  public static func order(_ left: Value, _ right: Value) -> Order {
    switch (left, right) {
    case (.integer(let a), .integer(let b)), (.date(let a), .date(let b)): Order(a, b)
    case (.double(let a), .double(let b)): Order(a, b)
    case (.integer(let a), .double(let b)): order(a, b)
    case (.double(let a), .integer(let b)): order(b, a).reversed
    case (.string(let a), .string(let b)): Bytes.order(a, b)
    case (.bool(let a), .bool(let b)): Order(a ? 1 : 0, b ? 1 : 0)
    case (.decimal(let a), .decimal(let b)): Order(a, b)
    case (.uuid(let a), .uuid(let b)): Order(a, b)
    case (.data(let a), .data(let b)):
      a == b ? .same : a.lexicographicallyPrecedes(b) ? .ascending : .descending
    case (.object(let a), .object(let b)): Order(a, b)
    default: Order(left.rank, right.rank)
    }
  }

  /// By value, exactly: above 2^53 a whole number has no double of its own.
  private static func order(_ whole: Int64, _ number: Double) -> Order {
    let floor = number.rounded(.down)
    guard let other = Int64(exactly: floor) else { return number > 0 ? .ascending : .descending }
    return whole == other ? (number > floor ? .ascending : .same) : Order(whole, other)
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

/// How two values stand to each other.
public enum Order: Sendable {
  /// The first comes before the second.
  case ascending
  /// Neither comes first.
  case same
  /// The first comes after the second.
  case descending

  /// How the first stands to the second.
  @inlinable
  public init<Element: Comparable>(_ left: Element, _ right: Element) {
    self = left < right ? .ascending : right < left ? .descending : .same
  }

  /// The order with the two values changed over.
  public var reversed: Order {
    switch self {
    case .ascending: .descending
    case .same: .same
    case .descending: .ascending
    }
  }
}

/// Strings seen as their UTF-8 bytes.
public enum Bytes {
  /// Whether the bytes are the same: canonically equivalent strings may differ.
  public static func equal(_ left: String, _ right: String) -> Bool {
    // Known at once of every string that is stored as UTF-8, which those of objects are.
    guard left.utf8.count == right.utf8.count else { return false }
    return order(left, right) == .same
  }

  /// Hashes as `equal` compares.
  static func hash(_ text: String, into hasher: inout Hasher) {
    var copy = text
    copy.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }

  /// By unsigned bytes; a prefix comes first.
  public static func order(_ left: String, _ right: String) -> Order {
    let fast = left.utf8.withContiguousStorageIfAvailable { a in
      right.utf8.withContiguousStorageIfAvailable { b in order(a, b) }
    }
    if let order = fast ?? nil { return order }
    var (left, right) = (left, right)
    return left.withUTF8 { a in right.withUTF8 { b in order(a, b) } }
  }

  private static func order(_ a: UnsafeBufferPointer<UInt8>, _ b: UnsafeBufferPointer<UInt8>) -> Order {
    let shared = min(a.count, b.count)
    let (left, right) = (UnsafeRawBufferPointer(a), UnsafeRawBufferPointer(b))
    var index = 0
    // Eight bytes at once, as far as they are the same.
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
    return Order(a.count, b.count)
  }
}
