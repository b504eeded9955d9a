import GraphModel

/// The result of an import: counts, and the rows and values that it could not take.
struct ImportReport {
  /// A row that was not taken, or not completely.
  struct Entry {
    /// The root entity and the primary key.
    let row: ImportMapping.Key
    let entity: String
    /// The property that is missing; nil if the whole row is.
    let property: String?
    let reason: String
  }

  var inserted = 0
  var updated = 0
  var unchanged = 0
  var deleted = 0
  /// Rows that the app has deleted, whose objects stay.
  var kept = 0
  /// Values of others that the import has overwritten.
  var overwritten = 0
  private(set) var entries = [Entry]()
  private(set) var skippedCount = 0
  private(set) var incompleteCount = 0
  private var skipped = Set<ImportMapping.Key>()
  private var incomplete = Set<ImportMapping.Key>()

  /// The maximum number of entries that are kept; the others are counted.
  static let maximumEntries = 1_000
  /// The maximum number of entries in text output.
  static let maximumLines = 100

  /// Records that a row was not taken. The values that it was already without become a part of the reason.
  mutating func skip(_ row: ImportMapping.Key, _ entity: String, _ reason: String) {
    if skipped.insert(row).inserted {
      skippedCount += 1
      var reason = reason
      if incomplete.remove(row) != nil {
        incompleteCount -= 1
        for entry in entries where entry.row == row {
          if let property = entry.property { reason += "; \(property): \(entry.reason)" }
        }
        entries.removeAll { $0.row == row }
      }
      append(Entry(row: row, entity: entity, property: nil, reason: reason))
    }
  }

  /// Records that a row was taken without a value.
  mutating func omit(_ property: String, of row: ImportMapping.Key, _ entity: String, _ reason: String) {
    if incomplete.insert(row).inserted { incompleteCount += 1 }
    append(Entry(row: row, entity: entity, property: property, reason: reason))
  }

  private mutating func append(_ entry: Entry) {
    if entries.count < Self.maximumEntries { entries.append(entry) }
  }

  /// The entries as lines, and the number of the others.
  var lines: [String] {
    let shown = entries.prefix(Self.maximumLines).map { entry in
      // A subentity's rows are in the table of the root.
      let name = entry.entity == entry.row.root ? entry.entity : "\(entry.entity) (\(entry.row.root))"
      let what = entry.property.map { " without \($0)" }
      return "\(what == nil ? "skipped" : "imported") \(name) \(entry.row.key)\(what.orEmpty): \(entry.reason)"
    }
    let more = count - shown.count
    return shown + (more > 0 ? ["… and \(more) more"] : [])
  }

  /// The number of entries, at least.
  private var count: Int { max(entries.count, skippedCount + incompleteCount) }

  var summary: String {
    var parts = ["imported \(inserted)", "changed \(updated)", "unchanged \(unchanged)", "skipped \(skippedCount)"]
    if incompleteCount > 0 { parts.append("incomplete \(incompleteCount)") }
    if deleted > 0 { parts.append("deleted \(deleted)") }
    return parts.joined(separator: ", ")
  }

  var members: [JSON.Member] {
    let counts = [
      ("imported", inserted), ("changed", updated), ("unchanged", unchanged), ("deleted", deleted), ("kept", kept),
      ("overwritten", overwritten), ("skipped", skippedCount), ("incomplete", incompleteCount),
    ]
    let rows = entries.map { entry in
      JSON.object([
        .init("entity", .string(entry.entity)), .init("row", .integer(entry.row.key)),
        .init("property", entry.property.map(JSON.string) ?? .null), .init("reason", .string(entry.reason)),
      ])
    }
    return counts.map { JSON.Member($0.0, .integer(Int64($0.1))) } + [.init("problems", .array(rows))]
  }
}

extension String? {
  fileprivate var orEmpty: String { if let self { self } else { "" } }
}
