extension Dictionary {
  /// Changes the value of a key in place, if there is one, and removes a value that is empty afterwards.
  package mutating func update(
    _ key: Key, removingIf isEmpty: (Value) -> Bool = { _ in false }, _ change: (inout Value) -> Void
  ) {
    guard let index = index(forKey: key) else { return }
    change(&values[index])
    if isEmpty(values[index]) { remove(at: index) }
  }
}
