import CoreDataStore
import GraphClient
import GraphModel
import GraphReplica
import GraphWire

/// Imports a Core Data store: deletes, then new rows as inserts, then differences as updates, in commits of many rows.
///
/// The mapping records each commit before it is sent, and after its answer: a row is never inserted twice, however an
/// import ends, and no commit of an import counts as that of another client. A row that the daemon refuses is reported,
/// and the others of its commit are sent again without it.
@MainActor
final class CoreDataImporter {
  typealias RowKey = StoreLayout.RowKey

  let shell: CommandContext
  let reader: SourceReader
  let mapping: ImportMappingFile
  let progress: ProgressLine
  /// The most rows of a commit.
  let batch: Int
  /// Whether objects are deleted whose rows the app has deleted.
  let deletes: Bool
  /// Whether rows are imported again whose objects were deleted in the graph.
  let again: Bool
  var changes: RowChanges
  /// The rows that have several others where the graph has one object.
  let sharedMembers: [RowChanges.SharedMember]
  var report = ImportReport()
  /// The newest revision that this import knows.
  var newest: Revision
  /// The rows whose updates may release a unique key. A row that needs such a key waits.
  var releasing = Set<RowKey>()
  /// The rows that the app has deleted and whose objects can't be deleted yet.
  private var waiting = [DeletedRow]()
  /// Those of their objects whose deletes may release a unique key.
  var releasingObjects = Set<ObjectID>()
  var updates = UpdateState()
  /// The rows of groups that are too large for one commit, with the reason for a row that is refused therefore.
  var divided = [RowKey: String]()

  /// The state of updates, in which a row may be sent several times.
  struct UpdateState {
    /// The revisions that they are based on: those before the first one of each row.
    var bases = [RowKey: Revision]()
    /// The rows with a change.
    var sent = Set<RowKey>()
    /// The rows whose objects were deleted.
    var gone = Set<RowKey>()
  }

  /// The most bytes of a commit, about; a single row may have more.
  private static let bytesInOneCommit = 4 << 20

  init(
    _ shell: CommandContext, _ reader: SourceReader, _ mapping: ImportMappingFile, batch: Int, deletes: Bool,
    again: Bool, progress: ProgressLine
  ) throws {
    precondition(batch > 0, "a commit of an import has rows")
    (self.shell, self.reader, self.mapping, self.batch) = (shell, reader, mapping, batch)
    (self.deletes, self.again, self.progress) = (deletes, again, progress)
    newest = shell.head.revision
    let keys = try reader.keys()
    var members = try reader.members()
    sharedMembers = RowChanges.separateShared(&members, shell.model)
    changes = RowChanges(
      model: shell.model, reader: reader, roots: mapping.mapping.roots, members: members, existing: Set(keys))
    self.keys = keys
  }

  let keys: [RowKey]

  func run() async throws -> ImportReport {
    guard mapping.mapping.revision <= newest else {
      throw ProgramRefusal(
        "the graph is at revision \(newest), and the mapping \(mapping.path) at \(mapping.mapping.revision): the graph was "
          + "restored from a backup; import into an empty graph with another --mapping")
    }
    if let sending = mapping.mapping.sending { try await settle(sending) }
    let present = try await presentObjects()
    try nameRoots(present)
    try await forgetLostValues()
    let absent = absentRows(present)
    let (groups, differing) = try compare(absent)
    // Deletes come first, because they release unique keys. Some require the updates: the deny rule, and objects that
    // the app has moved to another owner before it deleted theirs.
    let gone = try deletedRows(absent, present)
    try await detach(gone)
    if deletes {
      waiting = gone
      _ = try await deleteWaiting()
    }
    releasing = Set(differing)
    try await insert(groups)
    try await update(differing)
    _ = try await deleteWaiting()
    try await sendPostponed(groups, differing)
    _ = try await deleteWaiting(isLast: true)
    if !deletes { report.kept += gone.count }
    try recordModel()
    progress.end()
    return report
  }

  /// Sends rows again that have waited for unique keys of other rows.
  private func sendPostponed(_ groups: [[RowKey]], _ differing: [RowKey]) async throws {
    changes.isPartial = true
    var rows = changes.takePostponed()
    var isLast = false
    while !rows.isEmpty {
      // Then the rows that still lack a key are reported.
      releasing = isLast ? [] : rows
      // A new row may have its object, and wait for a reference to another one.
      let new = groups.map { $0.filter { rows.contains($0) && mapping.mapping.rows[changes.mappingKey($0)] == nil } }
      try await insert(new.filter { !$0.isEmpty })
      try await update(differing.filter(rows.contains))
      let rest = changes.takePostponed()
      assert(!isLast || rest.isEmpty, "without a key to be released no row waits")
      let hasDeleted = try await deleteWaiting()
      isLast = rest.count >= rows.count && !hasDeleted
      if isLast { releasingObjects = [] }
      rows = rest
    }
  }

  /// - Returns: whether an object was deleted.
  private func deleteWaiting(isLast: Bool = false) async throws -> Bool {
    if waiting.isEmpty { return false }
    let count = waiting.count
    waiting = try await delete(waiting, isLast: isLast)
    releasingObjects = Set(waiting.map(\.id))
    return waiting.count < count
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
      do {
        let saved = try await commit(items.map(\.change), policy: .error, rows)
        try record(items, saved.committed)
        report.inserted += items.count
        progress.show("\(report.inserted) rows imported")
      } catch let refusal as Refusal where refusal.isAboutContents {
        parts += try remaining(of: part, items, after: refusal)
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

  static func isTooLarge(_ items: [RowChanges.Item]) -> Bool {
    items.reduce(0) { $0 + $1.size } > bytesInOneCommit
  }

  /// Two halves; the last one is sent first. A group is divided only if it is alone.
  static func halves(_ groups: [[RowKey]]) -> [[[RowKey]]] {
    let parts = groups.count == 1 ? groups.flatMap { $0.map { [$0] } } : groups
    let middle = parts.count / 2
    return [Array(parts[middle...]), Array(parts[..<middle])]
  }

  /// Sends a commit. The mapping has it before, so that the next import recognizes it if this one is killed; the caller
  /// records its outcome.
  /// - Parameter rows: the new and the changed rows.
  func commit(
    _ changes: [Change], policy: MergePolicy, _ rows: [(key: ImportMapping.Key, row: ImportMapping.Row)] = []
  ) async throws -> SaveResult {
    let replica = shell.client.context.replica.id
    try mapping.record([.sending(.init(replica: replica, user: user, after: newest, rows: rows))])
    let saved: SaveResult
    do {
      let undo = UndoGroup(scope: replica, group: 1, name: "Import")
      saved = try await shell.client.commit(changes, policy: policy, undo: undo)
    } catch let refusal as Refusal where refusal.isAboutContents {
      try mapping.record([.settled(nil)])
      throw refusal
    }
    newest = max(newest, saved.committed.revision)
    if policy == .storeTrump, changes.contains(where: { $0.kind == .update }) {
      report.yielded += saved.committed.conflicts.count { $0.kind == .changed && !$0.mineWon && !isOwn($0) }
    }
    report.overwritten += saved.committed.conflicts.count {
      $0.kind == .changed && $0.mineWon && !isOwn($0)
    }
    return saved
  }

  /// Whether a conflict is with an import's own commit, which may change the other end of a relationship.
  func isOwn(_ conflict: Conflict) -> Bool { mapping.mapping.commits.contains(conflict.revision) }
}

extension RowChanges.Item {
  /// The approximate size of the change, in bytes.
  fileprivate var size: Int { change.edits.reduce(64) { $0 + $1.approximateSize } }

  /// The relationships that the change sets to an object, or in which it makes it a member.
  func properties(referringTo id: ObjectID, _ model: Model) -> [Property] {
    change.edits.compactMap { edit in
      let refers =
        switch edit.action {
        case .set(let value): value.objectIDs.contains(id)
        case .members(let added, _): added.contains(id)
        case .place(let objects, _): objects.contains(id)
        case .splice: false
        }
      return refers ? model.property(edit.property) : nil
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
