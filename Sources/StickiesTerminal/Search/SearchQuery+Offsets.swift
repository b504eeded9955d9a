import GraphControllers

extension SearchQuery {
  /// Maximum searched length, in bytes; only the beginning of a longer text is laid out.
  static let maximumBytes = LayoutCache.maximumBytes

  /// The ranges of a text to highlight, as offsets in UTF-8.
  func offsets(in text: String) -> [Range<Int>] {
    let utf8 = text.utf8
    let shown = utf8.count <= Self.maximumBytes ? text : String(decoding: utf8.prefix(Self.maximumBytes), as: UTF8.self)
    return highlights(in: shown).map {
      shown.utf8.distance(
        from: shown.startIndex, to: $0.lowerBound)..<shown.utf8.distance(from: shown.startIndex, to: $0.upperBound)
    }
  }
}
