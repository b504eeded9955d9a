extension Attribute {
  /// What a value of the right type does against the attribute's rules, the end of a sentence for each: for whoever
  /// verifies a graph without a transaction.
  public func violations(of value: Value) -> [String] { value.isNull ? [] : brokenRules(value).map(\.message) }
}
