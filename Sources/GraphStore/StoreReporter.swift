// Tests: DamageTests.swift, ExplainTests.swift
import GraphModel
import Logging
import Synchronization

/// The log lines of a store about slow queries, damage and failures, each written a limited number of times.
final class StoreReporter: Sendable {
  let log: Logger
  let scans: ScanReporter
  let damage: DamageReporter
  /// Limits the lines of consecutive failures. Any thread may report one.
  private let limiter: Mutex<LogRateLimiter>

  init(model: Model, log: Logger, options: SQLiteStore.Options) {
    self.log = log
    scans = ScanReporter(model: model, log: log, limit: options.longScan)
    damage = DamageReporter(model: model, log: log)
    limiter = Mutex(LogRateLimiter(clock: options.monotonicNanoseconds))
  }

  /// Logs a failure that the store survives.
  /// - Parameter kind: failures of one kind share one limit.
  func report(_ kind: String, _ message: Logger.Message, _ error: any Error) {
    if let omitted = limiter.withLock({ $0.omitted(before: kind) }) {
      log.error(message, metadata: ["cause": "\(error)", "omitted": "\(omitted)"])
    }
  }
}
