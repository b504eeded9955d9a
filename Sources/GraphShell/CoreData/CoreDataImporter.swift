import CoreDataStore
import GraphClient
import GraphModel
import GraphReplica
import GraphWire

/// Imports a Core Data store: new rows as inserts, then differences as updates, then deletes, in commits of many rows.
///
/// The mapping records each commit after its answer, and the inserts of a commit before it: a row is never inserted
/// twice, however an import ends. Updates can be sent twice without harm. A row that the daemon refuses is reported,
/// and the others of its commit are sent again without it.
@MainActor
final class CoreDataImporter {
  typealias RowKey = StoreLayout.RowKey

  let shell: CommandContext
  let reader: SourceReader
  let mapping: ImportMappingFile
  private let progress: ProgressLine
  /// The most rows of a commit.
  let batch: Int
  private let deletes: Bool
  var changes: RowChanges
  var report = ImportReport()
  /// The newest revision that this import knows.
  var newest: Revision

  /// The most bytes of a commit, about; a single row may have more.
  private static let bytesInOneCommit = 4 << 20

  init(
    _ shell: CommandContext, _ reader: SourceReader, _ mapping: ImportMappingFile, batch: Int, deletes: Bool,
    progress: ProgressLine
  ) throws {
    precondition(batch > 0, "a commit of an import has rows")
    (self.shell, self.reader, self.mapping, self.batch) = (shell, reader, mapping, batch)
    (self.deletes, self.progress) = (deletes, progress)
    newest = shell.head.revision
    let keys = try reader.keys()
    changes = RowChanges(
      model: shell.model, reader: reader, members: try reader.members(), existing: Set(keys))
    self.keys = keys
  }

  private let keys: [RowKey]

  func run() async throws -> ImportReport {
    guard mapping.mapping.revision <= newest else {
      throw ProgramRefusal(
        "the graph is at revision \(newest), and the mapping \(mapping.path) at \(mapping.mapping.revision): the graph was "
          + "restored from a backup; import into an empty graph with another --mapping")
    }
    if let sending = mapping.mapping.sending { try await settle(sending) }
    let (groups, differing) = try compare()
    // Deletes come first, because they release unique keys. The deny rule may require the updates before them.
    let gone = try deletedRows()
    let denied = deletes ? try await delete(gone, isLast: false) : []
    try await insert(groups)
    try await update(differing)
    if !denied.isEmpty { _ = try await delete(denied, isLast: true) }
    if !deletes { report.kept += gone.count }
    progress.end()
    return report
  }

  // MARK: - Comparing

  /// Reads all rows and compares them with the mapping.
  /// - Returns: the new rows in the order of their insertion, and the rows that have changed.
  private func compare() throws -> (groups: [[RowKey]], differing: [RowKey]) {
    var order = InsertionOrder()
    var differing = [RowKey]()
    for (index, key) in keys.enumerated() {
      if index % 1_000 == 0 { progress.show("\(index) of \(keys.count) rows read") }
      let row: SourceRow
      do {
        row = try reader.row(key)
      } catch let unreadable as SourceReader.UnreadableRow {
        report.skip(changes.mappingKey(key), reader.root(key), unreadable.reason)
        changes.reject(key)
        continue
      }
      for problem in row.problems {
        report.omit(problem.property.name, of: changes.mappingKey(key), row.entity.name, problem.reason)
      }
      if let known = mapping.mapping.rows[changes.mappingKey(key)] {
        if changes.differs(row, from: known.row) { differing.append(key) } else { report.unchanged += 1 }
        continue
      }
      order.add(key)
      addReferences(of: row, to: &order)
    }
    return (order.groups(), differing)
  }

  private func addReferences(of row: SourceRow, to order: inout InsertionOrder) {
    for (property, content) in row.fields {
      guard case .reference(let target?) = content, let relationship = property.relationship else { continue }
      order.addReference(from: row.key, to: target, isRequired: !property.isOptional)
      // An owner that must have members is inserted together with them.
      if shell.model.inverse(of: relationship).requiresMember {
        order.addReference(from: target, to: row.key, isRequired: true)
      }
    }
    for property in row.entity.relationships where property.requiresMember {
      let lists: [RowKey: [RowKey]] = changes.members[property.number, default: [:]]
      for member in lists[row.key, default: []] {
        order.addReference(from: row.key, to: member, isRequired: true)
      }
    }
  }

  // MARK: - Inserts

  private func insert(_ groups: [[RowKey]]) async throws {
    var (part, count) = ([[RowKey]](), 0)
    for group in groups {
      if count > 0, count + group.count > batch {
        try await send(inserting: part)
        (part, count) = ([], 0)
      }
      part.append(group)
      count += group.count
    }
    try await send(inserting: part)
  }

  /// Sends groups of new rows; rows that the daemon refuses are reported.
  private func send(inserting groups: [[RowKey]]) async throws {
    var parts = [groups]
    while let part = parts.popLast() {
      let items = try changes.inserts(part.flatMap(\.self), mapping.mapping)
      if items.isEmpty { continue }
      if part.count > 1, Self.isTooLarge(items) {
        parts += Self.halves(part)
        continue
      }
      let rows = items.map { (key: changes.mappingKey($0.key), row: $0.row) }
      let replica = shell.client.context.replica.id
      try mapping.record([.sending(.init(replica: replica, after: newest, rows: rows))])
      do {
        let saved = try await commit(items.map(\.change), policy: .error)
        try record(items, saved.committed)
        report.inserted += items.count
        progress.show("\(report.inserted) rows imported")
      } catch let refusal as Refusal where refusal.isAboutContents {
        try mapping.record([.settled(nil)])
        parts += remaining(of: part, items, after: refusal)
      }
    }
  }

  private func record(_ items: [RowChanges.Item], _ committed: CommitResult) throws {
    let ids = Dictionary(
      committed.identities.map { ($0.temporary, $0.permanent) }, uniquingKeysWith: { first, _ in first })
    var lines = [ImportMapping.Line]()
    for item in items {
      let id = try invariant(ids[item.change.id], "an insert has a permanent id")
      var row = item.row
      row.revision = committed.revision
      lines.append(.row(changes.mappingKey(item.key), id: id.key, row))
    }
    try mapping.record(lines + [.settled(committed.revision)])
  }

  private static func isTooLarge(_ items: [RowChanges.Item]) -> Bool {
    items.reduce(0) { $0 + $1.size } > bytesInOneCommit
  }

  /// Two halves; the last one is sent first. A group is divided only if it is alone.
  private static func halves(_ groups: [[RowKey]]) -> [[[RowKey]]] {
    let parts = groups.count == 1 ? groups.flatMap { $0.map { [$0] } } : groups
    let middle = parts.count / 2
    return [Array(parts[middle...]), Array(parts[..<middle])]
  }

  func commit(_ changes: [Change], policy: MergePolicy) async throws -> SaveResult {
    let undo = UndoGroup(scope: shell.client.context.replica.id, group: 1, name: "Import")
    let saved = try await shell.client.commit(changes, policy: policy, undo: undo)
    newest = max(newest, saved.committed.revision)
    report.overwritten += saved.committed.conflicts.count { $0.kind == .changed && $0.mineWon && !isOwn($0) }
    return saved
  }

  /// Whether a conflict is with an import's own commit, which may change the other end of a relationship.
  func isOwn(_ conflict: Conflict) -> Bool { mapping.mapping.commits.contains(conflict.revision) }

  /// The rows to send after a refusal: without those, or without the values, that it names. If it names none, the
  /// rows are sent in halves, until one is left.
  private func remaining(of part: [[RowKey]], _ items: [RowChanges.Item], after refusal: Refusal) -> [[[RowKey]]] {
    let byID = Dictionary(items.map { ($0.change.id, $0) }, uniquingKeysWith: { first, _ in first })
    var refused = [RowKey: String]()
    var isReduced = false
    for violation in refusal.violations {
      guard let item = byID[violation.id], refused[item.key] == nil else { continue }
      let property = shell.model.property(violation.property)
      if let property, violation.commonRule != .unique, omit(property, of: item, violation.message) {
        isReduced = true
      } else {
        refused[item.key] = violation.message
      }
    }
    for conflict in refusal.conflicts where conflict.kind == .deleted {
      for item in items {
        for property in item.properties(referringTo: conflict.id, shell.model)
        where omit(property, of: item, Self.deletedTarget) {
          isReduced = true
        }
      }
    }
    if refused.isEmpty, !isReduced {
      if items.count > 1 { return Self.halves(part) }
      for item in items { refused[item.key] = refusal.message }
    }
    for item in items {
      guard let reason = refused[item.key] else { continue }
      report.skip(changes.mappingKey(item.key), item.row.entity, reason)
      changes.reject(item.key)
    }
    let rest = part.map { $0.filter { refused[$0] == nil } }.filter { !$0.isEmpty }
    return rest.isEmpty ? [] : [rest]
  }

  private static let deletedTarget = "it refers to an object that was deleted in the graph"

  /// Leaves a value out that the daemon refuses.
  /// - Returns: false if the row is not possible without it.
  private func omit(_ property: Property, of item: RowChanges.Item, _ reason: String) -> Bool {
    guard let entity = shell.model.entity(item.change.id.entity),
      item.change.edits.contains(where: { $0.property == property.number }),
      property.isOptional || !entity.initialValue(property).isNull,
      changes.exclude(property.number, of: item.key)
    else { return false }
    report.omit(property.name, of: changes.mappingKey(item.key), item.row.entity, reason)
    return true
  }

  // MARK: - Updates

  private func update(_ differing: [RowKey]) async throws {
    let rows = (differing + changes.deferred).sorted()
    let changed = Set(differing)
    var lost = [RowChanges.LostReference]()
    for start in stride(from: 0, to: rows.count, by: batch) {
      var parts = [rows[start..<min(start + batch, rows.count)].map { [$0] }]
      while let part = parts.popLast() {
        var references = [RowChanges.LostReference]()
        let items = try changes.updates(part.flatMap(\.self), mapping.mapping, lost: &references)
        if part.count > 1, Self.isTooLarge(items) {
          parts += Self.halves(part)
          continue
        }
        do {
          if !items.isEmpty {
            let saved = try await commit(items.map(\.change), policy: .objectTrump)
            try record(updated: items, changed, saved.committed)
          }
        } catch let refusal as Refusal where refusal.isAboutContents {
          parts += remaining(of: part, items, after: refusal)
          continue
        }
        let sent = Set(items.map(\.key))
        report.unchanged += part.joined().count { changed.contains($0) && !sent.contains($0) }
        lost += references
        progress.show("\(start + part.count) of \(rows.count) rows compared")
      }
    }
    for reference in lost {
      report.omit(reference.property, of: changes.mappingKey(reference.key), reference.entity, reference.reason)
    }
  }

  private func record(
    updated items: [RowChanges.Item], _ changed: Set<RowKey>, _ committed: CommitResult
  ) throws {
    let gone = Set(committed.conflicts.filter { $0.kind == .deleted }.map(\.id))
    var lines = [ImportMapping.Line]()
    for item in items {
      if gone.contains(item.change.id) {
        report.skip(
          changes.mappingKey(item.key), item.row.entity, "its object was deleted in the graph since the last import")
        continue
      }
      var row = item.row
      row.revision = committed.revision
      for id in gone {
        for property in item.properties(referringTo: id, shell.model) {
          report.omit(property.name, of: changes.mappingKey(item.key), row.entity, Self.deletedTarget)
          // The next import tries it again.
          row.sums[property.name] = nil
        }
      }
      lines.append(.row(changes.mappingKey(item.key), id: item.change.id.key, row))
      if changed.contains(item.key) { report.updated += 1 }
    }
    try mapping.record(lines + [.settled(committed.revision)])
  }
}

extension RowChanges.Item {
  /// The approximate size of the change, in bytes.
  fileprivate var size: Int { change.edits.reduce(64) { $0 + $1.approximateSize } }

  /// The relationships that the change sets to an object, or to a list with it.
  fileprivate func properties(referringTo id: ObjectID, _ model: Model) -> [Property] {
    change.edits.compactMap { edit in
      guard case .set(let value) = edit.action, value.objectIDs.contains(id) else { return nil }
      return model.property(edit.property)
    }
  }
}

extension Entity {
  /// The value of a property in a new object; null for one that is not stored.
  func initialValue(_ property: Property) -> Value {
    guard let slot = property.slot else { return .null }
    return initialValues[slot]
  }
}

extension Refusal {
  /// Whether the daemon refuses these objects, and may accept others.
  var isAboutContents: Bool {
    switch code {
    case .invalid, .unique, .denied, .conflict, .limit, .malformed, .notFound: true
    case .unavailable, .notAllowed, .pruned, .cancelled: false
    }
  }
}
