import GraphModel

extension ObjectImage {
  /// An update of the object as it was read.
  func update(_ edits: [Edit]) -> Change { Change(.update, id, base: revision, edits: edits) }

  /// The value of a text or string. As in the typed classes, null reads as the empty text: a daemon of another version
  /// of the model may not have the value.
  func text(of property: Property) -> String { if let text = self[property].stringValue { text } else { "" } }
}

/// The tags that a command gives a note: existing ones, and inserts of the missing ones.
struct TagInserts {
  let changes: [Change]
  let ids: [ObjectID]

  /// Refers to the known tags. An insert of such a name would be an update of the tag, which takes more rights than to
  /// use it. The trump policies merge the other inserts with tags that another client has made meanwhile.
  /// - Parameters:
  ///   - known: the existing tags that have some of the names.
  ///   - first: the first temporary id.
  init(_ names: [String], known: [ObjectImage], first: UInt64) {
    var (changes, ids) = ([Change](), [ObjectID]())
    for (offset, name) in names.enumerated() {
      if let tag = known.first(where: { $0[TagProperties.name] == .string(name) }) {
        ids.append(tag.id)
      } else {
        let id = ObjectID.temporary(first + UInt64(offset), entity: TagProperties.entity.number)
        changes.append(Change(.insert, id, edits: [.set(TagProperties.name, .string(name))]))
        ids.append(id)
      }
    }
    (self.changes, self.ids) = (changes, ids)
  }
}
