import GraphModel
import StickiesKit

extension ImportBatch {
  /// The batch without what the model's rules would refuse, so that one note never refuses all others.
  ///
  /// A tag, a link's label or a value that breaks a rule is left out and named. A note with too long a text, or on a
  /// board whose name breaks a rule, is skipped and named: without them it would be another note.
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
        // Known again by what is left of it.
        note.origin = "hash:" + KeepOrigins.fingerprint(note.origin)
        left.append("its origin: it \(origin.message)")
      }
      if !left.isEmpty { batch.skip(note.place, "the note was taken without \(left.joined(separator: "; "))") }
      batch.notes.append(note)
    }
    for link in links {
      var link = link
      for (name, message) in broken("Link", link.values) {
        link.values[name] = nil
        batch.skip(link.place, "the link was taken without its \(name): it \(message)")
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

  private mutating func checked(_ named: Named, _ entity: String) -> Named {
    var named = named
    for (name, message) in broken(entity, named.values) {
      named.values[name] = nil
      skip(named.name.excerpt, "the \(entity.lowercased()) was taken without its \(name): it \(message)")
    }
    return named
  }

  /// The values that break a rule of their property, with the end of a sentence for each.
  private func broken(_ entity: String, _ values: [String: Value]) -> [(name: String, message: String)] {
    guard let entity = StickiesModel.model.entity(named: entity) else {
      preconditionFailure("the built-in model has no \(entity)")
    }
    return values.sorted { $0.key < $1.key }.compactMap { name, value in
      guard let property = entity.property(named: name) else { return nil }
      let isOfType = property.attribute.map { $0.checked(value) != nil } ?? true
      let message = isOfType ? property.brokenRules(value).first?.message : "is out of range"
      return message.map { (name, $0) }
    }
  }
}
