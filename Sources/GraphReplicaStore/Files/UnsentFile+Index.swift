// Tests: UnsentFileTests.swift, LongQueueTests.swift
import Foundation
import GRDB
import GraphModel
import GraphStore

/// The index from an object to the intents that name it, the log of the queue's changes, and the names that the server
/// has given.
///
/// The index has objects as the forms name them: an id, `new:NUMBER.PLACE` for an object that an intent inserts, and
/// `undo:NUMBER` for an intent that is undone.
extension UnsentFile {
  // MARK: - Index

  /// Adds an intent to the index.
  static func index(_ intent: Intent, _ database: Database) throws {
    var names = Set<String>()
    for id in intent.changes.flatMap(\.namedObjects) where !id.isTemporary { names.insert(name(of: id)) }
    if case .undoEdit(let number) = intent.content { names.insert("undo:\(number)") }
    try index(names, intent.number, database)
  }

  static func index(_ names: Set<String>, _ number: Int64, _ database: Database) throws {
    for name in names {
      try database.run("INSERT OR IGNORE INTO named (object, number) VALUES (?, ?)", [name, number])
    }
  }

  private static func name(of id: ObjectID) -> String {
    if let parts = ProvisionalID.parts(of: id) { return "new:\(parts.number).\(parts.place)" }
    return id.key.description
  }

  /// The objects that the changes of a form name, and perhaps texts that look like them, which do no harm.
  static func references(in json: JSON) -> Set<String> {
    switch json {
    case .string(let text):
      guard let slash = text.lastIndex(of: "/") else { return [] }
      let name = String(text[text.index(after: slash)...])
      return name.hasPrefix("new:") || UniqueID(name) != nil ? [name] : []
    case .array(let elements): return elements.reduce(into: []) { $0.formUnion(references(in: $1)) }
    case .object(let members): return members.reduce(into: []) { $0.formUnion(references(in: $1.value)) }
    default: return []
    }
  }

  /// The intents that may name an object which an intent inserts, or that undo it.
  static func dependents(naming number: Int64, _ database: Database) throws -> [Int64] {
    // The character behind the point is the slash.
    let statement = try database.cachedStatement(
      sql: """
        SELECT number FROM named WHERE object >= ? AND object < ? UNION SELECT number FROM named WHERE object = ?
        ORDER BY number
        """)
    let found = try Int64.fetchAll(statement, arguments: ["new:\(number).", "new:\(number)/", "undo:\(number)"])
    return found.filter { $0 != number }
  }

  /// The intents that name an object which an intent inserts, or that undo it.
  static func dependents(of number: Int64, _ database: Database, _ form: IntentForm) throws -> [Int64] {
    try dependents(naming: number, database).filter {
      try entry($0, database, form)?.intent?.prerequisites.contains(number) == true
    }
  }

  /// The edit that an intent undoes, if it was not answered.
  static func undone(by number: Int64, _ database: Database) throws -> [Int64] {
    let statement = try database.cachedStatement(sql: "SELECT object FROM named WHERE number = ? AND object >= 'undo:'")
    return try String.fetchAll(statement, arguments: [number]).compactMap { Int64($0.dropFirst("undo:".utf8.count)) }
  }

  // MARK: - Log

  /// The changes that are kept. Plans that follow none of them are made again.
  private static let keptChanges: Int64 = 20_000

  /// Logs that an intent was added, changed or removed.
  @discardableResult
  static func log(_ number: Int64, _ database: Database) throws -> Int64 {
    try database.run("INSERT INTO change (number) VALUES (?)", [number])
    let change = database.lastInsertedRowID
    try database.run("DELETE FROM change WHERE change <= ?", [change - keptChanges])
    return change
  }

  /// Logs an intent, and the one that it undoes, which is shown in another way, too.
  @discardableResult
  static func log(_ intent: Intent, _ database: Database) throws -> Int64 {
    for undone in try undone(by: intent.number, database) { try log(undone, database) }
    return try log(intent.number, database)
  }

  static func trimLog(_ database: Database) throws {
    try database.run("DELETE FROM change WHERE change <= ?", [try newestChange(database) - keptChanges])
  }

  static func newestChange(_ database: Database) throws -> Int64 {
    let statement = try database.cachedStatement(sql: "SELECT max(change) FROM change")
    let newest = try Int64.fetchOne(statement)
    return if let newest { newest } else { 0 }
  }

  /// The logged changes behind one; nil if the log does not reach that far.
  func changes(after change: Int64) throws -> [(change: Int64, number: Int64)]? {
    try read { database in
      guard let oldest = try Int64.fetchOne(database.cachedStatement(sql: "SELECT min(change) FROM change")) else {
        return change == 0 ? [] : nil
      }
      guard oldest <= change + 1 else { return nil }
      let statement = try database.cachedStatement(
        sql: "SELECT change, number FROM change WHERE change > ? ORDER BY change")
      return try GRDB.Row.fetchAll(statement, arguments: [change]).map { ($0[0], $0[1]) }
    }
  }

  // MARK: - Names

  /// The objects that the server has made of unsent ones.
  package struct MadeObjects: Sendable {
    /// The permanent ids, by the provisional ones.
    package var ids = [ObjectID: ObjectID]()
    /// The revisions at which the server has made them, by the provisional ids.
    package var revisions = [ObjectID: Revision]()

    mutating func add(_ id: ObjectID, _ permanent: UniqueID, _ entity: Entity, _ revision: Revision) {
      ids[id] = ObjectID(key: permanent, entity: entity.number)
      revisions[id] = revision
    }
  }

  /// All objects that the server has made.
  package func madeObjects(_ model: Model) throws -> MadeObjects {
    try read { database in
      var made = MadeObjects()
      for row in try GRDB.Row.fetchAll(database, sql: "SELECT provisional, permanent, entity, revision FROM name") {
        guard let old = UniqueID(bytes: Array(row[0] as Data)), let new = UniqueID(bytes: Array(row[1] as Data)),
          let entity = model.entity(named: row[2])
        else { continue }
        made.add(ObjectID(key: old, entity: entity.number), new, entity, row[3])
      }
      return made
    }
  }

  /// Those of some objects that the server has made.
  func madeObjects(of ids: [ObjectID], _ model: Model) throws -> MadeObjects {
    if ids.allSatisfy({ ProvisionalID.parts(of: $0) == nil }) { return MadeObjects() }
    return try read { try Self.madeObjects(of: ids, $0, model) }
  }

  static func madeObjects(of ids: [ObjectID], _ database: Database, _ model: Model) throws -> MadeObjects {
    var made = MadeObjects()
    for id in ids where ProvisionalID.parts(of: id) != nil {
      let statement = try database.cachedStatement(
        sql: "SELECT permanent, entity, revision FROM name WHERE provisional = ?")
      guard let row = try GRDB.Row.fetchOne(statement, arguments: [Data(id.key.bytes)]),
        let key = UniqueID(bytes: Array(row[0] as Data)), let entity = model.entity(named: row[1])
      else { continue }
      made.add(id, key, entity, row[2])
    }
    return made
  }

  /// The number that the server has assigned in place of a provisional one; nil if it has not.
  package func assignedNumber(for provisional: Int64) throws -> Int64? {
    try read { database in
      try Int64.fetchOne(
        database, sql: "SELECT number FROM assigned WHERE provisional = ?", arguments: [provisional])
    }
  }
}
