// Tests: AccessJudgeTests.swift

/// Decides what one principal may see and change, by its rights and the access rules of the model.
///
/// A role is necessary, and a rule can only narrow it. Each decision reads the images of one object: before and after a
/// change, and never another object. The rules are compiled once, for each role that the rights contain.
public struct AccessJudge: Sendable {
  /// The rights of the principal.
  public let rights: Rights
  /// The model with the rules.
  public let model: Model
  private let evaluators: [Subject: PredicateEvaluator]
  /// Whether the principal sees every object, so that no image needs a decision.
  public let seesEverything: Bool
  /// Whether every change is permitted.
  public let permitsEverything: Bool

  /// The place of a rule in the model, in one role.
  private struct Subject: Hashable {
    let entity: EntityNumber
    let operation: AccessRules.Operation
    /// For the further rule of a property; 0 for the rule of the operation.
    let property: PropertyNumber
    let role: Role
  }

  /// Compiles the rules for a principal.
  public init(_ rights: Rights, model: Model) {
    self.rights = rights
    self.model = model
    var evaluators = [Subject: PredicateEvaluator]()
    var roles = Set(rights.scopes.values)
    roles.formUnion([rights.role, rights.sharedRole].compactMap { $0 })
    for (entity, access) in model.parts.accessRules {
      for role in roles {
        for (operation, rule) in access.rules {
          evaluators[Subject(entity: entity, operation: operation, property: 0, role: role)] =
            PredicateEvaluator(rule.predicate(user: rights.user, role: role), model: model)
        }
        for (property, rule) in access.properties {
          evaluators[Subject(entity: entity, operation: .update, property: property, role: role)] =
            PredicateEvaluator(rule.predicate(user: rights.user, role: role), model: model)
        }
      }
    }
    self.evaluators = evaluators
    seesEverything = rights.role != nil && model.entitiesWithReadRules.isEmpty
    permitsEverything = rights.role.map { $0 >= .editor } == true && evaluators.isEmpty
    assert(!permitsEverything || seesEverything, "who may change everything sees everything")
  }

  /// The role that applies to an object; nil for none.
  public func role(for image: ObjectImage) -> Role? {
    guard let entity = model.entity(image.id.entity), let scope = entity.scope else { return rights.role }
    return scope == .shared ? rights.sharedRole : rights.role(in: entity.scopeKey(of: image, scope))
  }

  /// Whether the principal may see an object in this state.
  public func sees(_ image: ObjectImage) -> Bool {
    if seesEverything { return true }
    guard let role = role(for: image) else { return false }
    return allows(.read, image, role)
  }

  /// Whether a relationship of a visible object may refer to an object that the principal does not see. The principal
  /// then sees another value than the stored one.
  private func mayHide(_ number: PropertyNumber) -> Bool {
    guard let property = model.property(number), let relationship = property.relationship else { return false }
    guard let destination = model.entity(relationship.destination),
      destination.family.allSatisfy({ model.accessRules(of: $0)?.rules[.read] == nil })
    else { return true }
    if destination.scope == .shared { return rights.sharedRole == nil }
    switch model.entity(property.owner)?.scope {
    // The object at the other end has the same scope.
    case .reference(number)?, .stored(_, through: number)?: return false
    default: return rights.role == nil
    }
  }

  /// Whether the predicate may match the object that is stored, and not the object that the principal sees, or the
  /// reverse. For a predicate that reads its own object only.
  public func mayHideReferences(of predicate: GraphPredicate) -> Bool {
    !seesEverything && predicate.ownProperties.contains(where: mayHide)
  }

  /// Whether the value of the expression may differ for the object that is stored and the one that the principal sees.
  public func mayHideReferences(of expression: GraphExpression) -> Bool {
    !seesEverything
      && expression.paths.contains { path in
        switch path.end {
        case .property(let number), .count(let number): mayHide(number)
        case .aggregate, .identifier: false
        }
      }
  }

  /// The right that a change needs and the principal lacks; nil if the change is permitted. An object that the
  /// principal can't see may not be changed, even as a consequence: the missing right is then that to read it.
  /// - Parameters:
  ///   - before: the object before the change; nil for an insert.
  ///   - after: the object after the change; nil for a delete.
  ///   - changed: the properties of an update. Properties that the server sets do not count.
  public func missingRight(
    before: ObjectImage?, after: ObjectImage?, changed: some Sequence<PropertyNumber>
  ) -> MissingRight? {
    switch (before, after) {
    case (nil, nil): return nil
    case (nil, let after?): return missing(.insert, after)
    case (let before?, nil): return missingSight(of: before) ?? missing(.delete, before)
    case (let before?, let after?):
      let own = changed.filter { isSetByClients($0) }
      if own.isEmpty { return nil }
      if let missing = missingSight(of: before) ?? missing(.update, before) ?? missing(.update, after) {
        return missing
      }
      return own.lazy.compactMap { property in
        self.missing(property, before) ?? self.missing(property, after)
      }.first
    }
  }

  private func missingSight(of image: ObjectImage) -> MissingRight? {
    if sees(image) { return nil }
    let name = model.entityName(image.id.entity)
    return MissingRight(operation: .read, entity: name, role: role(for: image), reason: .role(.reader))
  }

  /// Refuses a commit without changes if no role of the principal allows changes. It has no effect to judge, but a
  /// place in history.
  public func refuseEmptyCommit() throws(Refusal) {
    let strongest = rights.strongestRole
    if let strongest, strongest >= .commenter { return }
    let own = if let strongest { "your role is \(strongest.rawValue)" } else { "you have no role" }
    throw Refusal(.notAllowed, "\(own), and a commit needs the role \(Role.commenter.rawValue): ask an owner")
  }

  /// The right that the principal lacks for changing an object; nil if it may change some property.
  public func missingUpdate(of image: ObjectImage) -> MissingRight? {
    permitsEverything ? nil : missing(.update, image)
  }

  /// Whether a change of the property is a client's; others follow from it.
  private func isSetByClients(_ property: PropertyNumber) -> Bool {
    guard let attribute = model.property(property)?.attribute else { return true }
    return !attribute.isDerived && [nil, .position].contains(attribute.assignment)
  }

  private func allows(_ operation: AccessRules.Operation, _ image: ObjectImage, _ role: Role) -> Bool {
    if evaluators.isEmpty { return true }
    let subject = Subject(entity: image.id.entity, operation: operation, property: 0, role: role)
    return evaluators[subject]?.matches(image) != false
  }

  private func missing(_ operation: AccessRules.Operation, _ image: ObjectImage) -> MissingRight? {
    let name = model.entityName(image.id.entity)
    guard let role = role(for: image) else {
      return MissingRight(operation: operation, entity: name, role: nil, reason: .role(.commenter))
    }
    if role < .commenter {
      return MissingRight(operation: operation, entity: name, role: role, reason: .role(.commenter))
    }
    if role < .editor, operation != .insert || creator(of: image) != nil, !owns(image) {
      return MissingRight(operation: operation, entity: name, role: role, reason: .others)
    }
    guard let rule = model.accessRules(of: image.id.entity)?.rules[operation], !allows(operation, image, role) else {
      return nil
    }
    return MissingRight(operation: operation, entity: name, role: role, reason: .rule(rule.text))
  }

  private func missing(_ property: PropertyNumber, _ image: ObjectImage) -> MissingRight? {
    guard let rule = model.accessRules(of: image.id.entity)?.properties[property], let role = role(for: image),
      evaluators[Subject(entity: image.id.entity, operation: .update, property: property, role: role)]?
        .matches(image) == false
    else { return nil }
    let name = "\(model.entityName(image.id.entity)).\(model.propertyName(property))"
    return MissingRight(operation: .update, entity: name, role: role, reason: .rule(rule.text))
  }

  private func creator(of image: ObjectImage) -> Property? { model.accessRules(of: image.id.entity)?.creator }

  /// Whether the principal created the object.
  private func owns(_ image: ObjectImage) -> Bool {
    guard let creator = creator(of: image), case .string(let user) = image[creator] else { return false }
    return UTF8Comparison.equal(user, rights.user)
  }
}

/// A right that a change needs and its principal lacks.
public struct MissingRight: Hashable, Sendable {
  /// The kind of decision that withholds the right.
  public enum Reason: Hashable, Sendable {
    /// A stronger role: at least this one.
    case role(Role)
    /// The object is another principal's, and the role only allows own objects.
    case others
    /// A rule of the model, with its predicate.
    case rule(String)
  }

  /// The operation.
  public var operation: AccessRules.Operation
  /// The name of the entity; for a property, with the property's name after a dot.
  public var entity: String
  /// The principal's role on the object; nil for none.
  public var role: Role?
  /// The decision that withholds the right.
  public var reason: Reason

  /// A sentence without contents that names the right.
  public var message: String {
    let verb =
      switch operation {
      case .read: "read"
      case .insert: "create"
      case .update: "change"
      case .delete: "delete"
      }
    let here = if let role { "your role here is \(role.rawValue)" } else { "you have no role here" }
    switch reason {
    case .role(let needed):
      return "\(here), and to \(verb) \(entity) needs the role \(needed.rawValue): ask an owner"
    case .others:
      return "\(here), which allows to \(verb) your own \(entity) only; that of others needs the role editor: ask an "
        + "owner"
    case .rule(let text):
      return "\(here), and a rule of the model does not allow you to \(verb) \(entity): \(text.excerpt)"
    }
  }
}
