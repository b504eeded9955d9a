import GraphModel
import GraphShell

/// The verbs for changes of notes: moved, colored, tagged.
struct NoteVocabulary: ChangeVocabulary {
  func name(of image: ObjectImage, _ entity: Entity) -> String? {
    guard entity.name == "Note", let number = entity.property(named: "number") else { return nil }
    return "#" + image[number].json(kind: .integer).text
  }

  /// The board and tags of a new note, or the ends of a link; empty for other objects.
  func circumstances(of image: ObjectImage, _ entity: Entity, _ formatter: ChangeFormatter) -> String {
    func objects(_ property: String) -> [ObjectID] {
      entity.property(named: property).map { image[$0].objectIDs } ?? []
    }
    switch entity.name {
    case "Note":
      let boards = formatter.knownNames(objects("board")).map { "on \($0)" }
      let tags = formatter.knownNames(objects("tags"))
      let parts = boards + (tags.isEmpty ? [] : ["tagged \(tags.joined(separator: ", "))"])
      return parts.isEmpty ? "" : "  (\(parts.joined(separator: ", ")))"
    case "Link": return "  (\((objects("from") + objects("to")).map(formatter.name).joined(separator: " → ")))"
    default: return ""
    }
  }

  func clauses(
    from before: ObjectImage?, to after: ObjectImage, _ entity: Entity, _ changed: [String],
    _ formatter: ChangeFormatter
  ) -> (clauses: [String], properties: Set<String>) {
    var words = [String]()
    var told = Set<String>()
    func has(_ names: String...) -> Bool {
      guard changed.contains(where: { names.contains($0) && !told.contains($0) }) else { return false }
      told.formUnion(names)
      return true
    }
    func cell(_ image: ObjectImage, _ name: String) -> String {
      entity.property(named: name).map { formatter.cell(image[$0], $0) } ?? ""
    }
    /// For one property, or for two with a separator.
    func arrow(_ first: String, _ between: String = "", _ second: String? = nil) -> String {
      func text(_ image: ObjectImage) -> String {
        cell(image, first) + (second.map { between + cell(image, $0) } ?? "")
      }
      return formatter.arrow(before.map(text), text(after))
    }
    if has("name") { words.append("renamed \(arrow("name"))") }
    if has("text") { words.append(textWords(entity, before, after)) }
    if has("board") { words.append("put on another board \(arrow("board"))") }
    if has("x", "y") { words.append("moved \(arrow("x", ",", "y"))") }
    if has("width", "height") { words.append("resized \(arrow("width", "x", "height"))") }
    if has("color") { words.append("colored \(arrow("color"))") }
    if has("z") { words.append("\(isHigher(entity, before, after)) \(arrow("z"))") }
    if has("tags"), let tags = entity.property(named: "tags") {
      let (added, removed) = formatter.members(before?[tags] ?? .null, after[tags])
      if !added.isEmpty { words.append("tagged \(added.map(formatter.name).joined(separator: ", "))") }
      if !removed.isEmpty { words.append("untagged \(removed.map(formatter.name).joined(separator: ", "))") }
    }
    for (name, yes, no) in [
      ("pinned", "pinned", "unpinned"), ("locked", "locked", "unlocked"), ("collapsed", "collapsed", "expanded"),
    ] where has(name) {
      words.append(entity.property(named: name).map { after[$0] } == .bool(true) ? yes : no)
    }
    return (words, told)
  }

  private func isHigher(_ entity: Entity, _ before: ObjectImage?, _ after: ObjectImage) -> String {
    guard let z = entity.property(named: "z"), case .double(let new) = after[z], case .double(let old)? = before?[z]
    else { return "restacked" }
    return new > old ? "raised" : "lowered"
  }

  private func textWords(_ entity: Entity, _ before: ObjectImage?, _ after: ObjectImage) -> String {
    let text = entity.property(named: "text")
    let new = text.flatMap { after[$0].stringValue } ?? ""
    guard let old = text.flatMap({ before?[$0].stringValue }) else { return "wrote \(TextChange.quoted(new))" }
    switch TextChange.between(old, new) {
    case .inserted(let text)?: return "wrote \(TextChange.quoted(text))"
    case .removed(let text)?: return "erased \(TextChange.quoted(text))"
    case .replaced(let was, let now)?: return "rewrote \(TextChange.quoted(was)) → \(TextChange.quoted(now))"
    case nil: return "edited"
    }
  }
}
