// Tests: MirrorOverlayTests.swift, LongQueueTests.swift
import GraphModel

/// The queue that an overlay plans, with a log of its changes, so that an overlay follows it without reading it whole.
package protocol UnsentEditSource: AnyObject {
  /// Distinguishes the queue from a copy of it: plans of another queue are of no use.
  var identity: String { get throws }

  /// The number of the newest change; 0 for none.
  func newestChange() throws -> Int64

  /// The edits that were added, changed or removed after a change, with the number of their newest one, ascending by
  /// change. Nil if the log does not reach that far.
  func changes(after change: Int64) throws -> [(change: Int64, number: Int64)]?

  /// An edit that is shown; nil for one that was removed, or waits for its user.
  func edit(_ number: Int64) throws -> UnsentEdit?

  /// The first numbers above one, ascending.
  func numbers(after number: Int64, limit: Int) throws -> [Int64]
}

/// A queue in memory.
package final class ListedEdits: UnsentEditSource {
  private var edits = [Int64: UnsentEdit]()
  private var log = [Int64]()

  package init() {}

  package let identity = "memory"

  package func newestChange() -> Int64 { Int64(log.count) }

  package func changes(after change: Int64) -> [(change: Int64, number: Int64)]? {
    log.indices.dropFirst(Int(change)).map { (Int64($0 + 1), log[$0]) }
  }

  package func edit(_ number: Int64) -> UnsentEdit? { edits[number] }

  package func numbers(after number: Int64, limit: Int) -> [Int64] {
    Array(edits.keys.filter { $0 > number }.sorted().prefix(limit))
  }

  /// Adds or replaces an edit.
  /// - Returns: the number of the change.
  @discardableResult
  package func put(_ edit: UnsentEdit) -> Int64 {
    edits[edit.number] = edit
    log.append(edit.number)
    return Int64(log.count)
  }

  package func remove(_ number: Int64) {
    edits[number] = nil
    log.append(number)
  }
}
