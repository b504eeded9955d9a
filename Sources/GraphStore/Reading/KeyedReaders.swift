// Tests: PastOptionTests.swift, PastCostTests.swift, VisibleReadTests.swift
import GraphModel
import Synchronization

/// Connections whose TEMP tables or views show the graph for one key, such as a revision: a few, created on demand.
///
/// A read uses a connection that shows its key already. Otherwise it uses the one with the fewest reads and, among
/// these, the least recently used one, where it may have to wait.
final class KeyedReaders<Key: Equatable & Sendable, Reader: AnyObject & Sendable>: Sendable {
  private struct Slot {
    let reader: Reader
    var key: Key
    /// The number of reads that use it or wait for it.
    var users = 0
    /// A counter value that rises with each use.
    var lastUse: UInt64
  }

  private struct State {
    var slots = [Slot]()
    var uses: UInt64 = 0
  }

  /// Guarded by its mutex, because reads come from several threads.
  private let state = Mutex(State())
  private let maximum: Int
  private let waitsForKey: Bool
  private let make: @Sendable () throws -> Reader

  /// - Parameters:
  ///   - maximum: the highest number of connections; at least 1.
  ///   - waitsForKey: whether a read waits for a busy connection of its key rather than make another one, because
  ///     another key costs much.
  init(maximum: Int, waitsForKey: Bool, make: @escaping @Sendable () throws -> Reader) {
    self.maximum = max(1, maximum)
    self.waitsForKey = waitsForKey
    self.make = make
  }

  /// Runs `body` with a connection for a key.
  func read<Result>(_ key: Key, _ body: (Reader) throws -> Result) throws -> Result {
    let reader = try checkOut(key)
    defer { checkIn(reader) }
    return try body(reader)
  }

  private func checkOut(_ key: Key) throws -> Reader {
    try state.withLock { state in
      state.uses += 1
      var place = state.slots.firstIndex { $0.key == key && (waitsForKey || $0.users == 0) }
      if place == nil, state.slots.count < maximum {
        state.slots.append(Slot(reader: try make(), key: key, lastUse: state.uses))
        place = state.slots.count - 1
      }
      let leastUsed = state.slots.indices.min {
        (state.slots[$0].users, state.slots[$0].lastUse) < (state.slots[$1].users, state.slots[$1].lastUse)
      }
      let found = try invariant(place ?? leastUsed, "at least one connection reads")
      state.slots[found].key = key
      state.slots[found].lastUse = state.uses
      state.slots[found].users += 1
      return state.slots[found].reader
    }
  }

  private func checkIn(_ reader: Reader) {
    state.withLock { state in
      // The slot is missing if the store has been reopened since.
      if let place = state.slots.firstIndex(where: { $0.reader === reader }) {
        assert(state.slots[place].users > 0)
        state.slots[place].users -= 1
      }
    }
  }

  /// Drops all connections. Reads in progress finish on theirs; the next reads open new ones.
  func forget() { state.withLock { $0.slots = [] } }
}
