// Tests: OpeningTests.swift, CommitTests.swift
import GraphModel

/// All tables of a store. Entity tables have the entities' names; all other names begin with an underscore.
package struct StoreLayout: Sendable {
  /// "Stky", big-endian: distinguishes a store from other SQLite files.
  static let applicationID: Int32 = 0x5374_6B79
  /// The layout of the tables; a store with a higher one was written by a newer program. 2 added `_part`: a program
  /// without it would take a batch for a commit without changes. 3 added `_whole`; 4 and 5 were layouts of stores that
  /// had been migrated or pruned. 6 added `_log`: a program without it would ignore the commits that only the log has.
  package static let version: Int32 = 6

  package let model: Model
  /// The numbers in rows and history.
  package let numbers: NumberAssignment
  /// The store's model versions, oldest first; empty for a store that was never migrated.
  package let versions: [StoreVersion]
  /// The steps from each version to the next.
  let steps: [PastMigration]
  /// Attributes that a migration made derived and that depend only on their own object, with its revision.
  private let expressions: [(property: Property, since: Revision)]
  /// The migrations that changed objects without commits.
  private(set) var mappedSteps = [UnloggedMigrationStep]()
  /// The tables, one for each inheritance root, in the order of their numbers.
  package let orderedTables: [EntityTable]
  /// The table of each entity, indexed by its number minus one.
  private let tables: [EntityTable?]
  private let shapes: [EntityTable.EntityColumns?]
  /// Whether any entity has a unique key.
  let hasUniqueKeys: Bool

  /// - Parameters:
  ///   - numbers: the stored numbers; nil for a store that was created with the model.
  ///   - names: the names of tables and columns, if an older model version reads the present tables.
  package init(
    model: Model, numbers: NumberAssignment? = nil, versions: [StoreVersion] = [], names: TableNames? = nil
  ) {
    self.model = model
    let numbers = if let numbers { numbers } else { NumberAssignment.plain(model) }
    self.numbers = numbers
    self.versions = versions
    let steps = zip(versions, versions.dropFirst()).map { PastMigration(from: $0, to: $1) }
    self.steps = steps
    expressions = steps.isEmpty ? [] : PastMigration.expressions(of: model, versions, steps)
    let roots = model.entities.filter { $0.root == $0.number }.sorted { $0.number < $1.number }
    orderedTables = roots.map { EntityTable(root: $0, model: model, numbers: numbers, names: names) }
    var tables = [EntityTable?](repeating: nil, count: model.entities.count)
    for table in orderedTables {
      for number in table.root.family { tables[Int(number) - 1] = table }
    }
    assert(tables.allSatisfy { $0 != nil }, "each entity has a table")
    self.tables = tables
    shapes = tables.enumerated().map { index, table in table?.shape(of: EntityNumber(index + 1)) }
    hasUniqueKeys = shapes.contains { $0?.uniqueSlots.isEmpty == false }
    mappedSteps = findMappedSteps()
  }

  /// The attributes that a migration after a revision made derived and that depend only on their own object.
  ///
  /// In states before the migration they are computed, not read.
  func computed(behind revision: Revision) -> [Property] {
    guard revision < since, !expressions.isEmpty else { return [] }
    return expressions.filter { $0.since > revision }.map(\.property)
  }

  /// The first revision under the present model version.
  package var since: Revision {
    if let present = versions.last { present.since } else { 0 }
  }

  /// The model version of a commit; nil for the present one.
  func version(of revision: Revision) -> StoreVersion? {
    guard revision < since else { return nil }
    return versions.last { $0.since <= revision }
  }

  /// The table with an entity's objects.
  package func table(of entity: EntityNumber) -> EntityTable? {
    entity >= 1 && entity <= tables.count ? tables[Int(entity) - 1] : nil
  }

  /// The layout of an entity's objects in its table.
  func shape(of entity: EntityNumber) -> EntityTable.EntityColumns? {
    entity >= 1 && entity <= shapes.count ? shapes[Int(entity) - 1] : nil
  }

  /// The table of batch history parts. The second index finds ids, in order and without reading changes.
  package static let parts = [
    """
    CREATE TABLE IF NOT EXISTS _part (revision INTEGER NOT NULL, number INTEGER NOT NULL, low BLOB NOT NULL, \
    high BLOB NOT NULL, changes BLOB NOT NULL, PRIMARY KEY (revision, number))
    """,
    "CREATE INDEX IF NOT EXISTS _part_ids ON _part (revision, low, high, number)",
  ]

  /// The table of keyframes, from the nearest of which an object's past is read.
  package static let keyframes = [
    """
    CREATE TABLE IF NOT EXISTS _whole (id BLOB NOT NULL, revision INTEGER NOT NULL, PRIMARY KEY (id, revision)) \
    WITHOUT ROWID
    """
  ]

  /// The table of commits that lost a conflict over a property. It gets rows only from conflicts; older stores get
  /// the table with their first one, and programs that do not know it do not need it.
  static let overwrittenValues = """
    CREATE TABLE IF NOT EXISTS _lost (id BLOB NOT NULL, property INTEGER NOT NULL, revision INTEGER NOT NULL, \
    PRIMARY KEY (id, property, revision)) WITHOUT ROWID
    """

  package var creation: [String] {
    [
      "CREATE TABLE _store (id BLOB NOT NULL, created INTEGER NOT NULL, sum INTEGER NOT NULL)",
      """
      CREATE TABLE _model (number INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, source TEXT NOT NULL, \
      sum INTEGER NOT NULL)
      """,
      "CREATE TABLE _author (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)",
      "CREATE TABLE _replica (number INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE)",
      // One row per commit. `counters` has the sequences' next numbers, so that no other row is written for them.
      """
      CREATE TABLE _commit (revision INTEGER PRIMARY KEY, time INTEGER NOT NULL, author INTEGER NOT NULL, \
      replica INTEGER NOT NULL, sequence INTEGER NOT NULL, model INTEGER NOT NULL, fingerprint INTEGER NOT NULL, \
      undoes INTEGER, undo BLOB, outcome BLOB, counters BLOB NOT NULL, changes BLOB NOT NULL)
      """,
      "CREATE UNIQUE INDEX _commit_transaction ON _commit (replica, sequence)",
      "CREATE INDEX _commit_undoes ON _commit (undoes) WHERE undoes IS NOT NULL",
      // The revision up to which the full-text indexes are complete; one row.
      "CREATE TABLE _words (revision INTEGER NOT NULL)",
      "INSERT INTO _words (revision) VALUES (0)",
      "CREATE TABLE _tombstone (id BLOB PRIMARY KEY, entity INTEGER NOT NULL, revision INTEGER NOT NULL) WITHOUT ROWID",
      Self.overwrittenValues, LogMark.creation,
    ] + Self.parts + Self.keyframes + orderedTables.flatMap { $0.creation(model: model) }
  }

  // MARK: - Checksums of rows that no commit covers

  package static func sum(store id: UniqueID, created: Timestamp) -> Int64 {
    Int64(bitPattern: Checksum.of(id.bytes, seed: Checksum.seed ^ UInt64(bitPattern: created)))
  }

  package static func sum(model hash: [UInt8], source: String) -> Int64 {
    Int64(bitPattern: Checksum.of(Array(source.utf8), seed: Checksum.of(hash)))
  }
}
