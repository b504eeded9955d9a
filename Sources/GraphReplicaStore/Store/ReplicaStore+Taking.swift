// Tests: ReplicaStoreTests.swift
import GraphModel
import GraphStore

/// Takes the edits of a file: those of another replica or of a browser, or those that a reset has removed here.
extension ReplicaStore {
  /// The edits that were taken.
  package struct Taken: Sendable, Equatable {
    /// The numbers here, in the order of the file.
    package var numbers = [Int64]()
    /// Those of them that the rules do not allow over the present copy. They are parked, with the reason.
    package var parked = [Int64]()
    /// The number of undos, which only their own replica can send. They are left out.
    package var undos = 0
  }

  /// Takes all intents of a file in one durable step, each under a number of its own.
  /// - Throws: `Refusal(.malformed)` if an intent of another replica names an object of an intent that is not in the
  ///   file. Then nothing is taken.
  package func take(_ intents: [Intent], now: Timestamp) throws -> Taken {
    try state.withLock { state in
      let appended: (taken: Taken, newest: Revision) = try overlay.append(above: state.head) { change, plan in
        var newest = state.head
        let added = try unsent.take(intents, form: form, after: change, restores: restores, at: now) { intent, used in
          let edit = try invariant(intent.edit(usedNumbers: used, of: account), "an edit that is taken changes objects")
          let planned = try plan(edit)
          newest = max(newest, planned.revision)
          return try planned.result.get().provisionalNumbers(model)
        }
        return (result: (taken: added.taken, newest: newest), change: added.change)
      }
      state.head = appended.newest
      return appended.taken
    }
  }
}
