/// A string that is compared by bytes, as in the store. `String` itself compares by canonical equivalence: `é` as one
/// scalar equals `é` as two.
public struct ByteKey: Hashable, Comparable, Sendable {
  /// The string.
  public let text: String

  /// Creates the key of a string.
  public init(_ text: String) { self.text = text }

  public static func == (left: ByteKey, right: ByteKey) -> Bool { UTF8Comparison.equal(left.text, right.text) }

  public static func < (left: ByteKey, right: ByteKey) -> Bool {
    UTF8Comparison.order(left.text, right.text) == .ascending
  }

  public func hash(into hasher: inout Hasher) { UTF8Comparison.hash(text, into: &hasher) }
}

extension Dictionary where Key == ByteKey {
  /// The value for a string.
  public subscript(text: String) -> Value? {
    get { self[ByteKey(text)] }
    set { self[ByteKey(text)] = newValue }
  }
}

extension Set where Element == ByteKey {
  /// Whether the set contains a string.
  public func contains(_ text: String) -> Bool { contains(ByteKey(text)) }

  /// Inserts a string.
  @discardableResult
  public mutating func insert(_ text: String) -> (inserted: Bool, memberAfterInsert: ByteKey) {
    insert(ByteKey(text))
  }

  /// Removes a string; nil if it is not in the set.
  @discardableResult
  public mutating func remove(_ text: String) -> ByteKey? { remove(ByteKey(text)) }
}
