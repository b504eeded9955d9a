/// Changing the values of a dictionary in place: neither a value nor its storage is copied.
extension Dictionary {
  /// Changes the value of a key. The key must be there.
  @discardableResult @inlinable
  package mutating func modify<Result>(_ key: Key, _ body: (inout Value) throws -> Result) rethrows -> Result {
    guard let index = index(forKey: key) else { preconditionFailure("a key that is modified is there: \(key)") }
    return try body(&values[index])
  }

  /// Changes the value of a key; does nothing, and returns nil, if the key is absent.
  @discardableResult @inlinable
  package mutating func modifyIfPresent<Result>(
    _ key: Key, _ body: (inout Value) throws -> Result
  ) rethrows -> Result? {
    guard let index = index(forKey: key) else { return nil }
    return try body(&values[index])
  }

  /// Changes the value of a key, if there is one, and removes it if it is empty afterwards.
  @inlinable
  package mutating func modifyIfPresent(
    _ key: Key, removingIf isEmpty: (Value) -> Bool, _ body: (inout Value) -> Void
  ) {
    guard let index = index(forKey: key) else { return }
    body(&values[index])
    if isEmpty(values[index]) { remove(at: index) }
  }

  /// Changes all values, in no order.
  @inlinable
  package mutating func modifyAll(_ body: (inout Value) -> Void) {
    var index = startIndex
    while index != endIndex {
      body(&values[index])
      formIndex(after: &index)
    }
  }
}
