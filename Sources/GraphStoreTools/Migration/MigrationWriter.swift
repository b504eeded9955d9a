// Tests: MigrationTests.swift, MigrationFailureTests.swift
import Foundation
import GRDB
import GraphModel
import GraphStore

/// Applies a migration plan to the tables, inside the caller's transaction.
///
/// The order: add new columns under temporary names; compute their values with the old version's expressions, one
/// UPDATE per entity; rename old columns and tables; create new ones; clear ended references; compute derived values;
/// build indexes. Additions, renamings and removals rewrite no row, because a row's checksum is in the form of the
/// version that wrote it.
///
/// Foreign keys are off and verified at the end, so that a table can be dropped without SQLite deleting it row by
/// row.
struct MigrationWriter {
  let connection: Connection
  let plan: MigrationPlan
  let old: StoreLayout
  let new: StoreLayout
  /// Rows with changed values under kept numbers; they get a new checksum.
  var touched = [EntityNumber: RowSet]()
  /// The number of rewritten rows.
  private(set) var rewritten = 0
  /// The losses so far.
  private(set) var lost = [MigrationLoss]()
  var problems = [String]()
  /// The objects that violate the new version's rules.
  var breaches = MigrationViolations()

  var database: Database { connection.database }

  /// - Parameter highest: the highest numbers that the store has ever assigned.
  init(
    _ connection: Connection, plan: MigrationPlan, old: StoreLayout, number: Int64, since: Revision,
    highest: (entity: EntityNumber, property: PropertyNumber)
  ) {
    assert(number > 1, "a migration adds a version")
    self.connection = connection
    self.plan = plan
    self.old = old
    let numbers = Self.numbers(plan, old.numbers, highest)
    let version = StoreVersion(number: number, since: since, model: plan.new, numbers: numbers)
    let first = StoreVersion(number: number - 1, since: 0, model: plan.old, numbers: old.numbers)
    let earlier = old.versions.isEmpty ? [first] : old.versions
    new = StoreLayout(model: plan.new, numbers: numbers, versions: earlier + [version])
  }

  /// Kept parts keep their numbers; new ones get the next numbers, in the order of the model's.
  private static func numbers(
    _ plan: MigrationPlan, _ old: NumberAssignment, _ highest: (entity: EntityNumber, property: PropertyNumber)
  ) -> NumberAssignment {
    var (lastEntity, lastProperty) = highest
    var entities = [EntityNumber]()
    for number in 1...EntityNumber(plan.new.entities.count) {
      if let before = plan.entities[number] {
        entities.append(old.stored(entity: before))
      } else {
        lastEntity += 1
        entities.append(lastEntity)
      }
    }
    var properties = [PropertyNumber]()
    for number in 1...PropertyNumber(max(1, plan.new.propertyCount)) {
      guard let property = plan.new.property(number), property.attribute?.isTransient != true else {
        properties.append(0)
        continue
      }
      if let before = plan.kept(number) ?? plan.pairs[number] {
        properties.append(old.stored(property: before))
      } else {
        lastProperty += 1
        properties.append(lastProperty)
      }
    }
    return NumberAssignment(entities: entities, properties: properties)
  }

  /// Returns the highest numbers that any version has assigned.
  static func highest(_ layout: StoreLayout) -> (entity: EntityNumber, property: PropertyNumber) {
    var highest: (entity: EntityNumber, property: PropertyNumber) = (0, 0)
    func include(_ model: Model, _ numbers: NumberAssignment) {
      for entity in model.entities {
        highest.entity = max(highest.entity, numbers.stored(entity: entity.number))
        for property in entity.properties where property.attribute?.isTransient != true {
          highest.property = max(highest.property, numbers.stored(property: property.number))
        }
      }
    }
    include(layout.model, layout.numbers)
    for version in layout.versions { include(version.model, version.numbers) }
    return highest
  }

  /// Runs the same statements on empty tables, to determine the resulting schema.
  static func rehearse(_ database: Database, from old: Model, to new: Model) throws {
    let plan = try MigrationPlan.infer(from: old, to: new)
    SQLFunctions.register(on: database)
    let layout = try StoreVersions.layout(database, model: old)
    let number = Int64(max(1, layout.versions.count)) + 1
    var writer = MigrationWriter(
      Connection(database), plan: plan, old: layout, number: number, since: 1, highest: highest(layout))
    try writer.alter { _, _ in }
    try writer.writeVersion()
  }

  // MARK: - Complete migration

  /// - Parameter progress: called with the next step and the completed fraction.
  mutating func alter(_ progress: (_ step: String, _ done: Double) throws -> Void) throws {
    MigrationFunctions.register(on: database, plan)
    lost = try MigrationLossFinder(connection: connection, layout: old).findRemoved(plan)
    try progress("adding columns", 0.05)
    try addColumns(toNewTables: false)
    try progress("computing values", 0.1)
    try computeValues()
    try progress("renaming", 0.5)
    try dropParts()
    try endTables()
    try rename()
    try dropIndexes()
    try makeTables()
    try addColumns(toNewTables: true)
    try fillEdgeTables()
    try endReferences()
    try removeRows()
    try progress("computing derived values", 0.55)
    try fillMissingValues()
    try assignPositions()
    try computeDerivedValues()
    try recomputeCounts()
    try computeScopes()
    lost += try findReplaced()
    try progress("building indexes", 0.7)
    try fillFullTextIndexes()
    try findDuplicateKeys()
    // Shared keys make a unique index impossible, but the remaining checks still run, so that all problems are
    // reported.
    try makeIndexes(withKeys: breaches.isEmpty)
    try progress("sealing", 0.9)
    try rewriteChecksums()
  }

  func run(_ sql: String) throws { try database.execute(sql: sql) }

  mutating func count(_ rows: Int) { rewritten += rows }

  /// The old table of a new one's root; nil for a new root.
  func before(_ table: EntityTable) -> EntityTable? {
    plan.entities[table.root.number].flatMap { old.table(of: $0) }
  }

  /// The old column that this one continues.
  func before(_ column: EntityTable.Column, in table: EntityTable) -> EntityTable.Column? {
    plan.kept(column.property.number).flatMap { table.column(of: $0) }
  }

  /// The temporary name of a new column.
  func draft(_ column: EntityTable.Column) -> String {
    "_new.\(new.numbers.stored(property: column.property.number))"
  }

  /// Writes the version's rows; the first migration also writes those of the preceding model.
  func writeVersion() throws {
    for statement in StoreLayout.parts + StoreLayout.keyframes + [StoreVersions.creation] { try run(statement) }
    for version in old.versions.isEmpty ? new.versions : new.versions.suffix(1) {
      try database.execute(
        sql: "INSERT INTO _version (model, revision, numbers, sum) VALUES (?, ?, ?, ?)",
        arguments: [
          version.number, version.since, StoreVersion.text(version.model, version.numbers), StoreVersions.sum(version),
        ])
    }
    let number = try invariant(new.versions.last, "a migrated store has versions").number
    let (hash, source) = (plan.new.hash.bytes, plan.new.source)
    try database.execute(
      sql: "INSERT OR REPLACE INTO _model (number, hash, source, sum) VALUES (?, ?, ?, ?)",
      arguments: [number, Data(hash), source, StoreLayout.sum(model: hash, source: source)])
    // A store keeps its higher layout.
    let present = try LayoutVersion.read(database).layout
    try run(LayoutVersion(layout: max(present, StoreVersions.layout)).statement)
  }
}
