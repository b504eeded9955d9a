import GRDB
import GraphModel
import Logging
import Synchronization

import struct GraphModel.FetchRequest

/// Fetches, and what can be told of how they were answered.
extension SQLiteStore {
  /// Reads inside one read transaction and hands out part by part; what `body` throws ends it.
  public func answer(
    _ request: FetchRequest, while isWanted: () -> Bool, _ body: (FetchedPart) throws -> Void
  ) throws -> FetchEnd {
    try request.check(in: model)
    if let revision = request.at { return try answer(request, at: revision, while: isWanted, body) }
    return try read { objects, history, head in
      let run = try FetchRun(request, objects, history)
      let start = options.monotonicNanoseconds()
      try objects.connection.run(while: isWanted) { try request.explains ? run.run { _ in } : run.run(body) }
      let duration = options.monotonicNanoseconds() - start
      // Told or not, the answer has been given.
      if run.scannedSteps > options.longScan { try? reportScan(run) }
      guard request.explains else { return FetchEnd(at: head, count: run.count, next: try run.next()) }
      return FetchEnd(at: head, count: 0, explanation: try run.explanation(nanoseconds: duration))
    }
  }

  /// Once for each shape of fetch: condition without its constants, and order.
  private func reportScan(_ run: FetchRun) throws {
    let request = run.request
    // Who asks for everything gets everything.
    guard request.predicate != .always || request.limit != nil && !request.sort.isEmpty else { return }
    let condition = request.predicate.textWithoutConstants(in: model)
    let order = request.sort.text(in: model)
    guard scans.isNew("\(request.entity) \(condition) ORDER \(order)") else { return }
    let plans = try run.plans()
    guard let table = plans.flatMap(\.scans).first else { return }
    log.notice(
      "a fetch of \(run.entity.name) reads all of \(table); \(remedy(for: request, plans.flatMap(\.orders).first))",
      metadata: [
        "where": "\(condition.prefix(Self.loggedCondition))", "sort": "\(order.prefix(Self.loggedCondition))",
      ])
  }

  /// - Parameter order: the index that it follows already.
  private func remedy(for request: FetchRequest, _ order: String?) -> String {
    let wanting = IndexAdvice.attributes(for: request, in: model)
    if !wanting.isEmpty {
      if IndexAdvice.isOneSided(request, in: model) {
        return
          "with \"indexed\": true on \(wanting.joined(separator: " or ")) in the model a fetch that is sorted by it "
          + "would not"
      }
      return "with \"indexed\": true on \(wanting.joined(separator: " and ")) in the model it would not"
    }
    if let order { return "it follows the index \(order) for its order, and no index helps its condition" }
    let indexed = IndexAdvice.indexedAttributes(for: request, in: model)
    if !indexed.isEmpty {
      return "the index on \(indexed.joined(separator: " or ")) leads a fetch that is sorted by it"
    }
    return "no index helps such a condition"
  }

  /// Characters of a condition that are logged.
  private static let loggedCondition = 500
}

/// The shapes of fetches that were reported: the newest hundred, so that its memory has a bound whatever is asked.
/// `seen` is guarded by the mutex: reads report from several threads.
final class ReportedScans: Sendable {
  static let maximum = 100

  private let seen = Mutex([UInt64]())

  /// True once for each shape, and again when it has been forgotten.
  func isNew(_ shape: String) -> Bool {
    let sum = Checksum.of(Array(shape.utf8))
    return seen.withLock { seen in
      if seen.contains(sum) { return false }
      if seen.count == Self.maximum { seen.removeFirst() }
      seen.append(sum)
      return true
    }
  }
}

extension FetchRun {
  func plans() throws -> [QueryPlan] {
    try ran.flatMap(\.statements).map { try QueryPlan($0, objects.connection) }
  }

  /// Parts of an explanation that can be as long as a predicate are cut.
  private static let maximumTexts = 1_000
  private static let maximumText = 64 << 10

  func explanation(nanoseconds: Int64) throws -> FetchExplanation {
    let plans = try plans()
    let types = ran.flatMap(\.arguments).prefix(Self.maximumTexts).map(\.typeName)
    var indexes = [String]()
    for index in plans.flatMap(\.indexes) where !indexes.contains(index) { indexes.append(index) }
    return FetchExplanation(
      statements: ran.flatMap(\.statements).map { statement in
        statement.utf8.count <= Self.maximumText ? statement : String(statement.prefix(Self.maximumText)) + " …"
      },
      arguments: types, plan: Array(plans.flatMap(\.steps).prefix(Self.maximumTexts)), indexes: indexes,
      checksInMemory: ran.contains { !$0.isExact }, microseconds: nanoseconds / 1_000, count: count,
      advice: plans.contains { !$0.scans.isEmpty } ? IndexAdvice.attributes(for: request, in: objects.model) : [])
  }
}

extension Value {
  /// For an explanation, which tells no contents.
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
