// Tests: PastCostTests.swift, ConflictAuthorTests.swift
import GraphModel

/// An index into an object's past: the last change of each property, within a range of the object's changes.
///
/// A walk (`ObjectWalk`) to the origin of one property continues at its mark, or before the range, instead of passing
/// the changes of all other properties. Every 64th change of an object has marks, as far as the writer has seen the
/// changes (`LastWriterTracker`). Marks are an optimization only; history is complete without them.
struct LastWriterIndex: Equatable {
  struct LastWrite: Equatable {
    var property: PropertyNumber
    var revision: Revision
  }

  /// The object's last change before the range.
  var behind: Revision
  /// The marks, sorted by property.
  var last = [LastWrite]()

  /// The change at which a search continues, for a property that this change does not touch.
  func next(for property: PropertyNumber) -> Revision {
    last.first { $0.property == property }?.revision ?? behind
  }

  /// Records that a change touched these properties.
  mutating func record(_ edits: [Edit], _ spacing: [PropertyNumber], at revision: Revision) {
    for edit in edits where !spacing.contains(edit.property) {
      if let place = last.firstIndex(where: { $0.property == edit.property }) {
        last[place].revision = revision
      } else {
        let place = last.firstIndex { $0.property > edit.property } ?? last.endIndex
        last.insert(LastWrite(property: edit.property, revision: revision), at: place)
      }
    }
    assert(zip(last, last.dropFirst()).allSatisfy { $0.property < $1.property })
  }
}

/// A field of a change in history; programs that do not know it skip it.
extension LastWriterIndex: BinaryCodable {
  func encode(to writer: inout BinaryWriter) {
    writer.field(1, behind)
    for mark in last {
      writer.message(2) {
        $0.field(1, UInt64(mark.property))
        $0.field(2, mark.revision)
      }
    }
  }

  init(from reader: inout BinaryReader) throws(MalformedMessage) {
    self.init(behind: 0)
    while let (number, field) = try reader.next() {
      switch number {
      case 1: behind = try field.integer()
      case 2:
        var (mark, inner) = (LastWrite(property: 0, revision: 0), try field.reader())
        while let (number, field) = try inner.next() {
          if number == 1 { mark.property = try field.uint32() }
          if number == 2 { mark.revision = try field.integer() }
        }
        last.append(mark)
      default: break
      }
    }
  }
}

/// The writer's memory of frequently changed objects, so that marks require no reads of history. It may forget any
/// object at any time; the object's next marks then cover a shorter range.
final class LastWriterTracker {
  private struct Entry {
    /// The last change of the object that was seen.
    var newest: Revision
    /// The number of changes since the last one with marks.
    var count = 0
    var lastWrites: LastWriterIndex
  }

  /// The number of an object's changes from one with marks to the next.
  static let interval = 64
  /// The maximum number of remembered objects, which take some megabytes.
  static let maximumObjects = 8_192
  /// A larger commit is not typing or dragging, so it adds no new objects.
  static let maximumNewcomers = 256

  private var entries = [ObjectID: Entry]()
  private var pending = [(id: ObjectID, entry: Entry?)]()

  /// Returns the marks for the changes of a commit; nothing is remembered before `remember`.
  func lastWrites(of changes: [ObjectChange], at revision: Revision) -> [ObjectID: LastWriterIndex] {
    pending.removeAll(keepingCapacity: true)
    var due = [ObjectID: LastWriterIndex]()
    let isLarge = changes.count > Self.maximumNewcomers
    if isLarge, entries.isEmpty { return due }
    for index in changes.indices {
      if isLarge, entries[changes[index].id] == nil { continue }
      // Inserts are most of the changes; they are not copied, and mostly nothing is remembered.
      guard changes[index].kind == .updated, let before = changes[index].before else {
        if !entries.isEmpty, entries[changes[index].id] != nil { pending.append((changes[index].id, nil)) }
        continue
      }
      let change = changes[index]
      let known = entries[change.id]
      // Changes that were not seen here, such as a batch's, are before the range.
      var entry = Entry(newest: revision, lastWrites: LastWriterIndex(behind: before.revision))
      if let known, known.newest == before.revision {
        (entry.count, entry.lastWrites) = (known.count, known.lastWrites)
      }
      entry.lastWrites.record(change.edits, change.spacing, at: revision)
      entry.count += 1
      if entry.count >= Self.interval {
        due[change.id] = entry.lastWrites
        entry.count = 0
      }
      pending.append((change.id, entry))
    }
    return due
  }

  /// Remembers the changes of the last `lastWrites` call, after their commit is written.
  func remember() {
    for (id, entry) in pending {
      if entry != nil, entries.count >= Self.maximumObjects, entries[id] == nil { entries.removeAll() }
      entries[id] = entry
    }
    assert(entries.count <= Self.maximumObjects)
    pending.removeAll(keepingCapacity: true)
  }

  /// Forgets everything, because the last changes may not have been committed.
  func forgetAll() {
    entries.removeAll()
    pending.removeAll()
  }
}
