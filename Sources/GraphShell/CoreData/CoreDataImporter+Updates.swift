import CoreDataStore
import GraphClient
import GraphModel
import GraphReplica

/// Updates of rows that have an object.
extension CoreDataImporter {
  /// Sends the differences: those from values that were sent before, over changes of others, and then values of
  /// properties that were never sent, unless others have changed them.
  func update(_ differing: [RowKey]) async throws {
    let rows = try (differing + changes.deferred).sorted().filter { key in
      if !changes.absent.contains(key) { return true }
      if updates.gone.insert(key).inserted { try skipDeleted(key) }
      return false
    }
    for key in rows where updates.bases[key] == nil {
      updates.bases[key] = mapping.mapping.rows[changes.mappingKey(key)]?.row.revision
    }
    var lost = [RowChanges.LostReference]()
    for part in [RowChanges.Part.known, .unknown] {
      for start in stride(from: 0, to: rows.count, by: batch) {
        let end = min(start + batch, rows.count)
        lost += try await update(rows[start..<end], part)
        progress.show("\(end) of \(rows.count) rows compared")
      }
    }
    let ended = Set(differing).subtracting(changes.postponed)
    report.updated += ended.intersection(updates.sent).count
    report.unchanged += ended.subtracting(updates.sent).subtracting(updates.gone).count {
      !changes.rejected.contains($0)
    }
    for reference in lost {
      report.omit(
        reference.property, of: changes.reportKey(reference.key), reference.entity, reference.reason,
        reference.isKept ? .earlier : .nothing)
    }
  }

  /// - Returns: the references that can't be made.
  private func update(_ rows: ArraySlice<RowKey>, _ part: RowChanges.Part) async throws -> [RowChanges.LostReference] {
    var lost = [RowChanges.LostReference]()
    var parts = [rows.map { [$0] }]
    while let groups = parts.popLast() {
      var references = [RowChanges.LostReference]()
      var items = try changes.updates(
        groups.flatMap(\.self), part, mapping.mapping, bases: updates.bases, lost: &references)
      if groups.count > 1, Self.isTooLarge(items) {
        parts += Self.halves(groups)
        continue
      }
      if part == .known { try await mergeLists(of: &items) }
      let settled = items.filter(\.change.edits.isEmpty)
      try mapping.record(settled.map { .row(changes.mappingKey($0.key), id: $0.change.id.key, $0.row) })
      items.removeAll(where: \.change.edits.isEmpty)
      do {
        if !items.isEmpty {
          let policy: MergePolicy = part == .known ? .objectTrump : .storeTrump
          let records = items.map { (key: changes.mappingKey($0.key), row: $0.row) }
          let saved = try await commit(items.map(\.change), policy: policy, records)
          let deleted = try record(updated: items, saved.committed)
          // Their objects have kept other values than those that were sent.
          let incomplete = items.filter { item in
            !deleted.contains(item.change.id)
              && deleted.contains { !item.properties(referringTo: $0, shell.model).isEmpty }
          }
          let rows = deleted.compactMap { mapping.mapping.keys[$0.key] }.compactMap(changes.rowKey)
          if changes.leaveOut(rows), !incomplete.isEmpty { parts.append(incomplete.map { [$0.key] }) }
          for item in items {
            if deleted.contains(item.change.id) {
              updates.gone.insert(item.key)
            } else {
              updates.sent.insert(item.key)
            }
          }
        }
      } catch let refusal as Refusal where refusal.isAboutContents {
        parts += try remaining(of: groups, items, after: refusal)
        continue
      }
      lost += references
    }
    return lost
  }

  /// - Returns: the objects that were deleted in the graph, of the rows or of references.
  private func record(updated items: [RowChanges.Item], _ committed: CommitResult) throws -> Set<ObjectID> {
    let gone = Set(committed.conflicts.filter { $0.kind == .deleted }.map(\.id))
    var lines = [ImportMapping.Line]()
    for item in items {
      if gone.contains(item.change.id) {
        try skipDeleted(item.key)
        continue
      }
      var row = item.row
      row.revision = committed.revision
      let key = changes.mappingKey(item.key)
      for id in gone {
        // The graph may have the earlier value, or a part of the new one.
        for property in item.properties(referringTo: id, shell.model) {
          row.sent[property.name] = mapping.mapping.rows[key]?.row.sent[property.name]
        }
      }
      lines.append(.row(key, id: item.change.id.key, row))
    }
    try mapping.record(lines + [.settled(committed.revision)])
    return gone
  }

  private func skipDeleted(_ key: RowKey) throws {
    let known = try invariant(mapping.mapping.rows[changes.mappingKey(key)], "an updated row is in the mapping")
    report.skip(
      changes.reportKey(key), known.row.entity, "its object was deleted in the graph since the last import")
  }

  /// Replaces lists by the app's changes of them.
  private func mergeLists(of items: inout [RowChanges.Item]) async throws {
    var owners = [PropertyNumber: [ObjectID]]()
    for item in items {
      for edit in item.change.edits {
        guard let property = shell.model.property(edit.property), property.relationship?.isOrdered == true else {
          continue
        }
        owners[property.number, default: []].append(item.change.id)
      }
    }
    var present = [PropertyNumber: [ObjectID: [ObjectID]]]()
    for (number, ids) in owners.sorted(by: { $0.key < $1.key }) {
      let property = shell.model.ownProperty(number)
      present[number] = try await lists(property, of: ids, in: shell.model.owner(of: property))
    }
    for index in items.indices {
      let (id, key) = (items[index].change.id, changes.mappingKey(items[index].key))
      items[index].change.edits = items[index].change.edits.flatMap { edit -> [Edit] in
        guard case .set(.objects(let members)) = edit.action, let property = shell.model.property(edit.property),
          let entity = shell.model.entity(id.entity), let known = mapping.mapping.rows[key],
          let sent = changes.known(property, entity, known.row)
        else { return [edit] }
        return changes.listEdits(
          property, from: sent, to: members, present: present[edit.property]?[id], mapping.mapping)
      }
    }
  }
}
