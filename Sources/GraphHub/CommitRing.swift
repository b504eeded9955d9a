// Tests: HubTests.swift
import DequeModule
import GraphModel

/// A bounded ring of the recent commits and their encoded deltas.
///
/// Sessions that lag, resume or have just loaded a query read from here before they fall back to history. Every
/// commit is appended; the oldest entries are evicted when the ring exceeds its bounds.
struct CommitRing {
  /// A class, because the ring moves its elements when it grows, and each look at an element would copy its fields.
  final class Entry: Sendable {
    let record: CommitRecord
    /// The encoded deltas, by query. Complete for queries numbered up to `lastQuery`.
    let deltas: [UInt64: [UInt8]]
    let lastQuery: UInt64
    let size: Int

    fileprivate init(_ record: CommitRecord, _ deltas: [UInt64: [UInt8]], lastQuery: UInt64) {
      (self.record, self.deltas, self.lastQuery) = (record, deltas, lastQuery)
      size = deltas.values.reduce(record.approximateSize) { $0 + $1.count }
    }
  }

  private var entries = Deque<Entry>()
  private var size = 0
  private let maximumSize: Int
  private let maximumCount: Int

  init(maximumSize: Int, maximumCount: Int) {
    self.maximumSize = maximumSize
    self.maximumCount = maximumCount
  }

  mutating func append(_ record: CommitRecord, deltas: [UInt64: [UInt8]], lastQuery: UInt64) {
    assert(entries.suffix(1).allSatisfy { $0.record.revision + 1 == record.revision }, "the ring has no gaps")
    let entry = Entry(record, deltas, lastQuery: lastQuery)
    entries.append(entry)
    size += entry.size
    while size > maximumSize || entries.count > maximumCount, let oldest = entries.popFirst() { size -= oldest.size }
  }

  /// The commit with this revision; nil when it has been evicted.
  subscript(revision: Revision) -> Entry? {
    guard let first = entries.first?.record.revision, revision >= first, revision < first + Int64(entries.count) else {
      return nil
    }
    let entry = entries[Int(revision - first)]
    assert(entry.record.revision == revision, "the ring has no gaps")
    return entry
  }

  mutating func clear() {
    entries.removeAll()
    size = 0
  }

  /// The oldest revision in the ring.
  var first: Revision? { entries.first?.record.revision }
}
