import GRDB
import GraphModel

/// What `user_version` says: the layout of the tables in the lowest byte, and in the next one the version of
/// `WordSplitter` that the full-text indexes were made by. Stores from before there were versions have 0 there. A program
/// that does not know a splitter must not write: it would take other words out of an index than are in it.
struct LayoutMark: Equatable {
  var layout: Int32
  var words: Int32 = WordSplitter.version

  init(layout: Int32) { self.layout = layout }

  init(rawValue: Int32) {
    layout = rawValue & 0xFF
    words = rawValue >> 8
  }

  var rawValue: Int32 { words << 8 | layout }

  /// Whether this program reads such a store.
  var isKnown: Bool { layout <= StoreLayout.newestVersion && words <= WordSplitter.version }

  static func read(_ database: Database) throws -> LayoutMark {
    LayoutMark(rawValue: try Int32.fetchOne(database, sql: "PRAGMA user_version") ?? 0)
  }

  /// The statement that gives a store the mark.
  var statement: String { "PRAGMA user_version = \(rawValue)" }
}
