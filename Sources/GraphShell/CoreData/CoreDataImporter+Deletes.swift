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

  /// Removes objects whose rows the app still has from the relationships of objects whose rows it has deleted: it has
  /// removed them before. Lists of which the other end is a to-one are left to the rows of their members, and those of
  /// objects to be deleted to the delete, unless its rule would deny it or take the members along.
  func detach(_ gone: [DeletedRow]) async throws {
    var parts = [ArraySlice<(key: ImportMapping.Key, change: Change, row: ImportMapping.Row)>]()
    let detached = gone.compactMap(detachment)
    for start in stride(from: 0, to: detached.count, by: batch) {
      parts.append(detached[start..<min(start + batch, detached.count)])
    }
    while let part = parts.popLast() {
      do {
        let saved = try await commit(part.map(\.change), policy: .storeTrump, part.map { ($0.key, $0.row) })
        let lines = part.map { ImportMapping.Line.row($0.key, id: $0.change.id.key, $0.row) }
        try mapping.record(lines + [.settled(saved.committed.revision)])
      } catch let refusal as Refusal where refusal.isAboutContents {
        // The refusal of the delete is reported.
        if part.count == 1 { continue }
        let middle = part.startIndex + part.count / 2
        parts += [part[middle...], part[..<middle]]
      }
    }
  }

  /// The change that removes the objects, and the row's record after it; nil if there are none.
  private func detachment(
    _ row: DeletedRow
  ) -> (key: ImportMapping.Key, change: Change, row: ImportMapping.Row)? {
    guard let entity = shell.model.entity(row.id.entity), var record = mapping.mapping.rows[row.key]?.row else {
      return nil
    }
    var edits = [Edit]()
    for property in entity.properties {
      guard let relationship = property.relationship, isDetached(relationship),
        let sent = changes.known(property, entity, record), relationship.isToMany || property.isOptional
      else { continue }
      let members = sent.rows.filter { key in
        changes.rowKey(key).map(changes.existing.contains) == true && changes.leaves(key, property, relationship)
      }
      let ids = members.compactMap { mapping.mapping.rows[$0]?.id }
        .map { ObjectID(key: $0, entity: relationship.destination) }
      if ids.isEmpty { continue }
      edits.append(
        Edit(property.number, relationship.isToMany ? .members(added: [], removed: ids.sorted()) : .set(.null)))
      record.sent[property.name] = .nothing
    }
    if edits.isEmpty { return nil }
    return (row.key, Change(.update, row.id, base: row.base, edits: edits), record)
  }

  private func isDetached(_ relationship: Relationship) -> Bool {
    if deletes { return relationship.deleteRule != .nullify }
    return relationship.isToMany && shell.model.inverse(of: relationship).relationship?.isToMany == true
  }

  /// Deletes the objects of rows, members before their owners. An object that others have changed since its row was
  /// last sent stays, and so does one whose delete would take along an object that stays.
  /// - Parameter isLast: whether the rows that can't be deleted are reported.
  /// - Returns: the rows that can't be deleted now: the delete is refused, or would take along objects that stay.
  func delete(_ gone: [DeletedRow], isLast: Bool) async throws -> [DeletedRow] {
    var (pending, refused) = (gone, [(row: DeletedRow, reason: String)]())
    var blocked = [(row: DeletedRow, member: ObjectID)]()
    var removable = Set(gone.map(\.id))
    let members = try await cascadeMembers(of: gone.map(\.id))
    while !pending.isEmpty {
      blocked = Self.blocked(pending, by: members, removable: removable)
      let waiting = Set(blocked.map(\.row.id))
      let free = pending.filter { !waiting.contains($0.id) }
      if free.isEmpty { break }
      let ids = Set(free.map(\.id))
      var next = free.filter { members[$0.id, default: []].isDisjoint(with: ids) }
      var kept = Set<ObjectID>()
      if next.isEmpty {
        next = Self.mutualMembers(free, members)
        kept = try await keepChanged(next)
      }
      if kept.isEmpty {
        let result = try await deleteOnce(next)
        refused += result.refused
        kept = result.kept
      } else {
        // The others of them would take the changed ones along, and wait for them.
        next.removeAll { !kept.contains($0.id) }
      }
      removable.subtract(kept)
      let done = Set(next.map(\.id))
      pending.removeAll { done.contains($0.id) }
    }
    if !refused.isEmpty { refused = try await recordTaken(refused) }
    if isLast {
      for (row, reason) in refused {
        report.skip(row.key, name(row.id), "it was deleted in the app, and its object stays: \(reason)")
      }
      for (row, member) in blocked {
        report.skip(
          row.key, name(row.id),
          "it was deleted in the app, and its object stays: \(name(member)) \(member.key), which stays, would be "
            + "deleted with it")
      }
    }
    return refused.map(\.row) + blocked.map(\.row)
  }

  /// The rows whose deletes would take along an object that stays, each with such an object.
  private static func blocked(
    _ rows: [DeletedRow], by members: [ObjectID: Set<ObjectID>], removable: Set<ObjectID>
  ) -> [(row: DeletedRow, member: ObjectID)] {
    var removable = removable
    var blocked = [(row: DeletedRow, member: ObjectID)]()
    var hasChanged = true
    while hasChanged {
      hasChanged = false
      for row in rows where removable.contains(row.id) {
        guard let member = members[row.id, default: []].filter({ !removable.contains($0) }).min() else { continue }
        removable.remove(row.id)
        blocked.append((row, member))
        hasChanged = true
      }
    }
    return blocked
  }

  /// Objects that are members of each other, directly or through further ones. No other member of theirs is left.
  /// - Parameter rows: rows that all have a member among them.
  private static func mutualMembers(_ rows: [DeletedRow], _ members: [ObjectID: Set<ObjectID>]) -> [DeletedRow] {
    let ids = Set(rows.map(\.id))
    func reached(from start: ObjectID) -> Set<ObjectID> {
      var (reached, open): (Set<ObjectID>, [ObjectID]) = ([], [start])
      while let id = open.popLast() {
        for member in members[id, default: []] where ids.contains(member) && reached.insert(member).inserted {
          open.append(member)
        }
      }
      return reached
    }
    precondition(!rows.isEmpty, "objects are members of each other")
    var set = reached(from: rows[0].id)
    // Members from which the whole set can't be reached have fewer members.
    while let smaller = set.lazy.map({ reached(from: $0) }).first(where: { $0.count < set.count }) { set = smaller }
    return rows.filter { set.contains($0.id) }
  }

  /// Reports the rows whose objects others have changed since the rows were last sent.
  /// - Returns: these objects.
  private func keepChanged(_ rows: [DeletedRow]) async throws -> Set<ObjectID> {
    var kept = Set<ObjectID>()
    for row in rows where try await hasChanged(row) {
      kept.insert(row.id)
      reportChanged(row)
    }
    return kept
  }

  private func hasChanged(_ row: DeletedRow) async throws -> Bool {
    do {
      let filter = HistoryFilter(object: row.id.key.description)
      let log = try await shell.client.readableLog(LogRequest(after: row.base, filter: filter, changes: 0))
      // A damaged commit may be one of others.
      return !log.damage.isEmpty || log.commits.contains { !mapping.mapping.commits.contains($0.revision) }
    } catch let refusal as Refusal where refusal.code == .pruned {
      return true
    }
  }

  private func reportChanged(_ row: DeletedRow) {
    report.skip(row.key, name(row.id), "it was deleted in the app, but changed in the graph: its object stays")
  }

  /// The objects that the graph has now and would delete with each of these: the members of relationships with the
  /// delete rule cascade.
  private func cascadeMembers(of owners: [ObjectID]) async throws -> [ObjectID: Set<ObjectID>] {
    var members = [ObjectID: Set<ObjectID>]()
    for (number, ids) in Dictionary(grouping: owners, by: \.entity).sorted(by: { $0.key < $1.key }) {
      guard let entity = shell.model.entity(number) else { continue }
      for property in entity.properties {
        guard let relationship = property.relationship, relationship.deleteRule == .cascade else { continue }
        for (owner, list) in try await lists(property, of: ids, in: entity) {
          members[owner, default: []].formUnion(list)
        }
      }
    }
    return members
  }

  /// The lists of objects in the graph, as far as they can be read.
  func lists(
    _ property: Property, of owners: [ObjectID], in entity: Entity
  ) async throws -> [ObjectID: [ObjectID]] {
    if property.slot == nil { return try await shell.members(of: property, owners: owners, omitsDamage: true) }
    var lists = [ObjectID: [ObjectID]]()
    for part in CommandContext.parts(of: owners) {
      let stream = shell.client.images(of: entity, where: .identifiers(part))
      stream.omitsDamage = true
      for try await chunk in stream {
        for image in chunk { lists[image.id] = image[property].objectIDs }
      }
    }
    return lists
  }

  /// Records the rows among refused deletes whose objects went along with their owners.
  /// - Returns: the others.
  private func recordTaken(
    _ refused: [(row: DeletedRow, reason: String)]
  ) async throws -> [(row: DeletedRow, reason: String)] {
    // An object that the user does not see may exist.
    if shell.seesPart { return refused }
    var present = Set<ObjectID>()
    for (number, rows) in Dictionary(grouping: refused, by: \.row.id.entity) {
      guard let entity = shell.model.entity(number) else { continue }
      for ids in CommandContext.parts(of: rows.map(\.row.id)) {
        present.formUnion(try await shell.client.identifiers(of: entity, where: .identifiers(ids)))
      }
    }
    let taken = refused.filter { !present.contains($0.row.id) }
    try mapping.record(taken.map { .gone($0.row.key) })
    report.deleted += taken.count
    return refused.filter { present.contains($0.row.id) }
  }

  /// Deletes objects of rows, many in a commit.
  /// - Returns: the rows whose deletes were refused, with the reason, and the objects that stay because others have
  ///   changed them.
  private func deleteOnce(
    _ rows: [DeletedRow]
  ) async throws -> (refused: [(row: DeletedRow, reason: String)], kept: Set<ObjectID>) {
    var parts = [[DeletedRow]]()
    for start in stride(from: 0, to: rows.count, by: batch) {
      parts.append(Array(rows[start..<min(start + batch, rows.count)]))
    }
    parts.reverse()
    var (refused, kept) = ([(row: DeletedRow, reason: String)](), Set<ObjectID>())
    while let part = parts.popLast() {
      do {
        let saved = try await commit(part.map { Change(.delete, $0.id, base: $0.base) }, policy: .error)
        try mapping.record(part.map { .gone($0.key) } + [.settled(saved.committed.revision)])
        report.deleted += part.count
      } catch let refusal as Refusal where refusal.isAboutContents {
        let conflicts = Dictionary(grouping: refusal.conflicts.filter { $0.kind == .changed }, by: \.id)
        if part.contains(where: { conflicts[$0.id] != nil }) {
          var next = [DeletedRow]()
          for row in part {
            guard let found = conflicts[row.id], let newest = found.map(\.revision).max() else {
              next.append(row)
              continue
            }
            // An own commit, which has changed the other end of a relationship, may follow one of others.
            if newest > row.base, found.allSatisfy(isOwn), try await !hasChanged(row) {
              next.append(DeletedRow(key: row.key, id: row.id, base: newest))
            } else {
              kept.insert(row.id)
              reportChanged(row)
            }
          }
          if !next.isEmpty { parts.append(next) }
          continue
        }
        if part.count > 1 {
          let middle = part.count / 2
          parts += [Array(part[middle...]), Array(part[..<middle])]
          continue
        }
        refused += part.map { ($0, refusal.message) }
      }
    }
    return (refused, kept)
  }

  private func name(_ id: ObjectID) -> String { shell.model.entityName(id.entity) }
}
