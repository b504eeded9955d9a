// Tests: ExplainTests.swift
import GraphModel
import Logging
import Synchronization

import struct GraphModel.FetchRequest

/// Logs queries that scan large tables, and the index that would help.
///
/// Each shape is logged once: the condition without constants, and the order. The queries are fetches, and batches that
/// select objects.
struct ScanReporter: Sendable {
  enum Purpose: String {
    case fetch = "a fetch"
    case batch = "a batch"
  }

  let model: Model
  let log: Logger
  /// The minimum number of scanned rows for a log line.
  let limit: Int
  private let reported = ReportedScans()

  init(model: Model, log: Logger, limit: Int) {
    (self.model, self.log, self.limit) = (model, log, limit)
  }

  /// Logs a query that scans too many rows, if its shape is new; an error here does not affect its answer.
  /// - Parameters:
  ///   - steps: the number of full-scan steps.
  ///   - plans: returns SQLite's plans; called only for a log line.
  func report(
    _ purpose: Purpose, _ request: FetchRequest, steps: Int, plans: () throws -> [QueryPlan]
  ) {
    // A query for all objects has to scan.
    guard steps > limit, request.predicate != .always || request.limit != nil && !request.sort.isEmpty else { return }
    let condition = request.predicate.textWithoutConstants(in: model)
    let order = request.sort.text(in: model)
    guard reported.isNew("\(purpose) \(request.entity) \(condition) ORDER \(order)"), let plans = try? plans() else {
      return
    }
    // The steps may be those of a temporary index, which SQLite builds for one statement.
    guard let table = plans.flatMap(\.scans).first else { return }
    let remedy =
      switch purpose {
      // A count also scans some index, but not for an order.
      case .fetch: remedy(for: request, request.sort.isEmpty ? nil : plans.first { !$0.sorts }?.orders.first)
      case .batch: remedy(forBatch: request)
      }
    log.notice(
      "\(purpose.rawValue) of \(model.displayName(of: request.entity)) reads all of \(table); \(remedy)",
      metadata: [
        "where": "\(condition.prefix(Self.loggedCondition))", "sort": "\(order.prefix(Self.loggedCondition))",
      ])
  }

  /// - Parameter order: the index that already provides the order.
  private func remedy(for request: FetchRequest, _ order: String?) -> String {
    let candidates = IndexAdvice.attributes(for: request, in: model)
    let isOneSided = IndexAdvice.isOneSided(request, in: model)
    if !candidates.isEmpty {
      if isOneSided {
        return
          "with \"indexed\": true on \(candidates.joined(separator: " or ")) in the model a fetch sorted by it would "
          + "not"
      }
      if IndexAdvice.isForOrder(request, in: model) {
        return
          "with \"indexed\": true on \(candidates.joined(separator: " and ")) in the model it would stop after the last "
          + "wanted row"
      }
      return Self.indexed(candidates)
    }
    if let order { return "it follows the index \(order) for its order, and no index helps its condition" }
    let indexed = IndexAdvice.indexedAttributes(for: request, in: model)
    if !indexed.isEmpty {
      return isOneSided
        ? "the index on \(indexed.joined(separator: " or ")) helps a fetch that is sorted by it"
        : "no further index would help"
    }
    return Self.noIndexHelps
  }

  /// The advice for a batch, which has no order that an index could provide.
  private func remedy(forBatch request: FetchRequest) -> String {
    let candidates = IndexAdvice.attributes(for: request, in: model)
    if IndexAdvice.isOneSided(request, in: model) { return "no index helps a range that is open at one end" }
    return candidates.isEmpty ? Self.noIndexHelps : Self.indexed(candidates)
  }

  private static func indexed(_ candidates: [String]) -> String {
    "with \"indexed\": true on \(candidates.joined(separator: " and ")) in the model it would not"
  }

  private static let noIndexHelps = "no index helps such a condition"

  /// The maximum number of characters of a condition in the log.
  private static let loggedCondition = 500
}

/// The reported shapes, limited to the newest hundred. `seen` is guarded by the mutex, because reads report from
/// several threads.
final class ReportedScans: Sendable {
  static let maximum = 100

  private let seen = Mutex([UInt64]())

  /// Returns true once for each shape, and again after the shape was dropped.
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
