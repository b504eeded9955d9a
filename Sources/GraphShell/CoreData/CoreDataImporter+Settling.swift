import GraphClient
import GraphModel
import GraphWire

/// The end of an import that was killed: whether its last commit succeeded.
extension CoreDataImporter {
  /// The most commits of the log in one request.
  private static let commitsInOneRequest: Revision = 500

  /// Resolves a commit whose outcome an interrupted import did not learn.
  func settle(_ sending: ImportMapping.Sending) async throws {
    // The daemon may still be writing the last rows that the killed import has sent.
    var revision = try await self.revision(of: sending)
    if revision == nil {
      try await Task.sleep(for: Self.timeInFlight)
      revision = try await self.revision(of: sending)
    }
    if let revision {
      try await record(sending, of: revision)
    } else {
      try mapping.record([.settled(nil)])
    }
  }

  private static let timeInFlight = Duration.milliseconds(500)

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
    guard sending.after >= status.oldest else {
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
    let isEqual = inserted.map { shell.model.entityName($0.entity) } == sending.rows.map(\.row.entity)
    guard isEqual else {
      throw Refusal(
        .conflict,
        "revision \(revision) does not have the rows that an interrupted import sent; import into an empty graph with "
          + "another --mapping")
    }
    let lines = zip(sending.rows, inserted).map { sent, id in
      var row = sent.row
      row.revision = revision
      return ImportMapping.Line.row(sent.key, id: id.key, row)
    }
    try mapping.record(lines + [.settled(revision)])
  }
}
