// Tests: RandomHistoryTests.swift, LargeLogTests.swift
import GraphModel

/// The record of one object's change in a commit's row.
///
/// It suffices to turn the object after the commit into the object before it, and to describe the change. The present
/// and these records, newest first, are the complete past; so an insert keeps no values, and a delete keeps them all.
package struct HistoryChange {
  package var kind: ObjectChange.Kind
  package var id: ObjectID
  /// The revision of the object's preceding change: 0 for an insert. For a revival it is the revision of the delete, so
  /// that the object's past continues after it. (Revivals in old stores have 0.)
  var previous: Revision
  /// The checksum of the image after the commit (before it, for a delete), which verifies a replayed past.
  package var sum: UInt64
  /// The complete object: for a delete as it was before, and in some updates as it was after (`KeyframePolicy`).
  package var values = [Value]()
  var edits = [HistoryEdit]()
  /// The properties among these whose position changed only to make space for others. An undo ignores them.
  var spacing = [PropertyNumber]()
  /// In some changes: the last changes of the object's properties.
  var lastWrites: LastWriterIndex?
}

/// An edit that can be reversed.
struct HistoryEdit {
  enum Action {
    case set(old: Value, new: Value)
    /// The splices, and for each the text that it removed.
    case splice([TextSplice], removed: [String])
    case members(added: [ObjectID], removed: [ObjectID])
  }

  var property: PropertyNumber
  var action: Action

  /// The original edit.
  var edit: Edit {
    switch action {
    case .set(_, let new): Edit(property, .set(new))
    case .splice(let splices, _): Edit(property, .splice(splices))
    case .members(let added, let removed): Edit(property, .members(added: added, removed: removed))
    }
  }

  /// The edit that reverses this one, applied to the property's value after it.
  var reversed: Edit {
    switch action {
    case .set(let old, _): Edit(property, .set(old))
    case .members(let added, let removed): Edit(property, .members(added: removed, removed: added))
    case .splice(let splices, let removed): Edit(property, .splice(Self.reversal(of: splices, removed: removed)))
    }
  }

  /// The splices that reverse others, applied to the text after them.
  static func reversal(of splices: [TextSplice], removed: [String]) -> [TextSplice] {
    var shift = 0
    var back = [TextSplice]()
    for (splice, text) in zip(splices, removed) {
      let inserted = splice.insertion.utf8.count
      back.append(TextSplice(offset: splice.offset + shift, length: inserted, insertion: text))
      shift += inserted - splice.length
    }
    return back
  }
}

extension HistoryChange {
  /// - Parameters:
  ///   - place: a pointer to the change, because a copy would cost as much as its binary form.
  ///   - sum: the checksum of the image after the commit, or before it for a delete.
  ///   - deletion: for a revival, the revision of the delete.
  ///   - isKeyframe: whether an update holds the complete object.
  init(
    _ place: UnsafePointer<ObjectChange>, sum: UInt64, model: Model, deletion: Revision? = nil, isKeyframe: Bool = false
  ) throws(InvariantFailure) {
    let before = place.pointee.before
    kind = place.pointee.kind
    id = place.pointee.id
    previous = if let before { before.revision } else if let deletion { deletion } else { 0 }
    self.sum = sum
    spacing = place.pointee.spacing
    try invariant(before != nil || kind == .inserted, "an update or a delete has the object before it")
    if kind == .deleted { values = try invariant(before, "a delete has the object before it").values }
    if isKeyframe, kind == .updated {
      values = try invariant(place.pointee.after, "an update has the object after it").values
    }
    for edit in place.pointee.edits {
      let property = try invariant(
        model.property(edit.property), "an edit that is recorded names a property of the model")
      let old = before.value(of: property)
      let action: HistoryEdit.Action =
        switch edit.action {
        case .set(let new): .set(old: old, new: new)
        case .members(let added, let removed): .members(added: added, removed: removed)
        // Plans contain an ordered to-many as a complete list; an undo needs the difference of two lists.
        case .place:
          .set(old: old, new: try invariant(place.pointee.after, "an update has the object after it")[property])
        case .splice(let splices): .splice(splices, removed: Self.removed(splices, from: old.editedText))
        }
      edits.append(HistoryEdit(property: edit.property, action: action))
    }
  }

  private static func removed(_ splices: [TextSplice], from text: String) -> [String] {
    let bytes = Array(text.utf8)
    return splices.map { splice in
      String(decoding: bytes[min(splice.offset, bytes.count)..<min(splice.end, bytes.count)], as: UTF8.self)
    }
  }

  /// The change with the complete object before and after it.
  func objectChange(from before: ObjectImage?, to after: ObjectImage?) -> ObjectChange {
    ObjectChange(
      kind: kind, id: id, before: before, after: kind == .deleted ? nil : after, edits: edits.map(\.edit),
      spacing: spacing)
  }

  /// Returns the object before this change, given the object after it.
  func before(_ after: ObjectImage?, model: Model) -> ObjectImage? {
    switch kind {
    case .inserted: return nil
    case .deleted: return ObjectImage(id: id, revision: previous, values: values)
    case .updated:
      guard var image = after else { return nil }
      image.revision = previous
      for edit in edits.reversed() {
        guard let property = model.property(edit.property) else { continue }
        if let old = edit.reversed.applied(to: image[property]) { image[property] = old }
      }
      return image
    }
  }
}

// MARK: - Binary form

extension HistoryChange: BinaryCodable {
  package func encode(to writer: inout BinaryWriter) {
    writer.field(1, UInt64(kind.rawValue))
    writer.field(2, id)
    writer.field(3, previous)
    writer.fixed(4, sum)
    for value in values { writer.field(5, value) }
    for edit in edits { writer.field(6, edit) }
    for property in spacing { writer.field(7, UInt64(property)) }
    if let lastWrites { writer.field(8, lastWrites) }
  }

  package init(from reader: inout BinaryReader) throws(MalformedMessage) {
    self.init(kind: .inserted, id: .temporary(0, entity: 0), previous: 0, sum: 0)
    while let (number, field) = try reader.next() {
      switch number {
      case 1: kind = try field.choice()
      case 2: id = try field.form()
      case 3: previous = try field.integer()
      case 4: sum = try field.fixed64()
      case 5: values.append(try field.form())
      case 6: edits.append(try field.form())
      case 7: spacing.append(try field.uint32())
      case 8: lastWrites = try field.form()
      default: break
      }
    }
  }

  private init(kind: ObjectChange.Kind, id: ObjectID, previous: Revision, sum: UInt64) {
    (self.kind, self.id, self.previous, self.sum) = (kind, id, previous, sum)
  }

  static func encode(
    _ changes: [ObjectChange], sums: [UInt64], layout: StoreLayout, deletions: [ObjectID: Revision],
    keyframes: Set<Int> = [],
    lastWrites: [ObjectID: LastWriterIndex] = [:]
  ) throws -> [UInt8] {
    try invariant(changes.count == sums.count, "each recorded change has a checksum")
    if changes.isEmpty { return [] }
    var writer = BinaryWriter(capacity: 48 * changes.count)
    try changes.withUnsafeBufferPointer { buffer in
      let changes = try invariant(buffer.baseAddress, "a buffer with changes has an address")
      for index in buffer.indices {
        let deletion = deletions.isEmpty ? nil : deletions[changes[index].id]
        let isKeyframe = !keyframes.isEmpty && keyframes.contains(index)
        var change = try HistoryChange(
          changes + index, sum: sums[index], model: layout.model, deletion: deletion, isKeyframe: isKeyframe)
        if !lastWrites.isEmpty { change.lastWrites = lastWrites[changes[index].id] }
        if !layout.numbers.isPlain { change = change.stored(layout.numbers) }
        writer.field(1, change)
      }
    }
    return writer.bytes
  }

  /// Decodes the changes, in the store's numbers and the slots of the version that wrote them.
  package static func decode(_ bytes: [UInt8]) throws(MalformedMessage) -> [HistoryChange] {
    var changes = [HistoryChange]()
    var reader = BinaryReader(bytes)
    while let (number, field) = try reader.next() {
      if number == 1 { changes.append(try field.form()) }
    }
    return changes
  }

  /// Decodes the first matching changes and counts all of them; of the others, only the ids are decoded.
  static func decode(
    _ bytes: [UInt8], first most: Int = .max, where isWanted: (ObjectID) -> Bool
  ) throws(MalformedMessage) -> (changes: [HistoryChange], count: Int) {
    var (changes, count) = ([HistoryChange](), 0)
    var reader = BinaryReader(bytes)
    while let (number, field) = try reader.next() {
      guard number == 1, let id = try id(in: field), isWanted(id) else { continue }
      count += 1
      if count <= most { changes.append(try field.form()) }
    }
    return (changes, count)
  }

  /// Decodes only the ids of a commit's changes.
  static func ids(in bytes: [UInt8]) throws(MalformedMessage) -> [ObjectID] {
    var ids = [ObjectID]()
    var reader = BinaryReader(bytes)
    while let (number, field) = try reader.next() {
      if number == 1, let id = try id(in: field) { ids.append(id) }
    }
    return ids
  }

  private static func id(in change: BinaryReader.Field) throws(MalformedMessage) -> ObjectID? {
    var reader = try change.reader()
    while let (number, field) = try reader.next(), number <= 2 {
      if number == 2 { return try field.form() }
    }
    return nil
  }
}

extension HistoryEdit: BinaryCodable {
  func encode(to writer: inout BinaryWriter) {
    writer.field(1, UInt64(property))
    switch action {
    case .set(let old, let new):
      writer.field(2, old)
      writer.field(3, new)
    case .splice(let splices, let removed):
      writer.message(4) { writer in
        for splice in splices { writer.field(1, splice) }
        for text in removed { writer.field(2, text, always: true) }
      }
    case .members: writer.message(5) { edit.encode(to: &$0) }
    }
  }

  init(from reader: inout BinaryReader) throws(MalformedMessage) {
    var (old, new) = (Value.null, Value.null)
    self.init(property: 0, action: .set(old: .null, new: .null))
    while let (number, field) = try reader.next() {
      switch number {
      case 1: property = try field.uint32()
      case 2: old = try field.form()
      case 3:
        new = try field.form()
        action = .set(old: old, new: new)
      case 4:
        var (splices, removed) = ([TextSplice](), [String]())
        var list = try field.reader()
        while let (number, field) = try list.next() {
          if number == 1 { splices.append(try field.form()) }
          if number == 2 { removed.append(try field.string()) }
        }
        guard splices.count == removed.count else { throw MalformedMessage("a splice lacks the text that it removed") }
        action = .splice(splices, removed: removed)
      case 5:
        let edit: Edit = try field.form()
        guard case .members(let added, let removed) = edit.action else {
          throw MalformedMessage("an edit of members has another action")
        }
        action = .members(added: added, removed: removed)
      default: break
      }
    }
  }
}
