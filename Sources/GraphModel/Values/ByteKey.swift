/// A string as a key: two are the same if their bytes are, as the store has it. `String` itself takes `é` in one scalar
/// and in two for the same key.
public struct ByteKey: Hashable, Comparable, Sendable {
  /// The string.
  public let text: String

  /// The key of a string.
  public init(_ text: String) { self.text = text }

  public static func == (left: ByteKey, right: ByteKey) -> Bool { Bytes.equal(left.text, right.text) }

  public static func < (left: ByteKey, right: ByteKey) -> Bool {
    Bytes.order(left.text, right.text) == .ascending
  }

  public func hash(into hasher: inout Hasher) { Bytes.hash(text, into: &hasher) }
}

extension Dictionary where Key == ByteKey {
  /// The value of a string.
  public subscript(text: String) -> Value? {
    get { self[ByteKey(text)] }
    set { self[ByteKey(text)] = newValue }
  }
}

extension Set where Element == ByteKey {
  /// Whether a string is a member.
  public func contains(_ text: String) -> Bool { contains(ByteKey(text)) }

  /// Makes a string a member.
  @discardableResult
  public mutating func insert(_ text: String) -> (inserted: Bool, memberAfterInsert: ByteKey) {
    insert(ByteKey(text))
  }

  /// Takes a string out; nil when it is no member.
  @discardableResult
  public mutating func remove(_ text: String) -> ByteKey? { remove(ByteKey(text)) }
}
