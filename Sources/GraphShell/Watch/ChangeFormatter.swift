import GraphModel
import GraphWire

/// Describes the changes of a commit from old to new values. The old values are known for objects that a query has
/// delivered; they are recorded from its results and dropped with the objects. For other objects only the new values
/// are described.
@MainActor
struct ChangeFormatter {
  let model: Model
  /// Whether the model is that of the notes, whose changes have verbs: moved, colored, tagged.
  let speaksOfNotes: Bool
  private var known = [ObjectID: ObjectImage]()

  init(model: Model, speaksOfNotes: Bool) {
    self.model = model
    self.speaksOfNotes = speaksOfNotes
  }

  mutating func learn(_ images: [ObjectImage]) {
    for image in images { known[image.id] = image }
  }

  mutating func forget(_ id: ObjectID) { known[id] = nil }

  mutating func forgetAll() { known = [:] }

  /// The known objects of an entity and its subentities.
  func known(of entity: Entity) -> [ObjectImage] {
    let family = Set(entity.family)
    return known.values.filter { family.contains($0.id.entity) }
  }

  // MARK: - Objects

  /// The name of an object if it is known, otherwise a prefix of its id.
  private func name(_ id: ObjectID) -> String {
    guard let image = known[id], let entity = model.entity(id.entity) else { return String(id.description.prefix(8)) }
    if speaksOfNotes, entity.name == "Note", let number = entity.property(named: "number") {
      return "#" + cell(image[number], number)
    }
    for title in ["name", "title"] {
      guard let text = entity.property(named: title).flatMap({ image[$0].stringValue }), !text.isEmpty else { continue }
      return TextTable.firstLine(text)
    }
    return String(id.description.prefix(8))
  }

  /// The board and tags of a new note, or the ends of a link; empty for other objects.
  func circumstances(_ image: ObjectImage) -> String {
    guard speaksOfNotes, let entity = model.entity(image.id.entity) else { return "" }
    func objects(_ property: String) -> [ObjectID] {
      entity.property(named: property).map { image[$0].objectIDs } ?? []
    }
    func names(_ property: String) -> [String] { objects(property).filter { known[$0] != nil }.map(name) }
    switch entity.name {
    case "Note":
      let boards = names("board").map { "on \($0)" }
      let tags = names("tags")
      let parts = boards + (tags.isEmpty ? [] : ["tagged \(tags.joined(separator: ", "))"])
      return parts.isEmpty ? "" : "  (\(parts.joined(separator: ", ")))"
    case "Link": return "  (\((objects("from") + objects("to")).map(name).joined(separator: " → ")))"
    default: return ""
    }
  }

  // MARK: - Changes

  /// Describes an update, property by property; only the names if the new object is missing.
  func words(_ change: Delta.Change) -> String {
    // The line itself says that the object was updated.
    let changed = change.edits.compactMap { model.property($0.property) }.filter {
      $0.attribute?.assignment != .updated
    }
    guard let after = change.object else { return changed.map(\.name).joined(separator: ", ") }
    var clauses = [String]()
    var rest = changed
    if speaksOfNotes { clauses = noteWords(known[change.id], after, &rest) }
    for property in rest {
      clauses.append("\(property.name) \(difference(property, known[change.id], after))")
    }
    return clauses.joined(separator: "; ")
  }

  private func cell(_ value: Value, _ property: Property) -> String {
    if let id = value.objectID { return name(id) }
    return value.isNull ? "null" : ValueText.cell(value, property)
  }

  private func arrow(_ was: String?, _ now: String) -> String { was.map { "\($0) → \(now)" } ?? "→ \(now)" }

  private func difference(_ property: Property, _ before: ObjectImage?, _ after: ObjectImage) -> String {
    let new = after[property]
    guard let old = before?[property] else { return arrow(nil, cell(new, property)) }
    if property.relationship?.isToMany == true {
      let (added, removed) = members(old, new)
      let parts = added.map { "+\(name($0))" } + removed.map { "-\(name($0))" }
      return parts.isEmpty ? "in another order" : parts.joined(separator: " ")
    }
    if property.attribute?.kind == .text, let was = old.stringValue, let now = new.stringValue {
      switch TextChange.between(was, now) {
      case .inserted(let text)?: return "+\(TextChange.quoted(text))"
      case .removed(let text)?: return "-\(TextChange.quoted(text))"
      case .replaced(let was, let now)?: return arrow(TextChange.quoted(was), TextChange.quoted(now))
      case nil: break
      }
    }
    return arrow(cell(old, property), cell(new, property))
  }

  private func members(_ old: Value, _ new: Value) -> (added: [ObjectID], removed: [ObjectID]) {
    let (was, now) = (Set(old.objectIDs), Set(new.objectIDs))
    return (new.objectIDs.filter { !was.contains($0) }, old.objectIDs.filter { !now.contains($0) })
  }

  // MARK: - Notes

  /// The verbs for changes of notes; removes the properties that have one from `rest`.
  private func noteWords(_ before: ObjectImage?, _ after: ObjectImage, _ rest: inout [Property]) -> [String] {
    guard let entity = model.entity(after.id.entity) else { return [] }
    var words = [String]()
    var told = Set<String>()
    func has(_ names: String...) -> Bool {
      guard rest.contains(where: { names.contains($0.name) }) else { return false }
      told.formUnion(names)
      return true
    }
    func cell(_ image: ObjectImage, _ name: String) -> String {
      entity.property(named: name).map { self.cell(image[$0], $0) } ?? ""
    }
    /// For one property, or for two with a separator.
    func arrow(_ first: String, _ between: String = "", _ second: String? = nil) -> String {
      func text(_ image: ObjectImage) -> String {
        cell(image, first) + (second.map { between + cell(image, $0) } ?? "")
      }
      return self.arrow(before.map(text), text(after))
    }
    if has("name") { words.append("renamed \(arrow("name"))") }
    if has("text") { words.append(textWords(entity, before, after)) }
    if has("board") { words.append("put on another board \(arrow("board"))") }
    if has("x", "y") { words.append("moved \(arrow("x", ",", "y"))") }
    if has("width", "height") { words.append("resized \(arrow("width", "x", "height"))") }
    if has("color") { words.append("colored \(arrow("color"))") }
    if has("z") { words.append("\(isHigher(entity, before, after)) \(arrow("z"))") }
    if has("tags"), let tags = entity.property(named: "tags") {
      let (added, removed) = members(before?[tags] ?? .null, after[tags])
      if !added.isEmpty { words.append("tagged \(added.map(name).joined(separator: ", "))") }
      if !removed.isEmpty { words.append("untagged \(removed.map(name).joined(separator: ", "))") }
    }
    for (name, yes, no) in [
      ("pinned", "pinned", "unpinned"), ("locked", "locked", "unlocked"), ("collapsed", "collapsed", "expanded"),
    ] where has(name) {
      words.append(entity.property(named: name).map { after[$0] } == .bool(true) ? yes : no)
    }
    rest.removeAll { told.contains($0.name) }
    return words
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
