extension Double {
  /// A finite number in decimal digits, with an optional sign, fraction and exponent. Nil for `0x10`, `inf` and `nan`,
  /// which `init(_:)` accepts.
  package init?(decimal text: some StringProtocol) {
    guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) || "+-.eE".utf8.contains($0) }),
      let number = Double(text), number.isFinite
    else { return nil }
    self = number
  }
}
