import CoreDataStore
import GraphModel

/// The result of an import: counts, and the rows and values that it could not take.
struct ImportReport {
  /// A row that was not taken, or not completely.
  struct Entry: Hashable {
    /// The root entity and the primary key.
    let row: ImportMapping.Key
    let entity: String
    /// The property that is missing; nil if the whole row is.
    let property: String?
    let reason: String
    var substitute = Substitute.nothing
  }

  /// The value of an object whose new value was not taken.
  enum Substitute {
    /// Null, no object, or the default of a required attribute of a new object.
    case nothing
    /// Another value of the row.
    case other
    /// One of several rows.
    case part
    /// The value that an earlier import has sent.
    case earlier
  }

  var inserted = 0
  var updated = 0
  var unchanged = 0
  var deleted = 0
  /// Rows that the app has deleted, whose objects stay.
  var kept = 0
  /// Unchanged rows whose objects were deleted in the graph.
  var absent = 0
  /// Values of others that the import has overwritten.
  var overwritten = 0
  /// Values of properties that earlier imports did not have, which others have changed: theirs stay.
  var yielded = 0
  /// The remarks about more than one row.
  var remarks = [StoreLayout.Remark]()
  /// The number of rows that were not taken because another row or object has their unique key, by the key's name.
  private var refusedKeys = [String: Int]()
  private(set) var skippedCount = 0
  private(set) var incompleteCount = 0
  /// The rows with entries, in the order in which they were reported; nil for a place of a row that has moved.
  private var rows = [ImportMapping.Key?]()
  private var entriesByRow = [ImportMapping.Key: (place: Int, entries: [Entry])]()

  /// The maximum number of entries in JSON output. A file has all of them.
  static let maximumEntries = 1_000
  /// The maximum number of entries in text output.
  static let maximumLines = 100

  /// All entries, those of a row together.
  var entries: [Entry] { rows.compactMap(\.self).flatMap { entries(of: $0) } }

  /// The number of entries.
  var count: Int { entriesByRow.values.reduce(0) { $0 + $1.entries.count } }

  private func entries(of row: ImportMapping.Key) -> [Entry] {
    if let known = entriesByRow[row] { known.entries } else { [] }
  }

  /// Records that a row was not taken. The values that it was already without become a part of the reason.
  mutating func skip(_ row: ImportMapping.Key, _ entity: String, _ reason: String) {
    let known = entries(of: row)
    // A row is skipped once, for the first reason.
    if known.contains(where: { $0.property == nil }) { return }
    let causes = known.compactMap { entry in entry.property.map { "; \($0): \(entry.reason)" } }
    if let place = entriesByRow[row]?.place {
      incompleteCount -= 1
      rows[place] = nil
    }
    skippedCount += 1
    let entry = Entry(row: row, entity: entity, property: nil, reason: reason + causes.joined())
    entriesByRow[row] = (rows.count, [entry])
    rows.append(row)
  }

  /// Records that a row was taken without a value.
  /// - Parameter substitute: what its object has instead.
  mutating func omit(
    _ property: String, of row: ImportMapping.Key, _ entity: String, _ reason: String,
    _ substitute: Substitute = .nothing
  ) {
    let known = entries(of: row)
    let entry = Entry(row: row, entity: entity, property: property, reason: reason, substitute: substitute)
    // The row is not taken at all, or the value was reported.
    if known.contains(where: { $0.property == nil || $0 == entry }) { return }
    if let place = entriesByRow[row]?.place {
      entriesByRow[row] = (place, known + [entry])
    } else {
      incompleteCount += 1
      entriesByRow[row] = (rows.count, [entry])
      rows.append(row)
    }
  }

  /// Counts a row that was not taken because another row or object has its unique key.
  mutating func refuseKey(_ name: String) { refusedKeys[name, default: 0] += 1 }

  /// One remark for each unique key, with the remedy for all of its rows.
  var keyRemarks: [StoreLayout.Remark] {
    refusedKeys.sorted { $0.key < $1.key }.map { name, count in
      StoreLayout.Remark(
        subject: name,
        reason: "rows are skipped because other rows or objects have their unique key; give them other values in the "
          + "app, or delete them there, and import again",
        count: count)
    }
  }

  /// The entries as lines, and the number of the others.
  var lines: [String] {
    let shown = entries.prefix(Self.maximumLines).map { entry in
      // A subentity's rows are in the table of the root.
      let name = entry.entity == entry.row.root ? entry.entity : "\(entry.entity) (\(entry.row.root))"
      let row = "\(name) \(entry.row.key)"
      guard let property = entry.property else { return "skipped \(row): \(entry.reason)" }
      return "imported \(row) \(entry.substitute.words) \(property): \(entry.reason)"
    }
    let more = count - shown.count
    return shown + (more > 0 ? ["… and \(more) more; --report FILE writes all of them"] : [])
  }

  var summary: String {
    var parts = ["imported \(inserted)", "changed \(updated)", "unchanged \(unchanged)", "skipped \(skippedCount)"]
    if incompleteCount > 0 { parts.append("incomplete \(incompleteCount)") }
    if deleted > 0 { parts.append("deleted \(deleted)") }
    return parts.joined(separator: ", ")
  }

  var members: [JSON.Member] {
    let counts = [
      ("imported", inserted), ("changed", updated), ("unchanged", unchanged), ("deleted", deleted), ("kept", kept),
      ("absent", absent), ("overwritten", overwritten), ("yielded", yielded), ("skipped", skippedCount),
      ("incomplete", incompleteCount), ("problemCount", count),
    ]
    return counts.map { JSON.Member($0.0, .integer(Int64($0.1))) }
      + [.init("problems", .array(entries.prefix(Self.maximumEntries).map(\.json)))]
  }
}

extension ImportReport.Substitute {
  /// The words before the name of the property.
  fileprivate var words: String {
    switch self {
    case .nothing: "without"
    case .other: "with another"
    case .part: "with a part of"
    case .earlier: "with the earlier"
    }
  }
}

extension ImportReport.Entry {
  var json: JSON {
    .object([
      .init("entity", .string(entity)), .init("row", .integer(row.key)),
      .init("property", property.map(JSON.string) ?? .null), .init("reason", .string(reason)),
    ])
  }
}
