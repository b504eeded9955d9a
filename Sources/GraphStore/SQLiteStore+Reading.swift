import Foundation
import GRDB
import GRDBSQLite
import GraphModel

import struct GraphModel.FetchRequest

/// Reads, each in a transaction of its own on one of the pool's connections: no writer waits for them, nor they for it.
extension SQLiteStore {
  /// Runs `body` in a read transaction, with the state that it sees.
  func read<Result>(_ body: (ObjectReader, HistoryReader, Token) throws -> Result) throws -> Result {
    do {
      return try pool.read { database in
        let objects = ObjectReader(Connection(database), layout: layout)
        let history = HistoryReader(objects: objects)
        let head = try history.head()
        return try body(
          objects, history, Token(store: storeID, revision: head.revision, fingerprint: head.fingerprint))
      }
    } catch let error as DatabaseError {
      throw Self.failure(code: error.resultCode.rawValue, message: error.message ?? "", path: path)
    }
  }

  /// The newest committed state.
  public var head: Token { get throws { try read { _, _, head in head } } }

  /// Hands out objects one by one, inside one read transaction; what `body` throws ends it.
  public func fetch(_ request: FetchRequest, _ body: (ObjectImage) throws -> Void) throws -> Token {
    try read { objects, history, head in
      try Self.fetch(request, objects, history, layout, body)
      return head
    }
  }

  private static func fetch(
    _ request: FetchRequest, _ objects: ObjectReader, _ history: HistoryReader, _ layout: StoreLayout,
    _ body: (ObjectImage) throws -> Void
  ) throws {
    guard let entity = layout.model.entity(request.entity), let table = layout.table(of: request.entity) else {
      throw Refusal(.malformed, "there is no entity number \(request.entity)")
    }
    var builder = PredicateSQL(
      layout: layout, table: table, recentTexts: request.predicate.searchesText ? try RecentTexts(history) : nil)
    let isWholeTable = entity.family.count == layout.model.entity(entity.root)?.family.count
    let condition = builder.condition(request.predicate)
    let families = entity.family.map(String.init).joined(separator: ", ")
    var sql = table.select + " WHERE \(condition)" + (isWholeTable ? "" : " AND t._entity IN (\(families))")
    let order = try request.sort.map { key in
      guard let value = builder.expression(.path(key.path)) else {
        throw Refusal(.malformed, "the path of a sort key is too long")
      }
      let ordered = key.collation.map { "graph_key(\(value), '\($0.rawValue)')" } ?? value
      return ordered + (key.ascending ? "" : " DESC")
    }
    sql += " ORDER BY " + (order + ["t._id"]).joined(separator: ", ")
    // What SQL can't decide is decided here, so SQL must not count.
    if builder.isExact, request.limit != nil || request.offset > 0 {
      sql += " LIMIT ? OFFSET ?"
      builder.append(.integer(Int64(request.limit ?? -1)))
      builder.append(.integer(Int64(request.offset)))
    }
    // Not cached: there is no end to the shapes that predicates have.
    let query = try objects.connection.database.makeStatement(sql: sql)
    defer { withExtendedLifetime(query) {} }
    let row = Row(statement: query.sqliteStatement)
    for (index, value) in builder.arguments.enumerated() { row.bind(Int32(index + 1), value) }
    defer { sqlite3_reset(row.statement) }
    let evaluator = builder.isExact ? nil : PredicateEvaluator(request.predicate, model: layout.model)
    var (skipped, taken) = (0, 0)
    while try objects.connection.step(row) {
      let image = try objects.image(row, in: table)
      if let evaluator {
        guard evaluator.matches(image, in: objects) else { continue }
        if skipped < request.offset {
          skipped += 1
          continue
        }
      }
      try body(image)
      taken += 1
      if let limit = request.limit, taken >= limit { break }
    }
    if let failure = objects.failure { throw failure }
  }

  /// How many objects there are, limit and offset applied.
  public func count(_ request: FetchRequest) throws -> (count: Int, at: Token) {
    try read { objects, history, head in
      var count = 0
      try Self.fetch(request, objects, history, layout) { _ in count += 1 }
      return (count, head)
    }
  }

  /// The commits after `after` up to and including `through`, oldest first, from history.
  public func commits(
    after: Revision, through: Revision?, maximumChanges: Int, maximumBytes: Int
  ) throws -> [CommitRecord] {
    try read { _, history, _ in
      try history.records(
        after: after, through: through, maximumChanges: maximumChanges, maximumBytes: maximumBytes)
    }
  }

  /// Whether history has the token's revision with the token's fingerprint.
  public func recognizes(_ token: Token) throws -> Bool {
    try token.store == storeID
      && read { _, history, _ in try history.fingerprint(of: token.revision) == token.fingerprint }
  }

  /// Where the store is, how large, and what it will number next.
  public func statistics() throws -> StoreStatistics {
    let counters = try pool.read { database in
      try Data.fetchOne(database, sql: "SELECT counters FROM _commit ORDER BY revision DESC LIMIT 1")
    }
    var next = try counters.map { try StoreWriter.decodeCounters(Array($0)) } ?? [:]
    for property in model.entities.flatMap(\.attributes) where property.attribute?.assignment == .sequence {
      next[property.number] = next[property.number] ?? 1
    }
    return StoreStatistics(
      head: try head, location: directory, size: StoreFiles.size(of: path),
      sequences: next.map { ($0.key, $0.value) }.sorted { $0.0 < $1.0 })
  }
}
