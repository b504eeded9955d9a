extension Attribute {
  /// The attribute's rules that a value of the right type breaks, each as the end of a sentence. For checks outside a
  /// transaction.
  public func violations(of value: Value) -> [String] { value.isNull ? [] : brokenRules(value).map(\.message) }
}
