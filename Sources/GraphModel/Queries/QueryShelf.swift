/// Queries that are filed by what they wait for in one property: asked which of them a value could matter to.
protocol QueryShelf: Sendable {
  /// Walks over the numbers of the queries that wait for the value.
  /// - Parameter body: whether to go on.
  func forEach(holding value: Value, _ body: (UInt64) -> Bool)
}

extension QueryShelf {
  /// Their numbers.
  func holding(_ value: Value, into found: inout [UInt64]) {
    forEach(holding: value) { number in
      found.append(number)
      return true
    }
  }

  /// Whether there is one.
  func isHolding(_ value: Value) -> Bool {
    var isFound = false
    forEach(holding: value) { _ in
      isFound = true
      return false
    }
    return isFound
  }
}
