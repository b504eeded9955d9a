import GraphModel
import GraphWire

/// Describes the changes of a commit from old to new values. The old values are known for objects that a query has
/// delivered; they are recorded from its results and dropped with the objects. For other objects only the new values
/// are described.
@MainActor
package struct ChangeFormatter {
  package let model: Model
  private let vocabulary: (any ChangeVocabulary)?
  private var known = [ObjectID: ObjectImage]()

  package init(model: Model, vocabulary: (any ChangeVocabulary)? = nil) {
    self.model = model
    self.vocabulary = vocabulary
  }

  mutating func record(_ images: [ObjectImage]) {
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
  package func name(_ id: ObjectID) -> String {
    guard let image = known[id], let entity = model.entity(id.entity) else { return String(id.description.prefix(8)) }
    if let name = vocabulary?.name(of: image, entity) { return name }
    for title in ["name", "title"] {
      guard let text = entity.property(named: title).flatMap({ image[$0].stringValue }), !text.isEmpty else { continue }
      return TextTable.firstLine(text)
    }
    return String(id.description.prefix(8))
  }

  /// The names of the known objects among these.
  package func knownNames(_ ids: [ObjectID]) -> [String] { ids.filter { known[$0] != nil }.map(name) }

  /// The objects that a new object belongs to; empty if the model has no vocabulary.
  func owners(_ image: ObjectImage) -> String {
    guard let vocabulary, let entity = model.entity(image.id.entity) else { return "" }
    return vocabulary.owners(of: image, entity, self)
  }

  // MARK: - Changes

  /// Describes an update, property by property; only the names if the new object is missing.
  func words(_ change: Delta.Change) -> String {
    // The line itself says that the object was updated.
    let changed = change.edits.compactMap { model.property($0.property) }.filter {
      $0.attribute?.assignment != .updated && !$0.isHidden
    }
    guard let after = change.object else { return changed.map(\.name).joined(separator: ", ") }
    var clauses = [String]()
    var rest = changed
    if let vocabulary, let entity = model.entity(after.id.entity) {
      let described = vocabulary.clauses(from: known[change.id], to: after, entity, changed, self)
      clauses = described.clauses
      rest.removeAll { described.properties.contains($0.number) }
    }
    for property in rest {
      clauses.append("\(property.name) \(difference(property, known[change.id], after))")
    }
    return clauses.joined(separator: "; ")
  }

  package func cell(_ value: Value, _ property: Property) -> String {
    if let id = value.objectID { return name(id) }
    return value.isNull ? "null" : ValueText.cell(value, property)
  }

  package func arrow(_ was: String?, _ now: String) -> String {
    if let was { "\(was) → \(now)" } else { "→ \(now)" }
  }

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

  package func members(_ old: Value, _ new: Value) -> (added: [ObjectID], removed: [ObjectID]) {
    let (was, now) = (Set(old.objectIDs), Set(new.objectIDs))
    return (new.objectIDs.filter { !was.contains($0) }, old.objectIDs.filter { !now.contains($0) })
  }
}

/// The verbs of one model, such as moved and renamed, for changes of its objects.
@MainActor
package protocol ChangeVocabulary {
  /// The name of an object; nil for its name or title.
  func name(of image: ObjectImage, _ entity: Entity) -> String?

  /// The objects that a new object belongs to, as the end of a line; empty for none.
  func owners(of image: ObjectImage, _ entity: Entity, _ formatter: ChangeFormatter) -> String

  /// The clauses for an update.
  /// - Parameters:
  ///   - before: the old object; nil if it is not known.
  ///   - changed: the changed properties.
  /// - Returns: the clauses, and the properties that they describe; the formatter describes the others.
  func clauses(
    from before: ObjectImage?, to after: ObjectImage, _ entity: Entity, _ changed: [Property],
    _ formatter: ChangeFormatter
  ) -> (clauses: [String], properties: Set<PropertyNumber>)
}
