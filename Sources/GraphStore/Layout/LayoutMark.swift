import GRDB
import GraphModel

/// The value of `user_version`: the layout of the tables in the lowest byte, and the version of `WordSplitter` that
/// the full-text indexes use in the next one.
///
/// Stores from before the splitter had versions have 0 there. A program that does not know the splitter must not
/// write, because it would remove other words from an index than those in it.
struct LayoutMark: Equatable {
  var layout: Int32
  var words: Int32 = WordSplitter.version

  init(layout: Int32) { self.layout = layout }

  init(rawValue: Int32) {
    layout = rawValue & 0xFF
    words = rawValue >> 8
  }

  var rawValue: Int32 { words << 8 | layout }

  /// Whether this program can read the store.
  var isKnown: Bool { layout <= StoreLayout.newestVersion && words <= WordSplitter.version }

  static func read(_ database: Database) throws -> LayoutMark {
    LayoutMark(rawValue: try Int32.fetchOne(database, sql: "PRAGMA user_version") ?? 0)
  }

  /// The statement that writes the mark.
  var statement: String { "PRAGMA user_version = \(rawValue)" }
}
