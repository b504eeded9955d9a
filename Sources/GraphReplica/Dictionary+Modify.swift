extension Dictionary {
  /// Changes the value of a key in place. The key must be there.
  @discardableResult
  mutating func modify<Result>(_ key: Key, _ body: (inout Value) -> Result) -> Result {
    guard let index = index(forKey: key) else { preconditionFailure("a key that is modified is there: \(key)") }
    return body(&values[index])
  }

  /// Changes the value of a key in place; does nothing, and returns nil, if the key is absent.
  @discardableResult
  mutating func modifyIfPresent<Result>(_ key: Key, _ body: (inout Value) -> Result) -> Result? {
    guard let index = index(forKey: key) else { return nil }
    return body(&values[index])
  }

  /// Changes all values in place, in no order.
  mutating func modifyAll(_ body: (inout Value) -> Void) {
    var index = startIndex
    while index != endIndex {
      body(&values[index])
      formIndex(after: &index)
    }
  }
}
