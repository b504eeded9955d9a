// Tests: MirrorOverlayTests.swift, LongQueueTests.swift
import GRDBSQLite
import GraphModel

/// The keys of the index from objects to plans: a plan depends on each key that it has read or changed.
///
/// An object has its id. The objects that refer to one, and the holder of a unique key, may be others at any time, so
/// they have keys of their own, which a commit of the server touches by the values that it writes.
enum OverlayKey {
  static func object(_ id: ObjectID) -> [UInt8] { id.key.bytes }

  /// The objects that refer to an object.
  static func referrers(to id: ObjectID) -> [UInt8] { id.key.bytes + [1] }

  /// The object with these values for a unique key.
  static func unique(_ constraint: [PropertyNumber], _ values: [Value]) -> [UInt8] {
    var bytes = [UInt8]()
    for number in constraint { withUnsafeBytes(of: UInt64(number).littleEndian) { bytes += $0 } }
    for value in values { bytes += value.binary }
    return withUnsafeBytes(of: Checksum.of(bytes).littleEndian) { Array($0) }
  }

  /// The keys that an object of the mirror touches by its values.
  static func keys(of image: ObjectImage, _ model: Model) -> [[UInt8]] {
    var keys = image.values.flatMap(\.objectIDs).map(referrers)
    guard let entity = model.entity(image.id.entity) else { return keys }
    for constraint in entity.uniquenessConstraints {
      let values = constraint.compactMap { entity.property($0).map { image[$0] } }
      if values.count == constraint.count, !values.contains(.null) { keys.append(unique(constraint, values)) }
    }
    return keys
  }
}

/// The index from an object to the edits whose plans have read or changed it, in the overlay's file.
struct OverlayIndex {
  let connection: Connection

  // MARK: - Recording

  /// Records a plan.
  /// - Parameters:
  ///   - reads: the keys of what it has read.
  ///   - edit: the planned edit.
  ///   - id: the shown id of an object of the edit.
  func record(
    _ planned: PlannedEdit, reads: Set<[UInt8]>, _ edit: UnsentEdit, _ model: Model, id: (ObjectID) throws -> ObjectID
  ) throws {
    var writes = Set<[UInt8]>()
    var isRefused = true
    if case .success(let plan) = planned.result {
      isRefused = false
      writes = Set(plan.changes.map { OverlayKey.object($0.id) })
    }
    let row = try connection.statement(
      "INSERT OR REPLACE INTO overlay._plan (number, revision, refused) VALUES (?, ?, ?)")
    row.bind(1, planned.number)
    row.bind(2, planned.revision)
    row.bind(3, Value.bool(isRefused))
    try connection.run(row)
    for key in writes { try add(key, planned.number, writes: true) }
    for key in reads where !writes.contains(key) { try add(key, planned.number, writes: false) }
    for change in edit.transaction.changes {
      for part in change.edits where model.property(part.property)?.attribute?.kind == .text {
        try addText(id(change.id), part.property, planned.number)
      }
    }
  }

  private func add(_ key: [UInt8], _ number: Int64, writes: Bool) throws {
    let row = try connection.statement(
      "INSERT OR REPLACE INTO overlay._depends (key, number, writes) VALUES (?, ?, ?)")
    row.bind(1, key)
    row.bind(2, number)
    row.bind(3, Value.bool(writes))
    try connection.run(row)
  }

  private func addText(_ id: ObjectID, _ property: PropertyNumber, _ number: Int64) throws {
    let row = try connection.statement("INSERT OR IGNORE INTO overlay._text (id, property, number) VALUES (?, ?, ?)")
    row.bind(1, id.key)
    row.bind(2, Int64(property))
    row.bind(3, number)
    try connection.run(row)
  }

  func remove(_ number: Int64) throws {
    for table in ["_plan", "_depends", "_text", "_merged"] {
      let row = try connection.statement("DELETE FROM overlay.\(table) WHERE number = ?")
      row.bind(1, number)
      try connection.run(row)
    }
  }

  func removeAll() throws {
    for table in ["_plan", "_depends", "_text", "_merged"] { try connection.run("DELETE FROM overlay.\(table)") }
  }

  // MARK: - Looking up

  /// The number of plans.
  func count() throws -> Int64 {
    try invariant(connection.integer("SELECT count(*) FROM overlay._plan"), "a count of rows is a number")
  }

  /// The highest number of a planned edit; 0 for none.
  func last() throws -> Int64 {
    if let last = try connection.integer("SELECT max(number) FROM overlay._plan") { last } else { 0 }
  }

  /// The revision of a plan; nil for an edit that was not planned.
  func revision(of number: Int64) throws -> Revision? {
    try connection.integer("SELECT revision FROM overlay._plan WHERE number = ?", .integer(number))
  }

  /// Whether an edit changes a text of an object.
  func editsText(_ id: ObjectID, _ property: PropertyNumber) throws -> Bool {
    let row = try connection.statement("SELECT 1 FROM overlay._text WHERE id = ? AND property = ? LIMIT 1")
    defer { sqlite3_reset(row.statement) }
    row.bind(1, id.key)
    row.bind(2, Int64(property))
    return try connection.step(row)
  }

  /// The objects that a plan changes.
  func writes(of number: Int64) throws -> [UniqueID] {
    try dependencies(of: number).filter(\.writes).compactMap { UniqueID(bytes: $0.key) }
  }

  private func dependencies(of number: Int64) throws -> [(key: [UInt8], writes: Bool)] {
    let row = try connection.statement("SELECT key, writes FROM overlay._depends WHERE number = ?")
    defer { sqlite3_reset(row.statement) }
    row.bind(1, number)
    var found = [(key: [UInt8], writes: Bool)]()
    while try connection.step(row) { found.append((row.blob(0), row.integer(1) == 1)) }
    return found
  }

  /// The planned edits that have read or changed what a key names.
  /// - Parameter onlyWrites: only those that have changed it.
  func edits(on key: [UInt8], onlyWrites: Bool = false) throws -> [Int64] {
    let row = try connection.statement("SELECT number, writes FROM overlay._depends WHERE key = ?")
    defer { sqlite3_reset(row.statement) }
    row.bind(1, key)
    var found = [Int64]()
    while try connection.step(row) {
      if !onlyWrites || row.integer(1) == 1 { found.append(row.integer(0)) }
    }
    return found
  }

  /// The edits whose plans depend on those of others, directly or through further ones: of two edits that share an
  /// object, one changes it.
  func closure(of numbers: Set<Int64>) throws -> Set<Int64> {
    var (found, waiting) = (numbers, Array(numbers))
    // The keys that were followed, and whether to their readers, too.
    var followed = [[UInt8]: Bool]()
    while let number = waiting.popLast() {
      for (key, writes) in try dependencies(of: number) {
        if let known = followed[key], known || !writes { continue }
        followed[key] = writes
        for other in try edits(on: key, onlyWrites: !writes) where found.insert(other).inserted {
          waiting.append(other)
        }
      }
    }
    return found
  }

  // MARK: - Merged objects

  /// The object that an insert turned out to be, because it has the same unique key; the given one for another.
  func shown(_ id: ObjectID) throws -> ObjectID {
    if ProvisionalID.parts(of: id) == nil { return id }
    let row = try connection.statement("SELECT permanent, entity FROM overlay._merged WHERE provisional = ?")
    defer { sqlite3_reset(row.statement) }
    row.bind(1, id.key)
    guard try connection.step(row) else { return id }
    return ObjectID(key: row.id(0), entity: EntityNumber(row.integer(1)))
  }

  func merge(_ provisional: ObjectID, into permanent: ObjectID, _ number: Int64) throws {
    let row = try connection.statement(
      "INSERT OR REPLACE INTO overlay._merged (provisional, permanent, entity, number) VALUES (?, ?, ?, ?)")
    row.bind(1, provisional.key)
    row.bind(2, permanent.key)
    row.bind(3, Int64(permanent.entity))
    row.bind(4, number)
    try connection.run(row)
  }
}
