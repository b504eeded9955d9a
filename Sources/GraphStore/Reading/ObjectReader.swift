// Tests: FetchTests.swift, RandomGraphTests.swift
import GRDBSQLite
import GraphModel

/// Reads objects on one connection.
///
/// It converts rows to images and caches the mapping between rows and ids, because foreign keys contain row numbers
/// and images contain ids. A reader's instance lives no longer than one transaction; the writer keeps its own.
package final class ObjectReader: ImageSource {
  let connection: Connection
  package let layout: StoreLayout
  private var ids = [RowKey: ObjectID]()
  private var rows = [ObjectID: CachedLocation]()
  /// The object whose image was read last, which is most often the next one requested.
  private var latest: (id: ObjectID, row: Int64)?

  /// Nil if damage is not looked for: in `check`, which reports it, and in evaluations.
  var damage: DamageReporter? { skipsVerification ? nil : reporter }
  private let reporter: DamageReporter?
  /// Set during reads that must not refuse a transaction.
  var skipsVerification = false
  /// The damage that this reader has found, for an answer that omits it.
  var damageFound = DamageTracker()
  /// The object whose entity the model does not know, found by a reader that does not look for damage.
  private(set) var withUnknownEntity: ObjectID?
  /// The revision of a batch in progress: its rows get their checksums before their unique keys and references.
  var underway: Revision?
  /// Set if table names resolve to what a class sees.
  let visibility: Visibility?
  /// Recognizes rows of older model versions; nil for states of the past and for visibility classes, whose tables lack
  /// the columns of these versions.
  let older: UnmigratedRows?
  /// The number of rows of older versions that may still be compared.
  var remainingComparisons: Int
  /// The buffer for encoding images for their checksums.
  var scratch = BinaryWriter(capacity: 1_024)

  /// The rows that the plan of a transaction has read, in order, while they are recorded.
  private var trail: RecentRowCursor?

  /// A row in the table of a root entity.
  private struct RowKey: Hashable {
    let root: EntityNumber
    let row: Int64
  }

  /// An object's row and concrete entity; the equality of ids ignores the entity.
  private struct CachedLocation {
    let row: Int64
    let entity: EntityNumber
  }

  /// The first error in a function that can't throw; checked by callers that evaluate predicates.
  private(set) var failure: (any Error)?

  /// The maximum number of entries before the caches are emptied: some megabytes.
  private static let cacheLimit = 50_000
  /// The number of rows of older model versions that a read compares with their checksums.
  static let olderComparisons = 1_000

  package convenience init(_ connection: Connection, layout: StoreLayout) {
    self.init(connection, layout: layout, damage: nil)
  }

  /// - Parameter comparisons: the maximum number of rows of older model versions that are compared with their
  ///   checksums. Each takes another read of the row, and only the writer must compare all of them.
  init(
    _ connection: Connection, layout: StoreLayout, damage: DamageReporter?, visibility: Visibility? = nil,
    older: UnmigratedRows? = nil, comparisons: Int = .max
  ) {
    self.visibility = visibility
    remainingComparisons = comparisons
    self.connection = connection
    self.layout = layout
    reporter = damage
    self.older = older
  }

  package var model: Model { layout.model }

  // MARK: - Rows and ids

  func remember(_ id: ObjectID, row: Int64) {
    if rows.count >= Self.cacheLimit { forgetAll() }
    rows[id] = CachedLocation(row: row, entity: id.entity)
    assert(rows.count <= Self.cacheLimit)
  }

  /// Remembers an object that was just written, because the next one may refer to it.
  func keepLatest(_ id: ObjectID, row: Int64) { latest = (id, row) }

  func forget(_ id: ObjectID, in table: EntityTable) {
    latest = nil
    // Every entry by row has an entry by id.
    if let known = rows.removeValue(forKey: id) { ids[RowKey(root: table.root.number, row: known.row)] = nil }
  }

  func forgetAll() {
    latest = nil
    rows.removeAll(keepingCapacity: true)
    ids.removeAll(keepingCapacity: true)
  }

  /// Returns an object's row, and its id with the concrete entity; nil if it does not exist.
  package func find(_ id: ObjectID) throws -> (row: Int64, id: ObjectID)? {
    guard let table = layout.table(of: id.entity) else { return nil }
    if let latest, latest.id == id, layout.table(of: latest.id.entity) === table { return (latest.row, latest.id) }
    // The same id in another table would be another object.
    if let known = rows[id], layout.table(of: known.entity) === table {
      return (known.row, ObjectID(key: id.key, entity: known.entity))
    }
    let found = try connection.statement(table.findRow)
    found.bind(1, id.key)
    guard try connection.step(found) else { return nil }
    let row = found.integer(0)
    let known = ObjectID(key: id.key, entity: layout.numbers.entity(found, 1))
    sqlite3_reset(found.statement)
    remember(known, row: row)
    return (row, known)
  }

  /// Returns the id of the object in a row; nil if the row is missing, which happens only in a damaged store.
  package func id(ofRow row: Int64, in table: EntityTable) throws -> ObjectID? {
    let place = RowKey(root: table.root.number, row: row)
    if let id = ids[place] { return id }
    let found = try connection.statement(table.findID)
    found.bind(1, row)
    guard try connection.step(found) else { return nil }
    let id = ObjectID(key: found.id(0), entity: layout.numbers.entity(found, 1))
    sqlite3_reset(found.statement)
    remember(id, row: row)
    ids[place] = id
    return id
  }

  // MARK: - Images

  package func readImage(of id: ObjectID) throws -> ObjectImage? {
    guard let table = layout.table(of: id.entity) else { return nil }
    let row = try connection.statement(damage == nil ? table.selectByID : table.selectWithSumByID)
    row.bind(1, id.key)
    guard try connection.step(row) else { return nil }
    defer { sqlite3_reset(row.statement) }
    let image = try verifiedImage(row, in: table)
    latest = (image.id, row.integer(0))
    if trail != nil { record(image.id, row: row.integer(0), in: table) }
    return image
  }

  /// Records the rows read from now on for `nextRow`, until `endTrail`.
  ///
  /// A plan reads the objects in the order in which they are written.
  func beginTrail() { trail = RecentRowCursor() }

  func endTrail() { trail = nil }

  private func record(_ id: ObjectID, row: Int64, in table: EntityTable) {
    // Taken out, so that it is changed in place.
    if var current = trail.take() {
      current.append(id, row: row, in: table)
      trail = current
    }
  }

  /// The row of an object without a lookup, if its image was among the next ones read.
  func nextRow(of id: ObjectID, in table: EntityTable) -> Int64? { trail?.next(id, in: table) }

  /// The image in a row of the table's `select`.
  package func image(_ row: Row, in table: EntityTable) throws -> ObjectImage {
    let entity = layout.numbers.entity(row, 2)
    let id = ObjectID(key: row.id(1), entity: entity)
    guard let shape = table.shape(of: entity) else {
      if let damage { throw damageFound.add(id, damage.refusal(object: id)) }
      withUnknownEntity = id
      throw StoreFailure(
        .corrupt, "an object of \(table.name) has the entity number \(row.integer(2)), which the model does not know",
        advice: "Run stickiesd check.")
    }
    let values = try shape.places.withUnsafeBufferPointer { places in
      try [Value](unsafeUninitializedCapacity: places.count) { values, count in
        for place in places {
          try values.initializeElement(at: count, to: value(row, place))
          count += 1
        }
      }
    }
    let image = ObjectImage(id: id, revision: row.integer(3), values: values)
    return visibility == nil || shape.edgePlaces.isEmpty ? image : try withoutInvisibleMembers(image, shape)
  }

  private func value(_ row: Row, _ place: EntityTable.EntityColumns.ColumnReference) throws -> Value {
    let position = Int32(EntityTable.fixedColumns) + place.column
    switch place.form {
    case .reference:
      guard !row.isNull(position) else { return .null }
      let number = row.integer(position)
      let root = try invariant(place.destination, "a reference has a destination")
      if let id = ids[RowKey(root: root, row: number)] { return .object(id) }
      let table = try invariant(layout.table(of: root), "the destination of a reference has a table")
      // In a damaged store the row may be missing.
      guard let id = try id(ofRow: number, in: table) else { return .null }
      return .object(id)
    case .members: return layout.numbers.present(row.value(position, .members))
    default: return row.value(position, place.form)
    }
  }

  /// The objects whose stored relationship refers to `id`, in ascending order.
  package func readReferrers(to id: ObjectID, through property: Property) throws -> [ObjectID] {
    guard let table = layout.table(of: property.owner), let sql = table.referrers(through: property)?.all,
      let target = try find(id)?.row
    else { return [] }
    let row = try connection.statement(sql)
    row.bind(1, target)
    var found = [ObjectID]()
    while try connection.step(row) {
      found.append(ObjectID(key: row.id(0), entity: layout.numbers.entity(row, 1)))
    }
    sqlite3_reset(row.statement)
    return found
  }

  /// The objects at the other end of a relationship, wherever it is stored.
  func readRelated(to image: ObjectImage, through property: Property) throws -> [ObjectID] {
    guard let relationship = property.relationship else { return [] }
    guard relationship.storage == .inverse, let inverse = model.property(relationship.inverse) else {
      return image[property].objectIDs
    }
    return try readReferrers(to: image.id, through: inverse)
  }

  /// The members of an ordered relationship after or before a place, for the rules engine.
  func readMembers(
    of parent: ObjectID, through reference: Property, beyond place: OrderedMemberKey?, ascending: Bool, limit: Int
  ) throws -> [OrderedMemberKey] {
    let table = try invariant(layout.table(of: reference.owner), "the owner of a relationship has a table")
    let column = try invariant(table.column(of: reference.number), "an ordered relationship is stored at its members")
    let position = try invariant(
      reference.relationship?.position.flatMap { table.column(of: $0) },
      "a member of an ordered relationship has a place")
    // An owner that the transaction revives has no row yet.
    guard let target = try find(parent) else { return [] }
    let (name, direction) = (quoted(position.name), ascending ? "ASC" : "DESC")
    let beyond = place == nil ? "" : "AND (\(name), _id) \(ascending ? ">" : "<") (?, ?)"
    let row = try connection.statement(
      """
      SELECT \(name), _id, _entity FROM \(quoted(table.name)) WHERE \(quoted(column.name)) = ? \(beyond)
      ORDER BY \(name) \(direction), _id \(direction) LIMIT ?
      """)
    row.bind(1, target.row)
    if let place {
      row.bind(2, place.position)
      row.bind(3, place.id.key)
    }
    row.bind(place == nil ? 2 : 4, Int64(limit))
    var found = [OrderedMemberKey]()
    defer { sqlite3_reset(row.statement) }
    while try connection.step(row) {
      let id = ObjectID(key: row.id(1), entity: layout.numbers.entity(row, 2))
      found.append(OrderedMemberKey(position: row.integer(0), id: id))
    }
    return found
  }

  private func countReferrers(to id: ObjectID, through property: Property) throws -> Int {
    guard let table = layout.table(of: property.owner), let sql = table.referrers(through: property)?.count,
      let target = try find(id)?.row
    else { return 0 }
    let row = try connection.statement(sql)
    row.bind(1, target)
    defer { sqlite3_reset(row.statement) }
    return try connection.step(row) ? Int(row.integer(0)) : 0
  }

  // MARK: - ImageSource

  package func image(of id: ObjectID) -> ObjectImage? { recordingFailure(fallback: nil) { try readImage(of: id) } }

  package func referrers(to id: ObjectID, through property: Property) -> [ObjectID] {
    recordingFailure(fallback: []) { try readReferrers(to: id, through: property) }
  }

  package func referrerCount(to id: ObjectID, through property: Property) -> Int {
    recordingFailure(fallback: 0) { try countReferrers(to: id, through: property) }
  }

  /// Returns and clears the first error since the last call.
  func takeFailure() -> (any Error)? {
    defer { failure = nil }
    return failure
  }

  /// Returns the fallback if `body` throws, and keeps the first error.
  private func recordingFailure<Result>(fallback: Result, _ body: () throws -> Result) -> Result {
    do {
      return try body()
    } catch {
      failure = failure ?? error
      return fallback
    }
  }
}
