import GraphModel

extension ObjectImage {
  /// An update of the object as it was read.
  func update(_ edits: [Edit]) -> Change { Change(.update, id, base: revision, edits: edits) }

  /// The value of a text or string. As in the typed classes, null reads as the empty text: a daemon of another version
  /// of the model may not have the value.
  func text(of property: Property) -> String { if let text = self[property].stringValue { text } else { "" } }
}

/// The tags that a command gives a note.
struct TagInserts {
  let changes: [Change]
  let ids: [ObjectID]

  /// Inserts of tags with these names and their ids; the trump policies merge them with existing tags.
  /// - Parameter first: the first temporary id.
  init(_ names: [String], first: UInt64) {
    var changes = [Change]()
    for (offset, name) in names.enumerated() {
      let id = ObjectID.temporary(first + UInt64(offset), entity: TagProperties.entity.number)
      changes.append(Change(.insert, id, edits: [.set(TagProperties.name, .string(name))]))
    }
    (self.changes, ids) = (changes, changes.map(\.id))
  }
}
