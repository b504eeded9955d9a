import CoreDataStore
import GraphClient
import GraphModel
import GraphReplica

/// Updates of rows that have an object.
extension CoreDataImporter {
  /// Sends the differences: those from values that were sent before, over changes of others, and then values of
  /// properties that were never sent, unless others have changed them.
  func update(_ differing: [RowKey]) async throws {
    let rows = (differing + changes.deferred).sorted()
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
      try await keepMembers(of: &items)
      do {
        if !items.isEmpty {
          let saved = try await commit(items.map(\.change), policy: part == .known ? .objectTrump : .storeTrump)
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
        report.skip(
          changes.reportKey(item.key), item.row.entity, "its object was deleted in the graph since the last import")
        continue
      }
      var row = item.row
      row.revision = committed.revision
      let key = changes.mappingKey(item.key)
      for id in gone {
        // The graph may have the earlier value, or a part of the new one.
        for property in item.properties(referringTo: id, shell.model) {
          row.sums[property.name] = mapping.mapping.rows[key]?.row.sums[property.name]
        }
      }
      lines.append(.row(key, id: item.change.id.key, row))
    }
    try mapping.record(lines + [.settled(committed.revision)])
    return gone
  }
}

/// Members of lists that the app never had: objects of others. An app's list decides about its own rows only.
extension CoreDataImporter {
  /// Adds the members that the app never had to the lists that updates set, and those whose rows the app has deleted
  /// but which can't be without the list's owner.
  func keepMembers(of items: inout [RowChanges.Item]) async throws {
    var owners = [PropertyNumber: [ObjectID]]()
    for item in items {
      for (_, property, _) in lists(of: item) { owners[property.number, default: []].append(item.change.id) }
    }
    var present = [PropertyNumber: [ObjectID: [ObjectID]]]()
    for (number, ids) in owners.sorted(by: { $0.key < $1.key }) {
      let property = shell.model.ownProperty(number)
      present[number] = try await lists(property, of: ids, in: shell.model.owner(of: property))
    }
    for index in items.indices {
      let id = items[index].change.id
      for (place, property, list) in lists(of: items[index]) {
        guard let members = present[property.number]?[id] else { continue }
        if isAsSent(members, property, of: items[index].key) {
          updates.intactLists[id, default: [:]][property.number] = .objects(members)
        }
        let others = Set(members.filter { isKept($0, in: property) })
        if others.isEmpty { continue }
        let isOrdered = property.relationship?.isOrdered == true
        let merged = isOrdered ? Self.list(list, adding: others, of: members) : others.union(list).sorted()
        items[index].change.edits[place].action = .set(.objects(merged))
      }
    }
  }

  /// Whether a list has the members that were sent for it, in their order, besides those of others.
  private func isAsSent(_ members: [ObjectID], _ property: Property, of key: RowKey) -> Bool {
    let rows = members.compactMap { mapping.mapping.keys[$0.key].flatMap(changes.rowKey) }
    let sent = mapping.mapping.rows[changes.mappingKey(key)]?.row.sums[property.name]
    return changes.sum(.members(rows), property) == sent
  }

  /// Whether a conflict is about a list of which the import has replaced its own members only.
  func isAboutOwnMembers(_ conflict: Conflict) -> Bool {
    updates.intactLists[conflict.id]?[conflict.property] == conflict.theirs
  }

  /// Whether a list keeps a member that the app does not have in it.
  private func isKept(_ member: ObjectID, in list: Property) -> Bool {
    guard let key = mapping.mapping.keys[member.key] else { return true }
    let isInApp = changes.rowKey(key).map(changes.existing.contains) == true
    let inverse = list.relationship.map { shell.model.inverse(of: $0) }
    return !isInApp && inverse?.relationship?.isToMany == false && inverse?.isOptional == false
  }

  /// The lists that an update sets, with the indices of their edits.
  private func lists(of item: RowChanges.Item) -> [(place: Int, property: Property, list: [ObjectID])] {
    item.change.edits.enumerated().compactMap { place, edit in
      guard case .set(.objects(let list)) = edit.action, let property = shell.model.property(edit.property) else {
        return nil
      }
      return (place, property, list)
    }
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

  /// The list with further members, each behind its nearest predecessor in `present` that the list has.
  private static func list(
    _ list: [ObjectID], adding others: Set<ObjectID>, of present: [ObjectID]
  ) -> [ObjectID] {
    let listed = Set(list)
    var (first, following) = ([ObjectID](), [ObjectID: [ObjectID]]())
    var predecessor: ObjectID?
    for id in present {
      if listed.contains(id) {
        predecessor = id
      } else if others.contains(id) {
        if let predecessor { following[predecessor, default: []].append(id) } else { first.append(id) }
      }
    }
    return first + list.flatMap { [$0] + following[$0, default: []] }
  }
}
