// Tests: SearchTests.swift
import GraphModel

/// The objects that the full-text indexes lack, as one read transaction sees them.
///
/// These are the objects changed since the watermark. There are at most a few hundred, so a search examines each.
struct UnindexedRows {
  let watermark: Revision
  private var images = [(row: Int64, image: ObjectImage)]()

  /// - Parameters:
  ///   - past: set if table names resolve to a past state; its objects are not as the indexes have them.
  ///   - omitsDamage: whether damaged commits are skipped. A text that such a commit wrote may not be found.
  init(_ history: HistoryReader, past: ShadowedTables? = nil, omitsDamage: Bool = false) throws {
    watermark = try FullTextIndexer.watermark(history.objects.connection)
    var seen = Set<ObjectID>()
    var ids = [ObjectID]()
    if let past { ids = past.objects }
    seen.formUnion(ids)
    try history.forEachCommitNewestFirst(after: watermark, omitsDamage: omitsDamage) { commit in
      for change in commit.changes where seen.insert(change.id).inserted { ids.append(change.id) }
    }
    for id in ids {
      guard let table = history.objects.layout.table(of: id.entity), !table.fullTextTables.isEmpty,
        let found = try history.objects.find(id),
        // Every row is verified when it is served, so damage of one that does not match refuses no search.
        let image = try history.objects.withoutVerification({ try history.objects.readImage(of: id) })
      else { continue }
      images.append((found.row, image))
    }
  }

  /// The rows whose property contains words that begin with the given ones.
  func rows(of property: Property, model: Model, words: [String]) -> [Int64] {
    let search = SearchTermMatcher(words)
    return images.compactMap { row, image in
      guard let entity = model.entity(image.id.entity), entity.property(property.number) != nil,
        let text = image[property].stringValue
      else { return nil }
      return search.matches(text) ? row : nil
    }
  }
}
