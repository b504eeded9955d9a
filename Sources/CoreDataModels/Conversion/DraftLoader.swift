import GraphModel

/// Loads a draft as a model. If the loader finds a mistake in a part that the model does not need, such as a default or
/// a predicate, the part is left out and reported with the loader's reason.
struct DraftLoader {
  private(set) var draft: VersionDraft
  private(set) var log: SourceLog
  private let names: NameTable

  init(_ draft: VersionDraft, _ names: NameTable, _ log: SourceLog) {
    (self.draft, self.names, self.log) = (draft, names, log)
  }

  /// - Throws: mistakes in parts that a model can't do without.
  mutating func repair() throws(CoreDataModelError) {
    while true {
      let mistakes: [ModelError.Problem]
      do {
        let text = ModelFileText.text(ModelFileBuilder(draft: draft, names: names).json)
        _ = try Model(parsing: text.utf8)
        return
      } catch {
        mistakes = error.mistakes
      }
      var removed = false
      var remaining = [CoreDataModelError.Mistake]()
      var gone = Set<String>()
      // Later parts first, so that the numbers in the paths of earlier ones stay correct.
      for mistake in mistakes.reversed() {
        let path = Self.parts(mistake.path)
        // A part that is removed as a whole may have several mistakes.
        if let part = Self.removablePart(path), !gone.insert(part).inserted { continue }
        if leaveOut(path, mistake.reason) {
          removed = true
        } else {
          remaining.append(self.mistake(path, mistake))
        }
      }
      guard removed else { throw CoreDataModelError(remaining.reversed()) }
    }
  }

  /// `entities[3].attributes[2].default` as names with numbers.
  static func parts(_ path: String) -> [(name: String, number: Int?)] {
    path.split(separator: ".").map { part in
      let pieces = part.split(separator: "[")
      let number = pieces.count == 2 ? Int(pieces[1].dropLast()) : nil
      return (String(part.prefix { $0 != "[" }), number)
    }
  }

  /// The fetch request or uniqueness constraint that a path leads into; nil for any other path.
  private static func removablePart(_ path: [(name: String, number: Int?)]) -> String? {
    guard let first = path.first, let number = first.number else { return nil }
    if first.name == "fetchRequests" { return "\(number)" }
    guard path.count > 1, path[1].name == "unique", let key = path[1].number else { return nil }
    return "\(number).\(key)"
  }

  private mutating func leaveOut(_ path: [(name: String, number: Int?)], _ reason: String) -> Bool {
    guard let first = path.first, let number = first.number else { return false }
    switch first.name {
    case "fetchRequests" where draft.fetchRequests.indices.contains(number):
      let request = draft.fetchRequests.remove(at: number)
      let predicate = request.predicate.map { "with the predicate \($0.excerpt(of: 200))" }
      let words = ["the fetch request", predicate].compactMap { $0 }.joined(separator: " ")
      log.leaveOut(request.place, request.source, "\(words): \(reason)")
      return true
    case "entities" where draft.entities.indices.contains(number) && path.count > 1:
      if path[1].name == "unique", let key = path[1].number, draft.entities[number].unique.indices.contains(key) {
        let (names, place) = draft.entities[number].unique.remove(at: key)
        log.leaveOut(
          place, draft.entities[number].source,
          "the uniqueness constraint \(names.joined(separator: ", ")): \(reason)")
        return true
      }
      guard path.count == 3, path[1].name == "attributes", let place = path[1].number,
        draft.entities[number].attributes.indices.contains(place)
      else { return false }
      let owner = draft.entities[number].source
      return Self.leaveOut(
        path[2].name, of: &draft.entities[number].attributes[place], in: owner, reason, &log)
    case "composites" where draft.composites.indices.contains(number):
      guard path.count == 3, path[1].name == "attributes", let place = path[1].number,
        draft.composites[number].attributes.indices.contains(place)
      else { return false }
      let owner = draft.composites[number].source
      return Self.leaveOut(
        path[2].name, of: &draft.composites[number].attributes[place], in: owner, reason, &log)
    default: return false
    }
  }

  private static func leaveOut(
    _ member: String, of attribute: inout AttributeDraft, in owner: String, _ reason: String, _ log: inout SourceLog
  ) -> Bool {
    let subject = "\(owner).\(attribute.source)"
    if member == "derived", let derivation = attribute.derivation {
      let text =
        switch derivation {
        case .count(let relationship): "\(relationship).@count"
        case .function(let function, let source): "\(function):(\(source))"
        }
      log.leaveOutDerivation(text, subject, reason, &attribute)
      return true
    }
    guard let value = attribute.members.first(where: { $0.name == member })?.value, attribute.remove(member) else {
      return false
    }
    log.leaveOut(attribute.place, subject, "the \(member) \(value.text.excerpt): \(reason)")
    return true
  }

  /// A mistake in the place of the part to which the path leads.
  private func mistake(
    _ path: [(name: String, number: Int?)], _ mistake: ModelError.Problem
  ) -> CoreDataModelError.Mistake {
    var (place, subject) = (draft.place, "")
    if let first = path.first, first.name == "entities", let number = first.number,
      draft.entities.indices.contains(number)
    {
      let entity = draft.entities[number]
      (place, subject) = (entity.place, entity.source)
      if path.count > 1, let number = path[1].number {
        if path[1].name == "attributes", entity.attributes.indices.contains(number) {
          (place, subject) = (entity.attributes[number].place, "\(subject).\(entity.attributes[number].source)")
        } else if path[1].name == "relationships", entity.relationships.indices.contains(number) {
          (place, subject) = (entity.relationships[number].place, "\(subject).\(entity.relationships[number].source)")
        }
      }
    }
    let member = path.last.flatMap { $0.number == nil ? $0.name : nil }
    let words = [subject, member.map { "its \($0)" }].compactMap { $0 }.filter { !$0.isEmpty }
    return CoreDataModelError.Mistake(
      file: log.file, place: place,
      reason: "\(words.joined(separator: ": ")) \(mistake.reason); a model file does not allow this")
  }
}
