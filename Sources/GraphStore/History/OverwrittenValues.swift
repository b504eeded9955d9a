// Tests: ValueOriginTests.swift, MergePolicyTests.swift
import GRDBSQLite
import GraphModel

/// The commits that lost a conflict over a property. The lost values are in the commits' outcomes. `_lost` only
/// points to these commits, because they may not have changed the object at all.
struct OverwrittenValues {
  let connection: Connection
  let numbers: NumberAssignment

  private static let insert = SQL("INSERT OR IGNORE INTO _lost (id, property, revision) VALUES (?, ?, ?)")
  private static let creation = SQL(StoreLayout.overwrittenValues)

  /// Whether the table exists.
  static func tableExists(_ connection: Connection) throws -> Bool {
    try connection.hasTable("_lost")
  }

  /// Records the conflicts that a commit lost.
  func record(_ conflicts: [Conflict], of revision: Revision) throws {
    let lost = conflicts.filter { $0.isLoss }
    // An older store gets the table with the first conflict that loses a value.
    if lost.isEmpty { return }
    try connection.run(Self.creation)
    for conflict in lost {
      let row = try connection.statement(Self.insert)
      row.bind(1, conflict.id.key)
      row.bind(2, Int64(numbers.stored(property: conflict.property)))
      row.bind(3, revision)
      try connection.run(row)
    }
  }

  /// Returns the values that lost to the one a commit gave a property, oldest first.
  ///
  /// These are the values that the commit itself overwrote, and values of later commits that lost to it.
  func losers(of property: PropertyNumber, of id: ObjectID, to winner: Revision) throws -> [ValueOrigin
    .OverwrittenValue]
  {
    var losers = [ValueOrigin.OverwrittenValue]()
    let commits = CommitAuthors(connection)
    for conflict in try conflicts(of: winner) where conflict.mineWon && conflict.isAbout(property, of: id) {
      var loser = ValueOrigin.OverwrittenValue(
        value: conflict.theirs, revision: conflict.revision, time: 0, author: conflict.author)
      // The commit that lost may have been pruned.
      if let commit = try commits.stamp(of: conflict.revision) { loser.time = commit.time }
      losers.append(loser)
    }
    for revision in try revisions(of: property, of: id, after: winner) {
      guard let commit = try commits.stamp(of: revision) else { continue }
      for conflict in try conflicts(of: revision) where conflict.isLoss && conflict.isAbout(property, of: id) {
        losers.append(.init(value: conflict.mine, revision: revision, time: commit.time, author: commit.author))
      }
    }
    return losers.suffix(ValueOrigin.maximumOverwrittenValues)
  }

  /// In ascending order; if there are too many, the newest ones.
  private func revisions(of property: PropertyNumber, of id: ObjectID, after winner: Revision) throws -> [Revision] {
    guard try Self.tableExists(connection) else { return [] }
    let row = try connection.statement(
      "SELECT revision FROM _lost WHERE id = ? AND property = ? AND revision > ? ORDER BY revision DESC LIMIT ?")
    row.bind(1, id.key)
    row.bind(2, Int64(numbers.stored(property: property)))
    row.bind(3, winner)
    row.bind(4, Int64(ValueOrigin.maximumOverwrittenValues))
    defer { sqlite3_reset(row.statement) }
    var found = [Revision]()
    while try connection.step(row) { found.append(row.integer(0)) }
    return found.reversed()
  }

  private func conflicts(of revision: Revision) throws -> [Conflict] {
    let row = try connection.statement("SELECT outcome FROM _commit WHERE revision = ?")
    row.bind(1, revision)
    defer { sqlite3_reset(row.statement) }
    guard try connection.step(row), !row.isNull(0) else { return [] }
    return numbers.present(try CommitResult(binary: row.blob(0))).conflicts
  }
}

extension Conflict {
  /// Whether the conflict prevented a value from being stored.
  package var isLoss: Bool { !mineWon && property != 0 && kind != .deleted }

  fileprivate func isAbout(_ property: PropertyNumber, of id: ObjectID) -> Bool {
    self.property == property && self.id == id
  }
}
