import GraphModel

/// A short cut through an object's past: where each of its properties changed last, of those that did in the changes that
/// this speaks of. Whoever asks for one property goes on at its mark, or behind all of them, and not through the changes
/// of all others.
///
/// Every sixty-fourth change of an object carries one, as far as the writer has seen them (`PropertyMarker`). History is
/// whole without them: they are only faster.
struct PropertyMarks: Equatable {
  struct Mark: Equatable {
    var property: PropertyNumber
    var revision: Revision
  }

  /// The object's change before the first that this speaks of.
  var behind: Revision
  /// By property.
  var last = [Mark]()

  /// The change to go on at from here, for a property that this change does not touch.
  func next(for property: PropertyNumber) -> Revision {
    last.first { $0.property == property }?.revision ?? behind
  }

  /// Notes that a change touched these properties.
  mutating func note(_ edits: [Edit], _ spacing: [PropertyNumber], at revision: Revision) {
    for edit in edits where !spacing.contains(edit.property) {
      if let place = last.firstIndex(where: { $0.property == edit.property }) {
        last[place].revision = revision
      } else {
        let place = last.firstIndex { $0.property > edit.property } ?? last.endIndex
        last.insert(Mark(property: edit.property, revision: revision), at: place)
      }
    }
  }
}

/// A field of a change in history; a program that does not know it skips it.
extension PropertyMarks: BinaryForm {
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
        var (mark, inner) = (Mark(property: 0, revision: 0), try field.reader())
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

/// What the writer remembers of objects that change again and again, so that a mark costs it no look into history. It may
/// forget any of them at any time: the next marks of that object then begin anew, and say behind what.
final class PropertyMarker {
  private struct Entry {
    /// The object's last change that was seen.
    var newest: Revision
    /// Changes since the last that carries marks.
    var count = 0
    var marks: PropertyMarks
  }

  /// Changes of an object from one that carries marks to the next.
  static let interval = 64
  /// Objects that are remembered: some megabytes.
  static let maximumObjects = 8_192
  /// A commit of more changes than this is no typing and no dragging: it is noted for those that are remembered already.
  static let maximumNewcomers = 256

  private var entries = [ObjectID: Entry]()
  private var pending = [(id: ObjectID, entry: Entry?)]()

  /// The marks that changes of a commit are to carry; nothing is remembered of it before `settle`.
  func marks(_ changes: [ObjectChange], at revision: Revision) -> [ObjectID: PropertyMarks] {
    pending.removeAll(keepingCapacity: true)
    var due = [ObjectID: PropertyMarks]()
    let isLarge = changes.count > Self.maximumNewcomers
    if isLarge, entries.isEmpty { return due }
    for index in changes.indices {
      if isLarge, entries[changes[index].id] == nil { continue }
      let change = changes[index]
      guard change.kind == .updated, let before = change.before else {
        if entries[change.id] != nil { pending.append((change.id, nil)) }
        continue
      }
      let known = entries[change.id]
      // Whatever was not seen here, a batch for one, lies behind.
      let begins = known?.newest != before.revision
      var entry = begins ? nil : known
      var marks = entry?.marks ?? PropertyMarks(behind: before.revision)
      marks.note(change.edits, change.spacing, at: revision)
      entry = Entry(newest: revision, count: (entry?.count ?? 0) + 1, marks: marks)
      if let count = entry?.count, count >= Self.interval {
        due[change.id] = marks
        entry?.count = 0
      }
      pending.append((change.id, entry))
    }
    return due
  }

  /// The commit is written.
  func settle() {
    for (id, entry) in pending {
      if entry != nil, entries.count >= Self.maximumObjects, entries[id] == nil { entries.removeAll() }
      entries[id] = entry
    }
    pending.removeAll(keepingCapacity: true)
  }

  /// What was noted may not have been committed.
  func forgetAll() {
    entries.removeAll()
    pending.removeAll()
  }
}
