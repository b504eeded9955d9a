import GraphModel
import GraphReplica
import GraphShell
import StickiesFiles
import StickiesKit

/// The result of a run over a folder, for the report.
struct FolderSyncResult {
  var edited = 0
  var added = 0
  var deleted = 0
  var written = NoteFolder.WriteCounts()
  var conflicts = [FolderChanges.Conflict]()
  /// Files whose edits were merged with the present note, because the history since the file was written has been
  /// pruned.
  var compared = [String]()
  /// Deleted files whose notes still exist.
  var missing = [String]()
  /// Files with edits that an export does not send.
  var unsent = [String]()
  var skipped = [FolderChanges.SkippedFile]()
  /// The damaged notes and tags that the files lack.
  var damage = DamageNotice()
}

/// One run over a folder: sends the edits of the files and writes the notes into the files.
@MainActor
struct FolderSync {
  let shell: CommandContext
  let folder: NoteFolder
  let progress: ProgressLine
  /// Approximate maximum size of a transaction, in bytes; the rest of a folder is sent in further ones.
  private static let maximumTransactionSize = 8 << 20
  /// Maximum number of comparisons after concurrent changes.
  private static let maximumAttempts = 10

  // MARK: - Export

  /// Writes a board's notes. Before the first export, the folder must not contain notes.
  func export(_ board: UniqueID) async throws -> FolderSyncResult {
    var list: FolderManifest
    if let known = try folder.list() {
      list = known
      guard list.board == board else {
        throw Refusal(.denied, "\(folder.path) has the notes of another board; export into another folder")
      }
      try await verify(list)
      try await resolvePendingCommit(&list)
    } else {
      guard try folder.files().isEmpty else {
        throw Refusal(
          .denied,
          "\(folder.path) has .md files that export did not write, and they would become notes; export into another "
            + "folder, and copy them there if you want that")
      }
      list = FolderManifest(token: try await shell.client.status().head, board: board)
      // From here on the folder belongs to the board, even if the run is interrupted.
      try folder.write(list)
    }
    let notes = try await NoteFileConverter(shell)
    var result = FolderSyncResult()
    try await write(try await compare(list, notes), isExport: true, &result)
    return result
  }

  // MARK: - Synchronization

  /// Sends the edits of the files, then writes the notes.
  /// - Parameter deletes: whether notes of deleted files are deleted, unless they have changed since.
  func synchronize(deletes: Bool) async throws -> FolderSyncResult {
    guard var list = try folder.list() else {
      throw Refusal(
        .notFound, "\(folder.path) is not a folder of notes; make one with: stickies export --board BOARD --to DIR")
    }
    try await verify(list)
    try await resolvePendingCommit(&list)
    var result = FolderSyncResult()
    var attempts = 0
    var (old, revived) = (Set<UniqueID>(), Set<UniqueID>())
    while true {
      let notes = try await NoteFileConverter(shell)
      let found = try await compare(list, notes, revived: revived)
      list = found.changes.list
      old.formUnion(found.old)
      let leaving = deletes ? found.changes.missing.filter(\.isUnchanged) : []
      guard !found.changes.edits.isEmpty || !found.changes.new.isEmpty || !leaving.isEmpty else {
        if deletes { result.skipped += found.changes.missing.map(Self.changedSince) }
        if !deletes { result.missing = found.changes.missing.map(\.file) }
        try await write(found, isExport: false, &result)
        return result
      }
      do {
        try await send(found.changes.placed(beside: found.notes), leaving, notes, &list, &result)
        result.compared += found.changes.edits.filter { old.contains($0.theirs.id) }.map(\.file)
      } catch let refusal as Refusal where [.conflict, .unique, .pruned].contains(refusal.code) {
        // Another client has committed first: nothing was written, and everything is compared again.
        list.sending = nil
        revived.formUnion(refusal.conflicts.filter { $0.kind == .deleted }.map(\.id.key))
        attempts += 1
        if attempts == Self.maximumAttempts { throw refusal }
      }
    }
  }

  private static func changedSince(_ missing: FolderChanges.DeletedFile) -> FolderChanges.SkippedFile {
    .init(
      file: missing.file,
      reason: "its note was changed since the file was written, and is not deleted; export writes the file again")
  }

  /// Commits as many of the changes as fit into one transaction.
  private func send(
    _ changes: FolderChanges, _ leaving: [FolderChanges.DeletedFile], _ notes: NoteFileConverter,
    _ list: inout FolderManifest,
    _ result: inout FolderSyncResult
  ) async throws {
    assert(list.sending == nil, "an interrupted commit is settled before the next one")
    var draft = NoteFileConverter.Draft()
    var edits = [FolderChanges.Edit]()
    var new = [(file: FolderChanges.NewFile, origin: String)]()
    var size = 0
    for edit in changes.edits where size < Self.maximumTransactionSize {
      notes.edit(edit, &draft)
      size += 200 + edit.merge.splices.reduce(0) { $0 + $1.insertion.utf8.count }
      edits.append(edit)
    }
    for file in changes.new where size < Self.maximumTransactionSize {
      let origin = "file:\(UniqueID(high: .random(in: 1 ... .max), low: .random(in: 0 ... .max)))"
      notes.insert(file, on: list.board, origin: origin, &draft)
      size += 400 + file.note.text.utf8.count
      new.append((file, origin))
    }
    var deleted = 0
    for missing in leaving where size < Self.maximumTransactionSize {
      notes.delete(missing, &draft)
      size += 100
      deleted += 1
    }
    let head = try await shell.client.status().head
    list.send(edits: edits, new: new, replica: shell.client.context.replica.id, after: head.revision)
    try folder.write(list)
    progress.show("sending \(draft.changes.count) changes")
    try await shell.client.commit(draft.changes, policy: .error)
    list.completeSending(notes: try await NoteFileConverter(shell).notes(origins: new.map(\.origin)))
    try folder.write(list)
    result.edited += edits.count
    result.added += new.count
    result.deleted += deleted
  }

  // MARK: - Comparing and writing

  /// The result of a comparison. `old` are notes whose edits are merged with the present state because their history
  /// was pruned.
  private typealias ComparisonResult = (
    changes: FolderChanges, notes: [NoteSnapshot], old: [UniqueID], damage: DamageNotice
  )

  private func compare(
    _ list: FolderManifest, _ notes: NoteFileConverter, revived: Set<UniqueID> = []
  ) async throws -> ComparisonResult {
    progress.show("comparing")
    let board = ObjectID(key: list.board, entity: BoardProperties.entity.number)
    guard try await !shell.images(of: BoardProperties.entity, where: .identifiers([board])).isEmpty else {
      throw Refusal(.notFound, "the board of \(folder.path) has been deleted; undo brings it back")
    }
    let here = try await notes.notes(of: list.board)
    let known = here.unreadable.union(here.notes.map(\.id))
    let elsewhere = try await notes.notes(list.entries.map(\.id).filter { !known.contains($0) })
    var damage = here.damage
    damage.formUnion(elsewhere.damage)
    var list = list
    let oldest = try await shell.client.status().oldest
    let old = list.detach(upTo: oldest, from: here.notes + elsewhere.notes, revived: revived)
    let changes = FolderChanges(
      of: try folder.files(), list: list, notes: here.notes, elsewhere: elsewhere.notes,
      unreadable: here.unreadable.union(elsewhere.unreadable))
    return (changes, here.notes, old, damage)
  }

  private func write(_ found: ComparisonResult, isExport: Bool, _ result: inout FolderSyncResult) async throws {
    progress.show("writing")
    let writing = FolderWritePlan(found.changes, notes: found.notes, isExport: isExport)
    var list = found.changes.list
    list.token = try await shell.client.status().head
    result.conflicts = found.changes.conflicts
    result.damage.formUnion(found.damage)
    result.unsent = writing.unsent
    result.skipped += found.changes.skipped + writing.skipped
    do {
      result.written = try folder.perform(writing.steps, &list)
    } catch {
      try? folder.write(list)
      throw error
    }
    try folder.write(list)
  }

  // MARK: - Interrupted runs

  /// Checks that the folder was written from this store, and that the store still has the state from which it was
  /// written.
  private func verify(_ list: FolderManifest) async throws {
    let advice = "export into another folder, and copy your edits there by hand"
    let status = try await shell.client.status()
    let head = status.head
    guard head.store == list.token.store else {
      throw Refusal(.denied, "\(folder.path) has the notes of another store; \(advice)")
    }
    let revision = list.token.revision
    guard revision > 0 else { return }
    guard revision <= head.revision else {
      throw Refusal(.denied, "the store is at revision \(head.revision), \(folder.path) is at \(revision); \(advice)")
    }
    // The commit was pruned, so it can't be compared. Differences are merged with the present state.
    guard revision > status.oldest else { return }
    // A damaged commit can't be compared either.
    let commit = try await shell.client.readableLog(
      LogRequest(after: revision - 1, limit: 1, through: revision, changes: 0)
    ).commits.first
    guard let commit, commit.revision == revision, commit.fingerprint != list.token.fingerprint else { return }
    throw Refusal(.denied, "the store was restored, and its history differs from that of \(folder.path); \(advice)")
  }

  /// Resolves a commit whose outcome an interrupted run did not learn.
  private func resolvePendingCommit(_ list: inout FolderManifest) async throws {
    guard let sending = list.sending else { return }
    let status = try await shell.client.status()
    let head = status.head.revision
    let origins = sending.files.compactMap(\.origin)
    let written = try await NoteFileConverter(shell).notes(origins: origins)
    var isCommitted = !written.isEmpty
    var after = max(sending.after, status.oldest)
    while after < head, !isCommitted {
      let through = min(after + 500, head)
      let commits = try await shell.client.log(after: after, through: through, limit: 500, changes: 0)
      isCommitted = commits.contains { $0.transaction.replica == sending.replica }
      after = through
    }
    if isCommitted {
      list.completeSending(notes: written)
    } else if sending.after < status.oldest, sending.files.count > origins.count {
      throw Refusal(
        .pruned,
        "an earlier run was interrupted while it sent the edits of \(folder.path), and the history up to revision "
          + "\(status.oldest), which recorded whether they arrived, was pruned: sending them again might duplicate "
          + "them. Rename the folder, export the board into a new one, and copy the missing edits by hand")
    } else {
      list.sending = nil
    }
    try folder.write(list)
  }
}
