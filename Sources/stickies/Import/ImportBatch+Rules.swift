import GraphModel
import StickiesFiles
import StickiesKit

extension ImportBatch {
  /// The batch without anything that the model's rules would refuse. One note must not make the whole import fail.
  ///
  /// Invalid tags, link labels and values are omitted and reported. A note with too long a text, or on a board with
  /// an invalid name, is skipped and reported, because it would not be the same note without them.
  func withinRules() -> ImportBatch {
    var batch = self
    batch.removeAll()
    for board in boards where broken("Board", ["name": .string(board.name)]).isEmpty {
      batch.board(batch.checked(board, "Board"))
    }
    for tag in tags where broken("Tag", ["name": .string(tag.name)]).isEmpty { batch.tag(batch.checked(tag, "Tag")) }
    for note in notes {
      if let reason = reasonToSkip(note) {
        batch.skip(note.place, reason)
        continue
      }
      var note = note
      var left = note.tags.compactMap { tag in
        broken("Tag", ["name": .string(tag)]).first.map { "its tag \"\(tag.excerpt)\": it \($0.message)" }
      }
      note.tags.removeAll { !broken("Tag", ["name": .string($0)]).isEmpty }
      for (name, message) in broken("Note", note.values) {
        note.values[name] = nil
        left.append("its \(name): it \(message)")
      }
      if let origin = broken("Note", ["origin": .string(note.origin)]).first {
        // A hash of the origin identifies the note in later runs.
        note.origin = "hash:" + KeepOrigins.fingerprint(note.origin)
        left.append("its origin: it \(origin.message)")
      }
      if !left.isEmpty { batch.skip(note.place, "the note was imported without \(left.joined(separator: "; "))") }
      batch.notes.append(note)
    }
    for link in links {
      var link = link
      for (name, message) in broken("Link", link.values) {
        link.values[name] = nil
        batch.skip(link.place, "the link was imported without its \(name): it \(message)")
      }
      batch.links.append(link)
    }
    return batch
  }

  private func reasonToSkip(_ note: Note) -> String? {
    if let text = broken("Note", ["text": note.values["text"] ?? .string("")]).first {
      return "its text \(text.message)"
    }
    let board = broken("Board", ["name": .string(note.board)]).first
    return board.map { "the name of its board, \"\(note.board.excerpt)\", \($0.message)" }
  }

  private mutating func checked(_ named: NamedObject, _ entity: String) -> NamedObject {
    var named = named
    for (name, message) in broken(entity, named.values) {
      named.values[name] = nil
      skip(named.name.excerpt, "the \(entity.lowercased()) was imported without its \(name): it \(message)")
    }
    return named
  }

  /// The values that violate a rule of their property, each with the end of a sentence.
  private func broken(_ entity: String, _ values: [String: Value]) -> [(name: String, message: String)] {
    guard let entity = StickiesModel.model.entity(named: entity) else {
      preconditionFailure("the built-in model has no \(entity)")
    }
    return values.sorted { $0.key < $1.key }.compactMap { name, value in
      guard let property = entity.property(named: name) else { return nil }
      let isOfType = property.attribute.map { $0.checked(value) != nil } != false
      let message = isOfType ? property.brokenRules(value).first?.message : "is out of range"
      return message.map { (name, $0) }
    }
  }
}
