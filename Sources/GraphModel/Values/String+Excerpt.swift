extension StringProtocol {
  /// The text for quotation in a message: its first 60 characters, with `…` if it is longer.
  package var excerpt: String { excerpt(of: 60) }

  /// - Parameter limit: the maximum number of characters, without the `…`.
  package func excerpt(of limit: Int) -> String {
    guard let end = index(startIndex, offsetBy: limit, limitedBy: endIndex), end < endIndex else { return String(self) }
    return "\(self[..<end])…"
  }
}
