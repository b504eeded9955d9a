// Tests: DamageTests.swift
import GraphModel
import Logging
import Synchronization

/// Refuses objects and commits with a wrong checksum, and logs each once. Damage affects only reads of the damaged
/// data; everything else is still served.
final class DamageReporter: Sendable {
  private enum DamagedItem: Hashable {
    case object(UniqueID)
    case commit(Revision)
  }

  private let model: Model
  private let log: Logger
  private let reported = Mutex<Set<DamagedItem>>([])
  /// The maximum number of log lines; further damage is refused without one.
  static let maximumReports = 1_000

  init(model: Model, log: Logger) {
    self.model = model
    self.log = log
  }

  /// The refusal for an object whose row has changed outside a commit.
  func refusal(object id: ObjectID) -> Refusal {
    let name = "\(model.displayName(of: id.entity)) \(id.key)"
    report(.object(id.key), "an object is damaged", "object", name)
    return Refusal(
      .unavailable,
      "\(name) is damaged: its row has changed outside a commit; \(DamageNotice.advice). Everything else is served")
  }

  /// The refusal for a commit whose row has changed.
  func refusal(commit revision: Revision) -> Refusal {
    report(.commit(revision), "a commit of history is damaged", "revision", "\(revision)")
    return Refusal(
      .unavailable,
      "the commit of revision \(revision) is damaged: its row in history has changed since it was written; "
        + "\(DamageNotice.advice). Everything else is served")
  }

  private func report(_ subject: DamagedItem, _ message: String, _ key: String, _ name: String) {
    let isNew = reported.withLock { reported in
      reported.count < Self.maximumReports && reported.insert(subject).inserted
    }
    if isNew { log.error("\(message); \(DamageNotice.advice)", metadata: [key: "\(name)"]) }
  }
}
