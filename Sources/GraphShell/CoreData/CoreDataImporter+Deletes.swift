import CoreDataStore
import GraphModel

/// Deletes of objects whose rows the app has deleted.
extension CoreDataImporter {
  /// A row that the store no longer has, with its object.
  struct DeletedRow {
    let key: ImportMapping.Key
    let id: ObjectID
    /// The revision of the last commit that sent it.
    var base: Revision
  }

  /// - Parameters:
  ///   - absent: the rows whose objects the graph no longer has.
  ///   - present: the objects that the user sees.
  func deletedRows(
    _ absent: Set<ImportMapping.Key>, _ present: [UniqueID: EntityNumber]
  ) throws -> [DeletedRow] {
    var gone = [DeletedRow]()
    var forgotten = [ImportMapping.Key]()
    var dropped = [String: Int]()
    for (key, known) in mapping.mapping.rows {
      // The app has no table of an entity that it has dropped.
      let row = changes.rowKey(key)
      if let row, try changes.existing.contains(row) || reader.exists(row) { continue }
      if absent.contains(key) {
        forgotten.append(key)
        continue
      }
      // The mapping has the entity's name at the last import, which a user who does not see the object has to rely on.
      guard let entity = present[known.id] ?? entity(known.row.entity)?.number else { continue }
      if row == nil { dropped[known.row.entity, default: 0] += 1 }
      gone.append(DeletedRow(key: key, id: ObjectID(key: known.id, entity: entity), base: known.row.revision))
    }
    for (name, count) in dropped.sorted(by: { $0.key < $1.key }) {
      report.remarks.append(
        StoreLayout.Remark(
          subject: name, reason: "the store no longer has this entity; its rows count as deleted in the app",
          count: count))
    }
    // Neither the app nor the graph has them.
    if !forgotten.isEmpty { try mapping.record(forgotten.map { .gone($0) }) }
    return gone.sorted { ($0.key.root, $0.key.key) < ($1.key.root, $1.key.key) }
  }

  /// The entity of the model that a row had at the last import, which may have another name since.
  private func entity(_ name: String) -> Entity? {
    shell.model.entity(named: name) ?? shell.model.entities.first { $0.renamed == name }
  }

  /// Deletes the objects of rows. An object that others have changed since its row was last sent stays.
  /// - Parameter isLast: whether refused deletes are reported.
  /// - Returns: the rows whose deletes were refused.
  func delete(_ gone: [DeletedRow], isLast: Bool) async throws -> [DeletedRow] {
    var parts = [[DeletedRow]]()
    for start in stride(from: 0, to: gone.count, by: batch) {
      parts.append(Array(gone[start..<min(start + batch, gone.count)]))
    }
    parts.reverse()
    var refused = [DeletedRow]()
    while let part = parts.popLast() {
      do {
        let saved = try await commit(part.map { Change(.delete, $0.id, base: $0.base) }, policy: .storeTrump)
        var kept = [ObjectID: Conflict]()
        for conflict in saved.committed.conflicts where conflict.kind == .changed && !conflict.mineWon {
          kept[conflict.id] = conflict
        }
        let deleted = part.filter { kept[$0.id] == nil }
        try mapping.record(deleted.map { .gone($0.key) } + [.settled(saved.committed.revision)])
        report.deleted += deleted.count
        var again = [DeletedRow]()
        for row in part {
          guard let conflict = kept[row.id] else { continue }
          if isOwn(conflict), conflict.revision > row.base {
            again.append(DeletedRow(key: row.key, id: row.id, base: conflict.revision))
          } else {
            report.skip(row.key, name(row.id), "it was deleted in the app, but changed in the graph: its object stays")
          }
        }
        if !again.isEmpty { parts.append(again) }
      } catch let refusal as Refusal where refusal.isAboutContents {
        if part.count > 1 {
          let middle = part.count / 2
          parts += [Array(part[middle...]), Array(part[..<middle])]
          continue
        }
        refused += part
        for row in part where isLast {
          report.skip(row.key, name(row.id), "it was deleted in the app, and its object stays: \(refusal.message)")
        }
      }
    }
    return refused
  }

  private func name(_ id: ObjectID) -> String { shell.model.entityName(id.entity) }
}
