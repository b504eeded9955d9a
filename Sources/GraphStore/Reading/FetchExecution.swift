// Tests: FetchTests.swift, RandomGraphTests.swift, PastDamageTests.swift
import GraphModel

import struct GraphModel.FetchRequest

/// One execution of a fetch, inside one read transaction.
///
/// The part of the predicate that SQL can't express is evaluated here: for objects and identifiers row by row; for
/// row results, a second statement computes the rows from the matching objects.
final class FetchExecution {
  let request: FetchRequest
  let entity: Entity
  let table: EntityTable
  let objects: ObjectReader
  private let recentTexts: UnindexedRows?
  /// Set if table names resolve to a past state.
  private let past: ShadowedTables?
  /// The executed statements, for an explanation.
  private(set) var executed = [FetchSQL]()
  /// The number of full-scan steps, as counted by SQLite.
  private(set) var scannedSteps = 0
  private(set) var count = 0
  /// The number of damaged objects, which count towards the limit and are not in the result.
  private(set) var omitted = 0
  /// Whether there are further objects after the limit.
  private var hasMore = false
  private var last: ObjectID?

  /// The maximum number of objects evaluated in memory for row results: eight bytes each, and as many again as text.
  static let maximumEvaluatedRows = 1_000_000

  init(
    _ request: FetchRequest, _ objects: ObjectReader, _ history: HistoryReader, past: ShadowedTables? = nil
  ) throws {
    guard let entity = objects.model.entity(request.entity), let table = objects.layout.table(of: request.entity) else {
      throw Refusal(.malformed, "there is no entity number \(request.entity)")
    }
    assert(table.shape(of: entity.number) != nil)
    self.request = request
    self.entity = entity
    self.table = table
    self.objects = objects
    self.past = past
    recentTexts =
      try Self.searchesText(request) ? UnindexedRows(history, past: past, omitsDamage: request.omitsDamage) : nil
  }

  static func searchesText(_ request: FetchRequest) -> Bool {
    guard case .rows(let rows) = request.result else { return request.predicate.searchesText }
    let expressions = rows.groups + rows.columns.compactMap(\.value.expression)
    return request.predicate.searchesText || expressions.contains(where: \.searchesText)
  }

  /// Passes the elements of the result to `body`, with the encodings of the objects that were verified.
  func run(_ body: (_ element: FetchElement, _ encoding: [UInt8]?) throws -> Void) throws {
    let unknown = unreadable
    if !request.omitsDamage, !unknown.isEmpty { throw unknown.refusal }
    let sql = try sql(for: request)
    switch request.result {
    case .objects, .identifiers: try findObjects(sql) { try body(.object($0), $1) }
    case .count: try countObjects(sql)
    case .rows(let rows): try findRows(rows, sql.isExact ? sql : rowsMatchedInMemory(), body)
    }
    if let failure = objects.failure { throw failure }
  }

  /// The end of the result, as of the state that was read.
  func completion(at token: Token) throws -> FetchCompletion {
    let next = try next()
    var damage = objects.damageFound.notice
    damage.formUnion(unreadable)
    guard damage.count <= DamageNotice.maximumItems else { throw damage.refusal }
    return FetchCompletion(at: token, count: count - omitted, next: next, damage: damage)
  }

  /// The objects that the result may lack because their past state is unknown. Their values cannot decide it.
  private var unreadable: DamageNotice {
    guard let past, !past.unreadable.isEmpty else { return DamageNotice() }
    let related = request.relatedRoots(in: objects.model)
    return PastDamage.notice(
      past.unreadable.filter { id, _ in
        if entity.family.contains(id.entity), request.predicate.mayMatch(id) { return true }
        return objects.model.entity(id.entity).map { related.contains($0.root) } == true
      })
  }

  /// The cursor of the next page. It is as SQL orders the last object, which may be damaged.
  private func next() throws -> FetchCursor? {
    guard hasMore, let last else { return nil }
    let cursor = try objects.withoutVerification {
      try objects.readImage(of: last).map { image in
        try FetchCursor(behind: image, of: entity.number, sort: request.sort, model: objects.model, in: objects)
      }
    }
    if let failure = objects.failure { throw failure }
    return cursor
  }

  /// The statements in the first form within SQLite's limits.
  private func sql(for request: FetchRequest, rows: String? = nil) throws -> FetchSQL {
    var refused: Refusal?
    for form in PredicateSQL.TranslationLevel.allCases {
      do {
        let sql = try FetchSQL(
          request, entity, table, layout: objects.layout, recentTexts: recentTexts, past: past,
          isReduced: objects.visibility != nil, rows: rows, form: form)
        for statement in sql.statements {
          try objects.connection.prepareFetch(statement)
          if self.request.explains { try QueryPlan.prepare(statement, objects.connection) }
        }
        return sql
      } catch let refusal as Refusal where refusal.code == .limit {
        refused = refused ?? refusal
      }
    }
    throw refused ?? SQLLimit.refusal
  }

  // MARK: - Parts

  private func findObjects(
    _ sql: FetchSQL, _ body: (_ image: ObjectImage, _ encoding: [UInt8]?) throws -> Void
  ) throws {
    let evaluator = evaluator(sql)
    let wantsValues = request.result == .objects
    var skipped = 0
    try each(sql) { row in
      var image: ObjectImage?
      if let evaluator {
        guard let candidate = try unlessDamaged({ try objects.image(row, in: table) }),
          try matches(candidate, evaluator)
        else { return true }
        if skipped < request.offset {
          skipped += 1
          return true
        }
        image = candidate
      }
      guard takes(row) else { return false }
      if !wantsValues {
        try body(ObjectImage(id: id(row), revision: row.integer(3), values: []), nil)
      } else if let sound = try unlessDamaged({ try served(row, image) }) {
        try body(sound.image, sound.encoding)
      } else {
        omitted += 1
      }
      return true
    }
  }

  /// The image in a row for the result, verified unless it has changed since the past state.
  /// - Parameter image: the image, if it was read already.
  /// - Returns: the image, and its encoding if the verification needed it.
  private func served(_ row: Row, _ image: ObjectImage?) throws -> (image: ObjectImage, encoding: [UInt8]?) {
    let image = try image ?? objects.image(row, in: table)
    return (image, try objects.verify(image, row, in: table))
  }

  private func unlessDamaged<Result>(_ read: () throws -> Result) throws -> Result? {
    try objects.unlessDamaged(request.omitsDamage, read)
  }

  private func countObjects(_ sql: FetchSQL) throws {
    guard let evaluator = evaluator(sql) else {
      return try each(sql) { row in
        count = Int(row.integer(0))
        return true
      }
    }
    var found = 0
    var most = Int.max
    if let limit = request.limit, case let (sum, overflows) = limit.addingReportingOverflow(request.offset), !overflows
    {
      most = sum
    }
    try each(sql) { row in
      if let image = try unlessDamaged({ try objects.image(row, in: table) }), try matches(image, evaluator) {
        found += 1
      }
      return found < most
    }
    count = max(0, found - request.offset)
  }

  private func findRows(
    _ rows: RowRequest, _ sql: FetchSQL, _ body: (_ element: FetchElement, _ encoding: [UInt8]?) throws -> Void
  ) throws {
    let types = rows.columns.map { $0.value.type(in: objects.model) }
    let first: Int32 = rows.hasRowPerObject ? table.sumColumn + 1 : 0
    try each(sql) { row in
      if rows.hasRowPerObject {
        guard takes(row) else { return false }
        guard try unlessDamaged({ try served(row, nil) }) != nil else {
          omitted += 1
          return true
        }
      } else {
        count += 1
      }
      var values = [Value]()
      values.reserveCapacity(types.count)
      for (index, type) in types.enumerated() {
        let value = row.value(first + Int32(index), of: type)
        // A column has only the id of an object, so its concrete entity is looked up.
        if case .object(let id) = value {
          values.append(.object(try objects.find(id)?.id ?? id))
        } else {
          values.append(value)
        }
      }
      try body(.row(values), nil)
      return true
    }
  }

  /// The statement for row results of the objects that match in memory.
  private func rowsMatchedInMemory() throws -> FetchSQL {
    let sql = try sql(for: FetchRequest(entity: request.entity, predicate: request.predicate))
    let evaluator = evaluator(sql)
    var rows = [Int64]()
    try each(sql) { row in
      if let evaluator {
        guard let image = try unlessDamaged({ try objects.image(row, in: table) }), try matches(image, evaluator)
        else { return true }
      }
      guard rows.count < Self.maximumEvaluatedRows else {
        throw Refusal(
          .limit,
          "a result of rows reads at most \(Self.maximumEvaluatedRows) objects if SQL can't express the whole predicate: "
            + "nest it less deep, or compare less")
      }
      rows.append(row.integer(0))
      return true
    }
    return try self.sql(for: request, rows: "[" + rows.map(String.init).joined(separator: ",") + "]")
  }

  // MARK: - Execution

  private func evaluator(_ sql: FetchSQL) -> PredicateEvaluator? {
    sql.isExact ? nil : PredicateEvaluator(request.predicate, model: objects.model)
  }

  /// The steps that evaluating one object counts as for cancellation checks, besides those for its long texts.
  static let evaluationSteps = 1 << 10

  private func matches(_ image: ObjectImage, _ evaluator: PredicateEvaluator) throws -> Bool {
    // Like SQL, the evaluator takes values as they are; every object of the result is verified.
    let matches = objects.withoutVerification { evaluator.matches(image, in: objects) }
    Cancellation.addSteps(Self.evaluationSteps)
    try objects.connection.checkInterruption()
    return matches
  }

  private func id(_ row: Row) -> ObjectID {
    ObjectID(key: row.id(1), entity: table.numbers.entity(row, 2))
  }

  /// Counts a row; returns false if the limit was reached before.
  private func takes(_ row: Row) -> Bool {
    if let limit = request.limit, count >= limit {
      assert(count == limit)
      hasMore = true
      return false
    }
    count += 1
    if request.limit != nil { last = id(row) }
    return true
  }

  /// Runs the statements one after the other until `body` returns false.
  private func each(_ sql: FetchSQL, _ body: (Row) throws -> Bool) throws {
    executed.append(sql)
    var wantsMore = true
    for statement in sql.statements where wantsMore {
      scannedSteps += try objects.connection.fetch(statement, sql.arguments) { row in
        wantsMore = try body(row)
        return wantsMore
      }
    }
  }
}

extension RowRequest.ColumnValue {
  /// The expression that the column reads; nil for a count.
  var expression: GraphExpression? {
    switch self {
    case .expression(let expression), .aggregate(_, let expression): expression
    case .count: nil
    }
  }
}
