extension StringProtocol {
  /// The text for quotation in a message: its first 60 characters, with `…` if it is longer.
  package var excerpt: String { excerpt(of: 60) }

  /// - Parameter limit: the maximum number of characters, without the `…`.
  package func excerpt(of limit: Int) -> String {
    let beginning = beginning(of: limit)
    return beginning.endIndex < endIndex ? "\(beginning)…" : String(self)
  }

  /// The first characters of the text, for one line. A character may have any number of marks, so scalars are limited
  /// as well; a last character that may be incomplete is left out, unless it is the only one.
  /// - Parameters:
  ///   - limit: the maximum number of characters.
  ///   - scalars: the maximum number of scalars; eight for each character by default, more than the longest emoji.
  package func beginning(of limit: Int, scalars: Int? = nil) -> SubSequence {
    assert(limit > 0, "a beginning has a character")
    let bound = if let scalars { scalars } else { 8 * limit }
    guard let end = unicodeScalars.index(startIndex, offsetBy: bound, limitedBy: endIndex), end < endIndex else {
      return prefix(limit)
    }
    let part = self[..<end]
    let count = part.count
    if count > limit { return self[..<part.index(part.startIndex, offsetBy: limit)] }
    return count > 1 ? self[..<part.index(before: part.endIndex)] : part
  }
}
