// Tests: PastOptionTests.swift, PastCostTests.swift
import GraphModel
import Synchronization

/// The connections for reads of past states: a few, created on demand.
///
/// A read uses the connection that has its revision already. Otherwise it uses the one with the fewest reads and,
/// among these, the least recently used one, where it may have to wait.
final class PastReaders: Sendable {
  private struct Slot {
    let reader: PastReader
    var revision: Revision
    /// The number of reads that use it or wait for it.
    var users = 0
    /// A counter value that rises with each use.
    var lastUse: UInt64
  }

  private struct State {
    var slots = [Slot]()
    var uses: UInt64 = 0
  }

  private let state = Mutex(State())
  private let maximum: Int
  private let make: @Sendable () throws -> PastReader

  init(maximum: Int, make: @escaping @Sendable () throws -> PastReader) {
    self.maximum = max(1, maximum)
    self.make = make
  }

  /// Runs a read of the graph at a revision.
  func read<Result>(
    at revision: Revision, seenBy visibility: Visibility? = nil,
    _ body: (ObjectReader, HistoryReader, ShadowedTables) throws -> Result
  ) throws -> Result {
    let reader = try checkOut(revision)
    defer { checkIn(reader) }
    return try reader.read(at: revision, seenBy: visibility, body)
  }

  private func checkOut(_ revision: Revision) throws -> PastReader {
    try state.withLock { state in
      state.uses += 1
      var place = state.slots.firstIndex { $0.revision == revision }
      if place == nil, state.slots.count < maximum {
        state.slots.append(Slot(reader: try make(), revision: revision, lastUse: state.uses))
        place = state.slots.count - 1
      }
      let leastUsed = state.slots.indices.min {
        (state.slots[$0].users, state.slots[$0].lastUse) < (state.slots[$1].users, state.slots[$1].lastUse)
      }
      let found = try invariant(place ?? leastUsed, "at least one connection reads the past")
      state.slots[found].revision = revision
      state.slots[found].lastUse = state.uses
      state.slots[found].users += 1
      return state.slots[found].reader
    }
  }

  private func checkIn(_ reader: PastReader) {
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
