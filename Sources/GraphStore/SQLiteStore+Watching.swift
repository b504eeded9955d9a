// Tests: RandomGraphTests.swift
import GraphModel

/// Live queries with key paths. The hub registers them from any thread; the writer applies the changes on its own.
extension SQLiteStore {
  /// Includes effects on this query in commit records from the next batch on. `number` is the hub's number for the
  /// query.
  public func watch(_ query: LiveQuery, number: UInt64) {
    watches.withLock { $0.append(.insert(query, number)) }
  }

  /// Stops including effects on the query.
  public func unwatch(_ number: UInt64) {
    watches.withLock { pending in
      // An insertion that the writer has not applied yet is simply withdrawn.
      let inserted = pending.lastIndex { if case .insert(_, number) = $0 { true } else { false } }
      if let inserted { pending.remove(at: inserted) } else { pending.append(.remove(number)) }
    }
  }

  /// Applies the pending changes of the watched queries; called on the writer's thread.
  func applyWatches() {
    let pending = watches.withLock { pending in
      defer { pending = [] }
      return pending
    }
    for change in pending {
      switch change {
      case .insert(let query, let number): related.insert(query, number: number)
      case .remove(let number): related.remove(number)
      }
    }
  }
}
