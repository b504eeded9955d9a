extension ModelDraft {
  /// The access rules that an entity declares.
  struct Access {
    /// A predicate, by the operation or by the property that it is for.
    struct Rule { var name, path, predicate: String }
    var operations: [(operation: AccessRules.Operation, rule: Rule)]
    var properties: [Rule]
  }
}

extension ModelReader {
  mutating func access(_ fields: inout JSONObjectReader, _ path: String) -> ModelDraft.Access? {
    guard let json = fields.value("access", required: false, "an object", { $0.members == nil ? nil : $0 }) else {
      return nil
    }
    let path = path + ".access"
    var access = ModelDraft.Access(operations: [], properties: [])
    var members = JSONObjectReader(json, path: path, in: &mistakes)
    for operation in AccessRules.Operation.allCases {
      guard let text = members.string(operation.rawValue) else { continue }
      let rule = ModelDraft.Access.Rule(
        name: operation.rawValue, path: "\(path).\(operation.rawValue)", predicate: text)
      access.operations.append((operation, rule))
    }
    let properties = members.value("properties", required: false, "an object", \.members)
    if let properties {
      for member in properties {
        guard let text = member.value.stringValue else {
          members.report("properties.\(member.name)", "must be a string")
          continue
        }
        access.properties.append(
          ModelDraft.Access.Rule(name: member.name, path: "\(path).properties.\(member.name)", predicate: text))
      }
    }
    members.finish(&mistakes)
    return access
  }
}

extension ModelExpressionCompiler {
  mutating func parseAccessRules() {
    for (draft, entity) in entitiesFromTheRoots {
      var rules = AccessRules()
      if let inherited = entity.parent.flatMap({ parts.accessRules[$0] }) { rules = inherited }
      if let creator = entity.assignedProperties.first(where: { $0.attribute?.assignment == .creator }) {
        rules.creator = creator
      }
      if let access = draft.access {
        for (operation, rule) in access.operations {
          guard let parsed = accessRule(rule, of: entity) else { continue }
          rules.rules[operation] = combined(rules.rules[operation], parsed)
        }
        for rule in access.properties {
          guard let property = entity.property(named: rule.name), let parsed = accessRule(rule, of: entity) else {
            continue
          }
          if property.relationship?.storage == .inverse {
            report(rule.path, "\"\(rule.name)\" is stored at its inverse: declare the rule there")
          }
          rules.properties[property.number] = combined(rules.properties[property.number], parsed)
        }
      }
      if !rules.isEmpty { parts.accessRules[entity.number] = rules }
    }
  }

  /// A subentity narrows the rules that it inherits: both must hold.
  private func combined(_ inherited: AccessRule?, _ own: AccessRule) -> AccessRule {
    guard let inherited else { return own }
    return AccessRule(
      text: "(\(inherited.text)) AND (\(own.text))", predicate: .and([inherited.predicate, own.predicate]))
  }

  private mutating func accessRule(_ rule: ModelDraft.Access.Rule, of entity: Entity) -> AccessRule? {
    let predicate: GraphPredicate
    do {
      predicate = try GraphPredicate(
        parsingRule: rule.predicate, entity: entity, model: model,
        variables: [AccessRule.user: .string, AccessRule.role: .string])
    } catch {
      report(rule.path, error.description)
      return nil
    }
    guard predicate.readsOnlyOwnImage(in: model) else {
      report(rule.path, "reads other objects; a rule can only read the properties of its own object")
      return nil
    }
    guard predicate.bound(now: 0) == predicate else {
      report(rule.path, "uses now(); what a user may see must not change without a commit")
      return nil
    }
    if Self.ordersRoles(predicate) {
      report(
        rule.path, "orders $role, which is compared as a text: name the roles, as in $role IN {\"editor\", \"owner\"}")
      return nil
    }
    if let unknown = Self.unknownRole(predicate) {
      report(rule.path, "there is no role \"\(unknown.excerpt)\"; the roles are \(Role.names)")
      return nil
    }
    return AccessRule(text: rule.predicate, predicate: predicate)
  }

  private static func isRole(_ expression: GraphExpression) -> Bool {
    if case .variable(AccessRule.role, _) = expression { true } else { false }
  }

  private static func ordersRoles(_ predicate: GraphPredicate) -> Bool {
    var orders = false
    predicate.forEachComparison { comparison, _ in
      let isEquality = [.equal, .notEqual, .in].contains(comparison.comparator) && comparison.options.isEmpty
      if isRole(comparison.left) || isRole(comparison.right), !isEquality { orders = true }
    }
    return orders
  }

  /// A text that is compared with `$role` and is not a role, so that the comparison has the same result for every user.
  private static func unknownRole(_ predicate: GraphPredicate) -> String? {
    var unknown: String?
    predicate.forEachComparison { comparison, _ in
      if !isRole(comparison.left) { return }
      var values = [comparison.right.constant]
      if case .list(let list) = comparison.right { values = list }
      for value in values {
        if let text = value.stringValue, Role(rawValue: text) == nil { unknown = text }
      }
    }
    return unknown
  }
}
