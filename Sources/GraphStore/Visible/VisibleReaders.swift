// Tests: VisibleReadTests.swift
import GRDB
import GraphModel
import Synchronization

/// A connection for reads of the graph reduced to what one visibility class sees.
///
/// `@unchecked Sendable`: `shown` and the statements are accessed inside the queue only.
final class VisibleReader: @unchecked Sendable {
  private let queue: DatabaseQueue
  private let layout: StoreLayout
  private let damage: DamageReporter
  private let statements = StatementCache()
  /// The class whose views exist.
  private var shown: Visibility?

  init(_ queue: DatabaseQueue, layout: StoreLayout, damage: DamageReporter) {
    (self.queue, self.layout, self.damage) = (queue, layout, damage)
  }

  /// Runs `body` in a read transaction in which table names resolve to what the class sees.
  func read<Result>(_ visibility: Visibility, _ body: (ObjectReader, HistoryReader) throws -> Result) throws -> Result {
    var result: Swift.Result<Result, any Error>?
    do {
      try queue.inDatabase { database in
        try database.inTransaction(.deferred) {
          let connection = Connection(database, statements: statements)
          if shown != visibility {
            shown = nil
            try VisibleViews.hide(connection, layout: layout)
            try VisibleViews(connection: connection, layout: layout, visibility: visibility).show()
            shown = visibility
          }
          let objects = ObjectReader(connection, layout: layout, damage: damage, visibility: visibility)
          result = Swift.Result { try body(objects, HistoryReader(objects: objects)) }
          // The views stay valid even if the read failed.
          return .commit
        }
      }
    } catch {
      queue.inDatabase { _ in shown = nil }
      throw error
    }
    return try invariant(result, "a read has a result or an error").get()
  }
}

/// The connections for reads of visibility classes: a few, created on demand.
///
/// A read uses a connection that shows its class already. Otherwise it uses the one with the fewest reads and, among
/// these, the least recently used one, where it may have to wait.
final class VisibleReaders: Sendable {
  private struct Slot {
    let reader: VisibleReader
    var visibility: Visibility
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
  private let make: @Sendable () throws -> VisibleReader

  init(maximum: Int, make: @escaping @Sendable () throws -> VisibleReader) {
    self.maximum = max(1, maximum)
    self.make = make
  }

  /// Runs a read of what a class sees.
  func read<Result>(_ visibility: Visibility, _ body: (ObjectReader, HistoryReader) throws -> Result) throws -> Result {
    let reader = try checkOut(visibility)
    defer { checkIn(reader) }
    return try reader.read(visibility, body)
  }

  private func checkOut(_ visibility: Visibility) throws -> VisibleReader {
    try state.withLock { state in
      state.uses += 1
      // A free connection of the class is best; another one is made before a read waits.
      var place = state.slots.firstIndex { $0.visibility == visibility && $0.users == 0 }
      if place == nil, state.slots.count < maximum {
        state.slots.append(Slot(reader: try make(), visibility: visibility, lastUse: state.uses))
        place = state.slots.count - 1
      }
      let leastUsed = state.slots.indices.min {
        (state.slots[$0].users, state.slots[$0].lastUse) < (state.slots[$1].users, state.slots[$1].lastUse)
      }
      let found = try invariant(place ?? leastUsed, "at least one connection reads for a class")
      state.slots[found].visibility = visibility
      state.slots[found].lastUse = state.uses
      state.slots[found].users += 1
      return state.slots[found].reader
    }
  }

  private func checkIn(_ reader: VisibleReader) {
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
