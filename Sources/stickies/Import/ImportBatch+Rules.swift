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
    for board in boards where brokenRule(board.name, BoardProperties.name, of: BoardProperties.entity) == nil {
      batch.addBoard(batch.checked(board, BoardProperties.entity))
    }
    for tag in tags where brokenRule(tag.name, TagProperties.name, of: TagProperties.entity) == nil {
      batch.addTag(batch.checked(tag, TagProperties.entity))
    }
    for note in notes {
      if let reason = reasonToSkip(note) {
        batch.skip(note.place, reason)
        continue
      }
      var note = note
      var left = note.tags.compactMap { tag in
        brokenRule(tag, TagProperties.name, of: TagProperties.entity).map { "its tag \"\(tag.excerpt)\": it \($0)" }
      }
      note.tags.removeAll { brokenRule($0, TagProperties.name, of: TagProperties.entity) != nil }
      for (name, message) in brokenRules(note.values, of: NoteProperties.entity) {
        note.values[name] = nil
        left.append("its \(name): it \(message)")
      }
      if let message = brokenRule(note.origin, NoteProperties.origin, of: NoteProperties.entity) {
        // A hash of the origin identifies the note in later runs.
        note.origin = "hash:" + KeepOrigins.fingerprint(note.origin)
        left.append("its origin: it \(message)")
      }
      if !left.isEmpty { batch.skip(note.place, "the note was imported without \(left.joined(separator: "; "))") }
      batch.notes.append(note)
    }
    for link in links {
      var link = link
      for (name, message) in brokenRules(link.values, of: LinkProperties.entity) {
        link.values[name] = nil
        batch.skip(link.place, "the link was imported without its \(name): it \(message)")
      }
      batch.links.append(link)
    }
    return batch
  }

  private func reasonToSkip(_ note: Note) -> String? {
    let text = note.values.filter { $0.key == NoteProperties.text.name }
    if let violation = brokenRules(text, of: NoteProperties.entity).first { return "its text \(violation.message)" }
    return brokenRule(note.board, BoardProperties.name, of: BoardProperties.entity).map {
      "the name of its board, \"\(note.board.excerpt)\", \($0)"
    }
  }

  private mutating func checked(_ named: NamedObject, _ entity: Entity) -> NamedObject {
    var named = named
    for (name, message) in brokenRules(named.values, of: entity) {
      named.values[name] = nil
      skip(named.name.excerpt, "the \(entity.name.lowercased()) was imported without its \(name): it \(message)")
    }
    return named
  }

  /// The end of a sentence about the rule that a string violates; nil if it violates none.
  private func brokenRule(_ text: String, _ property: Property, of entity: Entity) -> String? {
    brokenRules([property.name: .string(text)], of: entity).first?.message
  }

  /// The values that violate a rule of their property, each with the end of a sentence.
  private func brokenRules(_ values: [String: Value], of entity: Entity) -> [(name: String, message: String)] {
    values.sorted { $0.key < $1.key }.compactMap { name, value in
      guard let property = entity.property(named: name) else { return nil }
      let isOfType = property.attribute.map { $0.checked(value) != nil } != false
      let message = isOfType ? property.brokenRules(value).first?.message : "is out of range"
      return message.map { (name, $0) }
    }
  }
}
