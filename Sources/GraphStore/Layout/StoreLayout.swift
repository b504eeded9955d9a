import GraphModel

/// All tables of a store. Entities' tables carry the entities' names; everything else begins with an underscore.
struct StoreLayout: Sendable {
  /// "Stky", big-endian: tells a store from any other SQLite file.
  static let applicationID: Int32 = 0x5374_6B79
  /// The layout of the tables; a store with a higher one was written by a newer program. 2 added `_part`: a program that
  /// does not know it would take a batch for a commit without changes. 3 added `_whole`.
  static let version: Int32 = 3
  /// The highest that this program reads: that of a store whose history was pruned.
  static let newestVersion: Int32 = HistoryFloor.layout

  let model: Model
  /// The numbers that rows and history have.
  let numbers: StoredNumbers
  /// The versions that the model has had in this store, oldest first; empty for a store that was never migrated.
  let versions: [StoreVersion]
  /// From each of them to the next.
  let steps: [VersionStep]
  /// Derived attributes that their own object tells, and since which migration; those that always were are left out.
  private let expressions: [(property: Property, since: Revision)]
  /// The migrations that made something which no commit tells of.
  private(set) var mappedSteps = [MappedStep]()
  /// One for each inheritance root, in the order of their numbers.
  let orderedTables: [EntityTable]
  /// The table of each entity, by its number less one.
  private let tables: [EntityTable?]
  private let shapes: [EntityTable.Shape?]
  /// Whether any entity has a unique key.
  let hasUniqueKeys: Bool

  /// - Parameters:
  ///   - numbers: nil for a store that was made with the model.
  ///   - names: what tables and columns are called where an older version of the model reads the present tables.
  init(
    model: Model, numbers: StoredNumbers? = nil, versions: [StoreVersion] = [], names: StoredNames? = nil
  ) {
    self.model = model
    let numbers = numbers ?? .plain(model)
    self.numbers = numbers
    self.versions = versions
    let steps = zip(versions, versions.dropFirst()).map { VersionStep(from: $0, to: $1) }
    self.steps = steps
    expressions = steps.isEmpty ? [] : VersionStep.expressions(of: model, versions, steps)
    let roots = model.entities.filter { $0.root == $0.number }.sorted { $0.number < $1.number }
    orderedTables = roots.map { EntityTable(root: $0, model: model, numbers: numbers, names: names) }
    var tables = [EntityTable?](repeating: nil, count: model.entities.count)
    for table in orderedTables {
      for number in table.root.family { tables[Int(number) - 1] = table }
    }
    self.tables = tables
    shapes = tables.enumerated().map { index, table in table?.shape(of: EntityNumber(index + 1)) }
    hasUniqueKeys = shapes.contains { $0?.uniqueSlots.isEmpty == false }
    mappedSteps = findMappedSteps()
  }

  /// The attributes that their own object tells and that a migration behind a revision has made derived: of states before it they are
  /// computed, not read.
  func computed(behind revision: Revision) -> [Property] {
    guard revision < since, !expressions.isEmpty else { return [] }
    return expressions.filter { $0.since > revision }.map(\.property)
  }

  /// The first revision of the present version of the model.
  var since: Revision { versions.last?.since ?? 0 }

  /// The version that a commit was made under; nil for the present one.
  func version(of revision: Revision) -> StoreVersion? {
    guard revision < since else { return nil }
    return versions.last { $0.since <= revision }
  }

  /// The table that holds an entity's objects.
  func table(of entity: EntityNumber) -> EntityTable? {
    entity >= 1 && entity <= tables.count ? tables[Int(entity) - 1] : nil
  }

  /// How an entity's objects lie in its table.
  func shape(of entity: EntityNumber) -> EntityTable.Shape? {
    entity >= 1 && entity <= shapes.count ? shapes[Int(entity) - 1] : nil
  }

  /// The parts of batches' histories. Ids are found by the second index, which has them in order and no changes.
  static let parts = [
    """
    CREATE TABLE IF NOT EXISTS _part (revision INTEGER NOT NULL, number INTEGER NOT NULL, low BLOB NOT NULL, \
    high BLOB NOT NULL, changes BLOB NOT NULL, PRIMARY KEY (revision, number))
    """,
    "CREATE INDEX IF NOT EXISTS _part_ids ON _part (revision, low, high, number)",
  ]

  /// Which changes of an object hold it whole: an object's past is walked from the nearest of them.
  static let wholes = [
    """
    CREATE TABLE IF NOT EXISTS _whole (id BLOB NOT NULL, revision INTEGER NOT NULL, PRIMARY KEY (id, revision)) \
    WITHOUT ROWID
    """
  ]

  /// Commits that wanted a property otherwise and lost. Written where there was a conflict and never else; stores from
  /// before get the table with their first one, and a program that does not know it has no use for it.
  static let losses = """
    CREATE TABLE IF NOT EXISTS _lost (id BLOB NOT NULL, property INTEGER NOT NULL, revision INTEGER NOT NULL, \
    PRIMARY KEY (id, property, revision)) WITHOUT ROWID
    """

  var creation: [String] {
    [
      "CREATE TABLE _store (id BLOB NOT NULL, created INTEGER NOT NULL, sum INTEGER NOT NULL)",
      """
      CREATE TABLE _model (number INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, source TEXT NOT NULL, \
      sum INTEGER NOT NULL)
      """,
      "CREATE TABLE _author (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)",
      "CREATE TABLE _replica (number INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE)",
      // One row a commit. `counters` are the sequences' next numbers, so that nothing else is written for them.
      """
      CREATE TABLE _commit (revision INTEGER PRIMARY KEY, time INTEGER NOT NULL, author INTEGER NOT NULL, \
      replica INTEGER NOT NULL, sequence INTEGER NOT NULL, model INTEGER NOT NULL, fingerprint INTEGER NOT NULL, \
      undoes INTEGER, undo BLOB, outcome BLOB, counters BLOB NOT NULL, changes BLOB NOT NULL)
      """,
      "CREATE UNIQUE INDEX _commit_transaction ON _commit (replica, sequence)",
      "CREATE INDEX _commit_undoes ON _commit (undoes) WHERE undoes IS NOT NULL",
      // The revision up to which the full-text indexes are right; one row.
      "CREATE TABLE _words (revision INTEGER NOT NULL)",
      "INSERT INTO _words (revision) VALUES (0)",
      "CREATE TABLE _tombstone (id BLOB PRIMARY KEY, entity INTEGER NOT NULL, revision INTEGER NOT NULL) WITHOUT ROWID",
      Self.losses,
    ] + Self.parts + Self.wholes + orderedTables.flatMap { $0.creation(model: model) }
  }

  // MARK: - Checksums of what no commit covers

  static func sum(store id: UniqueID, created: Timestamp) -> Int64 {
    Int64(bitPattern: Checksum.of(id.bytes, seed: Checksum.seed ^ UInt64(bitPattern: created)))
  }

  static func sum(model hash: [UInt8], source: String) -> Int64 {
    Int64(bitPattern: Checksum.of(Array(source.utf8), seed: Checksum.of(hash)))
  }
}
