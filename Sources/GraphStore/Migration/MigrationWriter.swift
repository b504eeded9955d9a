import Foundation
import GRDB
import GRDBSQLite
import GraphModel

/// Carries a plan out on the tables, inside one transaction that somebody else begins and ends.
///
/// The order: new columns under names of their own; values, in the old version's words, set by set; old names give way to
/// new ones; what is new is made; references that end are let go; what the rules compute is computed; indexes come last.
/// What is only added, renamed or removed rewrites no row: a row's checksum goes by the version that it was written under.
///
/// Foreign keys are off, and verified at the end: a table goes without SQLite emptying it row by row.
struct MigrationWriter {
  let connection: Connection
  let plan: MigrationPlan
  let old: StoreLayout
  let new: StoreLayout
  /// Rows whose values have changed under numbers that stay: they get a new checksum.
  var touched = [EntityNumber: RowSet]()
  /// Rows that were rewritten.
  private(set) var rewritten = 0
  /// What is not in the new version as it was.
  private(set) var lost = [MigrationLoss]()
  var problems = [String]()
  /// What objects have against the new version.
  var breaches = MigrationBreaches()

  var database: Database { connection.database }

  /// - Parameter highest: the highest numbers that the store has ever given.
  init(
    _ connection: Connection, plan: MigrationPlan, old: StoreLayout, number: Int64, since: Revision,
    highest: (entity: EntityNumber, property: PropertyNumber)
  ) {
    self.connection = connection
    self.plan = plan
    self.old = old
    let numbers = Self.numbers(plan, old.numbers, highest)
    let version = StoreVersion(number: number, since: since, model: plan.new, numbers: numbers)
    let first = StoreVersion(number: number - 1, since: 0, model: plan.old, numbers: old.numbers)
    let earlier = old.versions.isEmpty ? [first] : old.versions
    new = StoreLayout(model: plan.new, numbers: numbers, versions: earlier + [version])
  }

  /// What goes on keeps its number; what is new gets the next ones, in the order of the model's.
  private static func numbers(
    _ plan: MigrationPlan, _ old: StoredNumbers, _ highest: (entity: EntityNumber, property: PropertyNumber)
  ) -> StoredNumbers {
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
    return StoredNumbers(entities: entities, properties: properties)
  }

  /// The highest numbers that versions have given.
  static func highest(_ layout: StoreLayout) -> (entity: EntityNumber, property: PropertyNumber) {
    var highest: (entity: EntityNumber, property: PropertyNumber) = (0, 0)
    func take(_ model: Model, _ numbers: StoredNumbers) {
      for entity in model.entities {
        highest.entity = max(highest.entity, numbers.stored(entity: entity.number))
        for property in entity.properties where property.attribute?.isTransient != true {
          highest.property = max(highest.property, numbers.stored(property: property.number))
        }
      }
    }
    take(layout.model, layout.numbers)
    for version in layout.versions { take(version.model, version.numbers) }
    return highest
  }

  /// The same statements on tables without a row: for whoever wants to know what they must come to.
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

  // MARK: - All of it

  /// - Parameter progress: told which step of how many begins.
  mutating func alter(_ progress: (_ step: String, _ done: Double) throws -> Void) throws {
    MigrationFunctions.register(on: database, plan)
    lost = try LossFinder(connection: connection, layout: old).gone(plan)
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
    try pair()
    try endReferences()
    try removeRows()
    try progress("computing derived values", 0.55)
    try fill()
    try place()
    try derive()
    try recount()
    lost += try findReplaced()
    try progress("building indexes", 0.7)
    try feedWords()
    try findShared()
    // Where objects share a key, its index can't be; the rest is still looked at, so that all of it is told.
    try makeIndexes(withKeys: breaches.isEmpty)
    try progress("sealing", 0.9)
    try sumAgain()
  }

  func run(_ sql: String) throws { try database.execute(sql: sql) }

  mutating func count(_ rows: Int) { rewritten += rows }

  /// The table that stands for a new one's root; nil for a new root.
  func before(_ table: EntityTable) -> EntityTable? {
    plan.entities[table.root.number].flatMap { old.table(of: $0) }
  }

  /// The column that goes on as this one.
  func before(_ column: EntityTable.Column, in table: EntityTable) -> EntityTable.Column? {
    plan.kept(column.property.number).flatMap { table.column(of: $0) }
  }

  /// What a new column is called before it has its name.
  func draft(_ column: EntityTable.Column) -> String {
    "_new.\(new.numbers.stored(property: column.property.number))"
  }

  /// The version's own rows: of the first migration also that of the model before.
  func writeVersion() throws {
    for statement in StoreLayout.parts + StoreLayout.wholes + [StoreVersions.creation] { try run(statement) }
    for version in old.versions.isEmpty ? new.versions : new.versions.suffix(1) {
      try database.execute(
        sql: "INSERT INTO _version (model, revision, numbers, sum) VALUES (?, ?, ?, ?)",
        arguments: [
          version.number, version.since, StoreVersion.text(version.model, version.numbers), StoreVersions.sum(version),
        ])
    }
    let (hash, source) = (plan.new.hash.bytes, plan.new.source)
    try database.execute(
      sql: "INSERT OR REPLACE INTO _model (number, hash, source, sum) VALUES (?, ?, ?, ?)",
      arguments: [new.versions.last?.number, Data(hash), source, StoreLayout.sum(model: hash, source: source)])
    // One that was pruned stays so.
    let isPruned = try HistoryFloor.isThere(connection)
    try run(LayoutMark(layout: isPruned ? HistoryFloor.layout : StoreVersions.layout).statement)
  }
}
