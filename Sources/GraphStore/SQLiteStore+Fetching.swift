// Tests: FetchTests.swift, RandomGraphTests.swift, PastOptionTests.swift, PastCostTests.swift, PastDamageTests.swift
import GRDB
import GraphModel

import struct GraphModel.FetchRequest

/// Fetches and their explanations.
extension SQLiteStore {
  /// Performs a fetch in one read transaction and passes the result to `body` in parts; an error of `body` ends it.
  public func answer(
    _ request: FetchRequest, seenBy visibility: Visibility?, while isWanted: () -> Bool,
    withEncodings body: (_ element: FetchElement, _ encoding: [UInt8]?) throws -> Void
  ) throws -> FetchCompletion {
    try request.check(in: model)
    if let revision = request.at {
      return try answer(request, at: revision, seenBy: visibility, while: isWanted, body)
    }
    return try read(seenBy: visibility) { objects, history, head in
      let run = try FetchExecution(request, objects, history)
      let start = options.monotonicNanoseconds()
      try objects.connection.run(while: isWanted) { try request.explains ? run.run { _, _ in } : run.run(body) }
      let duration = options.monotonicNanoseconds() - start
      // The fetch is complete, so a scan is reported even if the explanation fails.
      reporter.scans.report(.fetch, request, steps: run.scannedSteps, plans: run.plans)
      guard request.explains else { return try run.completion(at: head) }
      return FetchCompletion(at: head, count: 0, explanation: try run.explanation(nanoseconds: duration))
    }
  }
}

extension FetchExecution {
  func plans() throws -> [QueryPlan] {
    try executed.flatMap(\.statements).map { try QueryPlan($0, objects.connection) }
  }

  /// Limits for parts of an explanation that can be as long as a predicate.
  private static let maximumTexts = 1_000
  private static let maximumText = 64 << 10

  func explanation(nanoseconds: Int64) throws -> FetchExplanation {
    let plans = try plans()
    let types = executed.flatMap(\.arguments).prefix(Self.maximumTexts).map(\.typeName)
    var indexes = [String]()
    for index in plans.flatMap(\.indexes) where !indexes.contains(index) { indexes.append(index) }
    return FetchExplanation(
      statements: executed.flatMap(\.statements).map { statement in
        statement.utf8.count <= Self.maximumText ? statement : String(statement.prefix(Self.maximumText)) + " …"
      },
      arguments: types, plan: Array(plans.flatMap(\.steps).prefix(Self.maximumTexts)), indexes: indexes,
      checksInMemory: executed.contains { !$0.isExact }, microseconds: nanoseconds / 1_000, count: count,
      advice: plans.contains { !$0.scans.isEmpty } && !IndexAdvice.isOneSided(request, in: objects.model)
        ? IndexAdvice.attributes(for: request, in: objects.model) : [])
  }
}

extension Value {
  /// The name of the value's type, for an explanation, which contains no values.
  fileprivate var typeName: String {
    switch self {
    case .null: "null"
    case .bool: "bool"
    case .integer: "integer"
    case .double: "double"
    case .decimal: "decimal"
    case .string: "string"
    case .date: "date"
    case .uuid: "uuid"
    case .data: "data"
    case .object, .objects: "id"
    }
  }
}

/// Reads of past states.
extension SQLiteStore {
  /// Performs a fetch at a revision. A fetch of a few objects by id rolls back each object alone, independent of how
  /// many others have changed since; any other fetch reads the present with the objects touched since rolled back
  /// over it.
  func answer(
    _ request: FetchRequest, at revision: Revision, seenBy visibility: Visibility?, while isWanted: () -> Bool,
    _ body: (_ element: FetchElement, _ encoding: [UInt8]?) throws -> Void
  ) throws -> FetchCompletion {
    // The visible part of an object depends on other objects, so the same transaction reads them.
    if visibility == nil, !layout.addsCounts(behind: revision), let ids = request.fewIDs {
      return try answer(request, ids, at: revision, body)
    }
    return try readPast(at: revision, seenBy: visibility) { objects, history, scope in
      let run = try FetchExecution(request, objects, history, past: scope)
      let start = options.monotonicNanoseconds()
      try objects.connection.run(while: isWanted) { try request.explains ? run.run { _, _ in } : run.run(body) }
      let duration = options.monotonicNanoseconds() - start
      let token = try self.token(of: revision, history)
      guard request.explains else { return try run.completion(at: token) }
      return FetchCompletion(at: token, count: 0, explanation: try run.explanation(nanoseconds: duration))
    }
  }

  private func answer(
    _ request: FetchRequest, _ ids: [ObjectID], at revision: Revision,
    _ body: (_ element: FetchElement, _ encoding: [UInt8]?) throws -> Void
  ) throws -> FetchCompletion {
    try read { objects, history, head in
      try history.check(revision, head: head.revision)
      let entity = try invariant(model.entity(request.entity), "a checked request names an entity of the model")
      let past = ObjectTimeTravelReader(history: history, omitsDamage: request.omitsDamage)
      var (count, damage) = (0, DamageNotice())
      for id in ids {
        guard let found = try past.readableImage(of: id, at: revision) else {
          damage.objects.append(id)
          continue
        }
        guard var image = found, entity.family.contains(image.id.entity) else { continue }
        count += 1
        if request.result == .identifiers { image.values = [] }
        if request.result != .count { try body(.object(image), nil) }
      }
      damage.formUnion(objects.damageFound.notice)
      return FetchCompletion(at: try token(of: revision, history), count: count, damage: damage)
    }
  }

  private func readPast<Result>(
    at revision: Revision, seenBy visibility: Visibility?,
    _ body: (ObjectReader, HistoryReader, ShadowedTables) throws -> Result
  ) throws -> Result {
    do {
      try commitUnread()
      return try pastReaders.read(revision) { try $0.read(at: revision, seenBy: visibility, body) }
    } catch {
      throw readFailure(error)
    }
  }

  private func token(of revision: Revision, _ history: HistoryReader) throws -> Token {
    var token = Token(store: storeID, revision: revision, fingerprint: 0)
    // A damaged history may have neither the commit nor a floor.
    if let fingerprint = try history.fingerprint(of: revision) { token.fingerprint = fingerprint }
    return token
  }

  /// The newest commit at or before a time.
  public func revision(at time: Timestamp) throws -> RevisionAtTime {
    try read { _, history, head in
      let found = try CommitTimes(history: history).revision(at: time)
      return RevisionAtTime(
        revision: found.revision, time: found.time, author: names.name(of: found.author), head: head)
    }
  }
}

extension FetchRequest {
  /// For more objects than this, one read of the whole past state is faster.
  private static let few = 16

  /// The requested ids in ascending order, if the request is a plain fetch of a few objects by id; otherwise nil.
  fileprivate var fewIDs: [ObjectID]? {
    guard sort.isEmpty, offset == 0, limit == nil, after == nil, !explains else { return nil }
    if case .rows = result { return nil }
    guard case .comparison(let comparison) = predicate, comparison.quantifier == .one, comparison.options.isEmpty,
      comparison.path == GraphPredicate.Path(end: .identifier)
    else { return nil }
    let values: [Value]
    switch (comparison.comparator, comparison.right) {
    case (.equal, .value(let value)): values = [value]
    case (.in, .list(let list)): values = list
    default: return nil
    }
    let ids = Set(values.compactMap(\.objectID))
    guard ids.count <= Self.few, values.allSatisfy({ $0.objectID != nil }) else { return nil }
    return ids.sorted()
  }
}
