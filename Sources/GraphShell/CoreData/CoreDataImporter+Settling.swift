import GraphClient
import GraphModel
import GraphWire

/// The end of an import that was killed: whether its last commit succeeded.
extension CoreDataImporter {
  /// The most commits of the log in one request.
  private static let commitsInOneRequest: Revision = 500

  /// The refusal that ends an import, with the advice to repeat it if the outcome of its last commit is not known.
  nonisolated static func repeatable(_ refusal: Refusal) -> Refusal {
    var refusal = refusal
    guard refusal.isOutcomeUnknown else { return refusal }
    refusal.message = refusal.message.replacing(
      "check before you repeat it", with: "run the import again, which inserts no row twice")
    return refusal
  }

  /// Resolves a commit whose outcome an interrupted import did not learn.
  /// - Throws: `ProgramRefusal` if another user has sent it, and it may still be committed.
  func settle(_ sending: ImportMapping.Sending) async throws {
    var revision = try await self.revision(of: sending)
    if revision == nil {
      try await waitForWriter(sending)
      revision = try await self.revision(of: sending)
    }
    if let revision {
      try await record(sending, of: revision)
    } else {
      try mapping.record([.settled(nil)])
    }
  }

  /// Waits until the daemon has committed or refused the rows that the killed import has sent.
  ///
  /// They may still wait for the daemon's writer, for as long as the batch of another client takes. The writer keeps
  /// the order of one user's requests, so it answers this one after the rows. A batch without objects makes no commit.
  private func waitForWriter(_ sending: ImportMapping.Sending) async throws {
    guard sending.user == user else {
      // Changes of objects can be sent twice.
      if !hasNewRows(sending) { return }
      let sender: String = if let name = sending.user { name } else { "the owner of the daemon" }
      throw ProgramRefusal(
        "\(sender) has run an import that was interrupted while it sent \(Output.count(sending.rows.count, "row")), which "
          + "may still arrive; run the import once as that user, or import into an empty graph with another --mapping")
    }
    switch shell.client.address {
    case .unix: break
    // This request may overtake what the system still sends of the killed process.
    case .tcp, .tls: try await Task.sleep(for: .seconds(2))
    }
    let entity = try invariant(shell.model.entities.first, "a model has an entity")
    let batch = try await shell.client.batchDelete(entity, where: .never)
    newest = max(newest, batch.committed.revision)
  }

  /// The user whose requests the daemon's writer keeps in order; nil for the owner of the daemon.
  var user: String? { shell.client.rights.map(\.user) }

  /// The revision of a commit that an earlier import sent; nil if the log does not have it.
  /// - Throws: a refusal `pruned` if the log no longer shows it.
  private func revision(of sending: ImportMapping.Sending) async throws -> Revision? {
    let status = try await shell.client.status()
    let head = status.head.revision
    newest = max(newest, head)
    var after = max(sending.after, status.oldest)
    while after < head {
      let through = min(after + Self.commitsInOneRequest, head)
      let commits = try await shell.client.log(
        LogRequest(
          after: after, limit: UInt64(Self.commitsInOneRequest), through: through, oldestFirst: true, changes: 0))
      if let commit = commits.first(where: { $0.transaction.replica == sending.replica }) { return commit.revision }
      after = through
    }
    guard sending.after >= status.oldest || !hasNewRows(sending) else {
      throw Refusal(
        .pruned,
        "an earlier import was interrupted while it sent \(Output.count(sending.rows.count, "row")), and the history up "
          + "to revision \(status.oldest), which recorded whether they arrived, was pruned; import into an empty graph "
          + "with another --mapping")
    }
    return nil
  }

  /// Records the ids of a commit of the log. Ids rise in the order of a commit's inserts.
  private func record(_ sending: ImportMapping.Sending, of revision: Revision) async throws {
    let entry = try await shell.client.log(after: revision - 1, through: revision, limit: 1).first
    let inserted: [ObjectID] =
      if let entry { entry.changes.filter { $0.kind == .inserted }.map(\.id).sorted() } else { [] }
    let new = sending.rows.filter { mapping.mapping.rows[$0.key] == nil }
    let isEqual = inserted.map { shell.model.entityName($0.entity) } == new.map(\.row.entity)
    guard isEqual else {
      throw Refusal(
        .conflict,
        "revision \(revision) does not have the rows that an interrupted import sent; import into an empty graph with "
          + "another --mapping")
    }
    let ids = Dictionary(uniqueKeysWithValues: zip(new.map(\.key), inserted.map(\.key)))
    var lines = [ImportMapping.Line]()
    for (key, row) in sending.rows {
      let id = try invariant(ids[key] ?? mapping.mapping.rows[key]?.id, "a row that is not new has an object")
      var row = row
      row.revision = revision
      lines.append(.row(key, id: id, row))
    }
    try mapping.record(lines + [.settled(revision)])
  }

  /// Whether a commit has rows that must not be sent twice.
  private func hasNewRows(_ sending: ImportMapping.Sending) -> Bool {
    sending.rows.contains { mapping.mapping.rows[$0.key] == nil }
  }
}
