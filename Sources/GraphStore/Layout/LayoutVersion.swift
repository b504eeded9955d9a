// Tests: SearchTests.swift, BatchHistoryTests.swift
import GRDB
import GraphModel

/// The value of `user_version`: the layout of the tables, and the version of the word splitter.
///
/// The layout is the lowest byte, and the version of `WordSplitter` that the full-text indexes use is the next one;
/// it is 0 in stores from before the splitter had versions. A program that does not know the splitter must not write,
/// because it would remove other words from an index than those in it.
package struct LayoutVersion: Equatable {
  package var layout: Int32
  var words: Int32 = WordSplitter.version

  package init(layout: Int32) { self.layout = layout }

  init(rawValue: Int32) {
    layout = rawValue & 0xFF
    words = rawValue >> 8
  }

  var rawValue: Int32 { words << 8 | layout }

  /// Whether this program can read the store.
  var isKnown: Bool { layout <= StoreLayout.version && words <= WordSplitter.version }

  package static func read(_ database: Database) throws -> LayoutVersion {
    LayoutVersion(rawValue: Int32(truncatingIfNeeded: try database.integerPragma("user_version")))
  }

  /// The statement that writes the mark.
  package var statement: String { "PRAGMA user_version = \(rawValue)" }
}
