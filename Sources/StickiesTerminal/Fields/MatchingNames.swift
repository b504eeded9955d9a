import GraphControllers

extension [String] {
  /// The names with words that begin like the typed ones; all names if no word is typed.
  func matching(_ text: String) -> [String] {
    guard let query = SearchQuery(text) else { return self }
    return filter { query.matches($0) }
  }
}
