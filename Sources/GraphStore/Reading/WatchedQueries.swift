// Tests: RandomGraphTests.swift
import GraphModel
import Synchronization

/// The live queries with key paths. The hub changes them from any thread; the writer applies the changes on its own.
final class WatchedQueries: Sendable {
  private enum Change {
    case insert(LiveQuery, UInt64, Visibility?)
    case remove(UInt64)
    case recordReferences(Bool)
  }

  /// The changes that the next batch applies.
  private let changes = Mutex<[Change]>([])

  func insert(_ query: LiveQuery, number: UInt64, seenBy visibility: Visibility?) {
    changes.withLock { $0.append(.insert(query, number, visibility)) }
  }

  func remove(_ number: UInt64) {
    changes.withLock { pending in
      // An insertion that the writer has not applied yet is simply withdrawn.
      let inserted = pending.lastIndex { if case .insert(_, number, _) = $0 { true } else { false } }
      if let inserted { pending.remove(at: inserted) } else { pending.append(.remove(number)) }
    }
  }

  /// Sets whether commit records contain the objects to which the changed ones refer.
  func recordReferences(_ isWanted: Bool) { changes.withLock { $0.append(.recordReferences(isWanted)) } }

  /// Applies the pending changes; called on the writer's thread.
  func apply(to related: inout PathQueryMatcher) {
    let pending = changes.withLock { pending in
      defer { pending = [] }
      return pending
    }
    for change in pending {
      switch change {
      case .insert(let query, let number, let visibility):
        related.insert(query, number: number, seenBy: visibility)
      case .remove(let number): related.remove(number)
      case .recordReferences(let isWanted): related.recordsReferences = isWanted
      }
    }
  }
}
