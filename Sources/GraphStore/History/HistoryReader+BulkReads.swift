// Tests: PastOptionTests.swift, PastCostTests.swift
import GRDBSQLite
import GraphModel
import HeapModule

/// The changes of many objects. Walking each object's past separately would decode a commit of 100,000 objects
/// 100,000 times.
extension HistoryReader {
  /// The changes of an object after `base`, up to `newest`, its last change.
  struct ChangeRange {
    var newest: Revision
    var base: Revision
  }

  /// Returns the changes of each object, oldest first, as far as history has them. Each commit is read once, newest
  /// first, and only the changes of these objects are decoded.
  func events(of spans: [ObjectID: ChangeRange]) throws -> [ObjectID: [RecordedChange]] {
    var events = [ObjectID: [RecordedChange]]()
    var waiting = [Revision: [ObjectID]]()
    var revisions = Heap<Revision>()
    func wait(_ id: ObjectID, for revision: Revision) {
      guard let base = spans[id]?.base, revision > base else { return }
      if waiting[revision] == nil { revisions.insert(revision) }
      waiting[revision, default: []].append(id)
    }
    for (id, span) in spans { wait(id, for: span.newest) }
    while let revision = revisions.popMax(), let ids = waiting.removeValue(forKey: revision) {
      for event in try self.events(of: ids, in: revision) where event.change.previous < revision {
        events[event.change.id, default: []].append(event)
        wait(event.change.id, for: event.change.previous)
      }
    }
    return events.mapValues { $0.reversed() }
  }

  /// Returns the changes of some objects in a commit; repeated changes in a batch are merged into one.
  private func events(of ids: [ObjectID], in revision: Revision) throws -> [RecordedChange] {
    let row = try connection.statement(Self.columns + " WHERE revision = ?")
    row.bind(1, revision)
    defer { sqlite3_reset(row.statement) }
    guard try connection.step(row) else { return [] }
    let (author, replica, bytes) = (row.text(2), row.id(3), row.blob(8))
    try verify(row, changes: bytes)
    let keys = Set(ids.map(\.key))
    let version = objects.layout.version(of: revision)
    func changes(in bytes: [UInt8]) throws -> [HistoryChange] {
      try HistoryChange.decode(bytes) { keys.contains($0.key) }.changes
        .map { $0.present(objects.layout, version: version) }
    }
    var found = [HistoryChange]()
    if try CommitPartSummary(bytes) == nil {
      found = try changes(in: bytes)
    } else {
      let sorted = ids.sorted()
      for place in try places(of: revision) where Self.isAny(of: sorted, in: place) {
        found += try changes(in: partBytes(place.number, of: revision))
      }
      found = HistoryChange.joined(found)
    }
    return found.map { RecordedChange(revision: revision, author: author, replica: replica, change: $0) }
  }
}
