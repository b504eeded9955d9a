// Tests: UnsentFileTests.swift, RestoredServerTests.swift
import GRDB
import GraphModel
import GraphStore

/// Adapts the queue to a server that was restored from a backup. The intents may refer to states that it has lost, and
/// in whose place it may have others with the same revisions.
extension UnsentFile {
  /// Makes durable that no intent refers to a state after `common`. Processes that have opened the mirror before append
  /// nothing until they open it again (`ReplicaStore`).
  ///
  /// A lower base lets the server compare the intent with all that it has in place of the lost states, so a value of
  /// others that the user has not seen is a conflict. Splices are moved by the text that they refer to. An intent is
  /// parked if it has no meaning without a lost state, or if no common state is known. One that may have been committed
  /// before the backup is sent in that case: the server knows it by its id.
  /// - Parameters:
  ///   - common: the newest state that the mirror and the server have in common; nil for none that is known.
  ///   - text: reads the mirror of before the restore; nil without one.
  ///   - objects: the only objects whose edits are concerned; nil for all.
  /// - Returns: the number of intents that were parked.
  package func rebase(
    onto common: Revision?, at time: Timestamp, form: IntentForm, text: Intent.PastText?,
    only objects: Set<ObjectID>? = nil
  ) throws -> Int {
    try write { database in
      let before = try Self.countOfParked(database)
      var lost = [(number: Int64, parking: Parking)]()
      try Self.forEachEntry(database, form) { entry in
        // One without a meaning in this version of the model is parked when it would be sent.
        if var intent = entry.intent, objects.map({ intent.changes(anyOf: $0) }) != false {
          let message = try intent.rebase(onto: common, text, form.model)
          if intent != entry.intent { try Self.replace(intent, database, form) }
          if let message {
            let parking = Parking(code: Parking.restored, message: message, at: time, left: intent.leftTime)
            lost.append((intent.number, parking))
          }
        }
      }
      try Self.park(lost, database, form)
      try update(database) { $0.restores += 1 }
      return try Self.countOfParked(database) - before
    }
  }

  private static func countOfParked(_ database: Database) throws -> Int {
    try invariant(
      Int.fetchOne(database, sql: "SELECT count(*) FROM intent WHERE state = 'parked'"), "a count of rows is a number")
  }
}

extension Intent {
  fileprivate func changes(anyOf objects: Set<ObjectID>) -> Bool {
    changes.contains { $0.base > 0 && objects.contains($0.id) }
  }

  /// - Returns: why the intent must wait for its user; nil if it need not, or if it waits already.
  fileprivate mutating func rebase(onto common: Revision?, _ text: PastText?, _ model: Model) throws -> String? {
    let newest: Revision = if let common { common } else { 0 }
    let effect = try lowerBases(to: newest, text, model)
    if case .parked(var parking) = state {
      if effect == .lost {
        (parking.code, parking.message) = (Parking.restored, Parking.lostState)
        state = .parked(parking)
      }
      return nil
    }
    return switch effect {
    case .none: nil
    case .lowered: common == nil && !hasLeft ? Parking.unknownState : nil
    case .lost: Parking.lostState
    }
  }
}

extension Parking {
  /// The code of an intent that refers to a state which the server has lost.
  package static let restored = "restored"

  var isRestored: Bool { UTF8Comparison.equal(code, Self.restored) }

  fileprivate static let lostState =
    "the server was restored from a backup, and no longer has the state that the edit refers to: discard it, or change it"
  fileprivate static let unknownState =
    "the server was restored from a backup, and may no longer have the state that you saw: look at what it has now, and "
    + "send the edit again"
}
