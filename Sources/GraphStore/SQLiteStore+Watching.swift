import GraphModel

/// Live queries that follow paths: whoever follows names them on any thread, the writer takes them on its own.
extension SQLiteStore {
  /// From now on the writer says of its commits what they do to this query. `number` is the hub's name for it.
  public func watch(_ query: LiveQuery, number: UInt64) {
    watches.withLock { $0.append(.insert(query, number)) }
  }

  /// From now on it says nothing of that query any more.
  public func unwatch(_ number: UInt64) {
    watches.withLock { pending in
      // Nobody has taken it yet: nobody has to.
      let inserted = pending.lastIndex { if case .insert(_, number) = $0 { true } else { false } }
      if let inserted { pending.remove(at: inserted) } else { pending.append(.remove(number)) }
    }
  }

  /// The queries as they are now; on the writer's thread.
  func takeWatches() {
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
