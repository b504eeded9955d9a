// Tests: FetchTests.swift, RandomGraphTests.swift
import GraphModel

import struct GraphModel.FetchRequest

/// Fetches and their explanations.
extension SQLiteStore {
  /// Performs a fetch in one read transaction and passes the result to `body` in parts; an error of `body` ends it.
  public func answer(
    _ request: FetchRequest, while isWanted: () -> Bool, _ body: (FetchElement) throws -> Void
  ) throws -> FetchCompletion {
    try request.check(in: model)
    if let revision = request.at { return try answer(request, at: revision, while: isWanted, body) }
    return try read { objects, history, head in
      let run = try FetchExecution(request, objects, history)
      let start = options.monotonicNanoseconds()
      try objects.connection.run(while: isWanted) { try request.explains ? run.run { _ in } : run.run(body) }
      let duration = options.monotonicNanoseconds() - start
      // The fetch is complete, so a scan is reported even if the explanation fails.
      scans.report(.fetch, request, steps: run.scannedSteps, plans: run.plans)
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
