// Tests: VisibleReadTests.swift
import GRDB
import GraphModel

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
