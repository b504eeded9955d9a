import GraphModel
import StickiesKit

/// The inserts of an import. The order of the changes is that of the objects, each with a temporary id.
struct ImportInserts {
  private(set) var changes = [Change]()

  /// Inserts an object.
  /// - Parameter values: its values, by the names of properties.
  /// - Returns: its temporary id.
  mutating func insert(_ entity: Entity, _ values: [String: Value]) -> ObjectID {
    let id = ObjectID.temporary(UInt64(changes.count + 1), entity: entity.number)
    let edits = values.sorted { $0.key < $1.key }.map { name, value in
      guard let property = entity.property(named: name) else {
        preconditionFailure("the built-in model has no \(entity.name).\(name)")
      }
      return Edit.set(property, value)
    }
    changes.append(Change(.insert, id, edits: edits))
    return id
  }

  /// Inserts notes, and the links of which at least one end is among them.
  ///
  /// A link follows its second note, in the same transaction: later runs do not create links between existing notes.
  /// - Parameters:
  ///   - boards: the ids of the boards, by name.
  ///   - tags: the ids of the tags, by name.
  ///   - ids: the ids of the file's notes that exist in the store, by their ids in the file; receives those of `notes`.
  mutating func insert(
    _ notes: [ImportBatch.Note], boards: [ByteKey: ObjectID], tags: [ByteKey: ObjectID], links: [ImportBatch.Link],
    _ ids: inout [ByteKey: ObjectID]
  ) {
    var linksByEnd = [ByteKey: [ImportBatch.Link]]()
    for link in links {
      for end in Set([ByteKey(link.from), ByteKey(link.to)]) { linksByEnd[end, default: []].append(link) }
    }
    for note in notes {
      assert(boards[note.board] != nil, "the board of a new note is identified: \(note.board)")
      assert(note.tags.allSatisfy { tags[$0] != nil }, "the tags of a new note are identified: \(note.tags)")
      var values = note.values
      values[NoteProperties.origin.name] = .string(note.origin)
      values[NoteProperties.board.name] = boards[note.board].map { .object($0) }
      let tagIDs = Set(note.tags.compactMap { tags[$0] }).sorted()
      if !tagIDs.isEmpty { values[NoteProperties.tags.name] = .objects(tagIDs) }
      let id = insert(NoteProperties.entity, values)
      guard let name = note.id else { continue }
      ids[name] = id
      for link in linksByEnd[ByteKey(name), default: []] {
        guard let from = ids[link.from], let to = ids[link.to] else { continue }
        let ends = [LinkProperties.from.name: Value.object(from), LinkProperties.to.name: .object(to)]
        _ = insert(LinkProperties.entity, link.values.merging(ends) { $1 })
      }
    }
  }
}
