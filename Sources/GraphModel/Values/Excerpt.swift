extension StringProtocol {
  /// The text as a message quotes it: its first 60 characters, and a sign that there were more.
  package var excerpt: String { excerpt(of: 60) }

  /// - Parameter limit: so many characters at most, and the sign.
  package func excerpt(of limit: Int) -> String {
    guard let end = index(startIndex, offsetBy: limit, limitedBy: endIndex), end < endIndex else { return String(self) }
    return "\(self[..<end])…"
  }
}
