// Tests: VisibilityTests.swift

/// A class of principals who see the same objects: the facts that decide visibility, and nothing else.
///
/// All principals with equal facts share live queries and connections to the store. A role counts only if a rule for
/// reads names `$role`, a user only if one names `$user`, and a scope only if the role on the store is not enough. A
/// principal who sees everything has no class: nil in place of this value.
public struct Visibility: Hashable, Sendable {
  /// The deciding facts, as rights: roles that do not affect visibility are `reader`, and a user that does not affect
  /// it is empty.
  public let facts: Rights
  /// Decides on images, by these facts.
  public let judge: AccessJudge
  /// The hash of the facts. Each commit looks up every class, and one may have a thousand scopes.
  private let factsHash: Int

  /// The class of a principal; nil if the principal sees everything.
  public init?(_ rights: Rights, model: Model) {
    let rules = model.entitiesWithReadRules.compactMap { model.accessRules(of: $0)?.rules[.read] }
    if rights.role != nil, rules.isEmpty { return nil }
    let readsRole = rules.contains(where: \.readsRole)
    var grants = [Grant]()
    if let role = rights.role { grants.append(Grant(readsRole ? role : .reader)) }
    for (scope, role) in rights.scopes {
      // The role on the store holds in each scope.
      let decides = if let general = rights.role { readsRole && role > general } else { true }
      if decides { grants.append(Grant(readsRole ? role : .reader, on: scope)) }
    }
    facts = Rights(user: rules.contains(where: \.readsUser) ? rights.user : "", grants: grants)
    judge = AccessJudge(facts, model: model)
    factsHash = facts.hashValue
    assert(!judge.seesEverything, "a principal who sees everything has no class")
  }

  public static func == (left: Visibility, right: Visibility) -> Bool {
    left.factsHash == right.factsHash && left.facts == right.facts
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(factsHash) }

  /// Whether the class sees an object in this state.
  public func sees(_ image: ObjectImage) -> Bool { judge.sees(image) }

  /// Whether the class sees an existing object of which only the id is known; nil if that depends on its values.
  public func seesUnread(_ id: ObjectID) -> Bool? {
    guard let entity = judge.model.entity(id.entity),
      judge.model.accessRules(of: id.entity)?.rules[.read] == nil
    else { return nil }
    switch entity.scope {
    case nil: return facts.role != nil
    case .shared: return facts.sharedRole != nil
    case .container: return facts.role(in: id.key) != nil
    case .reference, .stored: return facts.role == nil ? nil : true
    }
  }

  /// Whether everything that the other class sees is visible to this one, as far as the facts show it.
  public func covers(_ other: Visibility) -> Bool {
    guard UTF8Comparison.equal(facts.user, other.facts.user) else { return false }
    if let role = other.facts.role, facts.role != role { return false }
    if facts.role != nil, facts.scopes.isEmpty, other.facts.scopes.isEmpty { return true }
    return other.facts.scopes.allSatisfy { scope, role in facts.role(in: scope) == role }
  }

  /// A fingerprint of the parts of the model that decide which objects a principal sees: the scopes, and the rules for
  /// reading. Two models of equal hash may differ in them, because the hash covers stored data only.
  public static func fingerprint(of model: Model) -> UInt64 {
    let lines = model.entities.map { entity in
      let scope =
        switch entity.scope {
        case nil: "none"
        case .container: "self"
        case .shared: "*"
        case .reference(let number), .stored(_, through: let number): model.propertyName(number)
        }
      let rule = if let read = model.accessRules(of: entity.number)?.rules[.read] { read.text } else { "" }
      return "\(entity.name)\0\(scope)\0\(rule)"
    }
    return Checksum.of(Array(lines.joined(separator: "\n").utf8))
  }

  // MARK: - Reduced values

  /// The object as the class sees it: references to invisible objects are null, and lists lack them.
  /// - Parameter isVisible: whether the class sees the object with this id.
  public func reduced(_ image: ObjectImage, _ isVisible: (ObjectID) throws -> Bool) rethrows -> ObjectImage {
    var image = image
    for index in image.values.indices { image.values[index] = try Self.reduced(image.values[index], isVisible) }
    return image
  }

  /// The value as a class sees it.
  public static func reduced(_ value: Value, _ isVisible: (ObjectID) throws -> Bool) rethrows -> Value {
    switch value {
    case .object(let id): return try isVisible(id) ? value : .null
    case .objects(let ids):
      let visible = try ids.filter(isVisible)
      return visible.count == ids.count ? value : .objects(visible)
    default: return value
    }
  }

  /// A change as the class sees it: the change of an object that becomes visible is an insert, and the change of an
  /// object that becomes invisible is a delete. Nil if the class sees neither state.
  /// - Parameter isVisible: whether the class sees the other object with this id, before the change or after it.
  public func reduced(
    _ change: ObjectChange, _ isVisible: (_ id: ObjectID, _ isBefore: Bool) throws -> Bool
  ) rethrows -> ObjectChange? {
    let before = change.before.flatMap { sees($0) ? $0 : nil }
    let after = change.after.flatMap { sees($0) ? $0 : nil }
    var reduced = change
    reduced.before = try before.map { try self.reduced($0) { try isVisible($0, true) } }
    reduced.after = try after.map { try self.reduced($0) { try isVisible($0, false) } }
    switch (before, after) {
    case (nil, nil): return nil
    case (nil, _?): (reduced.kind, reduced.edits, reduced.spacing) = (.inserted, [], [])
    case (_?, nil): (reduced.kind, reduced.edits, reduced.spacing) = (.deleted, [], [])
    case (let was?, let now?):
      guard let first = reduced.before, let second = reduced.after else { return nil }
      if first.values != was.values || second.values != now.values {
        reduced.edits = Self.edits(from: first, to: second, of: change, model: judge.model)
      }
    }
    return reduced
  }

  /// The edits between two reduced images. Edits of lists are computed again, because they name members that may be
  /// invisible.
  private static func edits(
    from before: ObjectImage, to after: ObjectImage, of change: ObjectChange, model: Model
  ) -> [Edit] {
    guard let entity = model.entity(after.id.entity) else { return [] }
    return entity.storedProperties.compactMap { property in
      let (was, now) = (before[property], after[property])
      if was == now { return nil }
      let known = property.relationship == nil ? change.edits.first { $0.property == property.number } : nil
      return known ?? Edit.difference(of: property, from: was, to: now)
    }
  }
}
