import GraphModel

/// The objects that the full-text indexes do not know yet, as one read transaction sees them: those that have changed
/// since the watermark. A few hundred at most, so a search looks into each.
struct RecentTexts {
  let watermark: Revision
  private var images = [(row: Int64, image: ObjectImage)]()

  /// - Parameter past: set where names mean the graph as it was: what was touched since then the indexes know otherwise.
  init(_ history: HistoryReader, past: PastScope? = nil) throws {
    watermark = try WordFeed.watermark(history.objects.connection)
    var seen = Set<ObjectID>()
    var ids = past?.objects ?? []
    seen.formUnion(ids)
    try history.forEachCommitNewestFirst(after: watermark) { commit in
      for change in commit.changes where seen.insert(change.id).inserted { ids.append(change.id) }
    }
    for id in ids {
      guard let table = history.objects.layout.table(of: id.entity), !table.wordTables.isEmpty,
        let found = try history.objects.find(id), let image = try history.objects.readImage(of: id)
      else { continue }
      images.append((found.row, image))
    }
  }

  /// The rows whose property has words that begin with these.
  func rows(of property: Property, model: Model, words: [String]) -> [Int64] {
    let search = SearchWords(words)
    return images.compactMap { row, image in
      guard let entity = model.entity(image.id.entity), entity.property(property.number) != nil,
        let text = image[property].stringValue
      else { return nil }
      return search.areFound(in: text) ? row : nil
    }
  }
}
