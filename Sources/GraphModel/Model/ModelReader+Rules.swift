extension ModelDraft {
  struct Rule {
    var name, documentation, path, predicate: String
    /// The message; nil for a generated one.
    var message: String?
  }
}

extension ModelReader {
  mutating func rule(_ json: JSON, _ path: String) -> ModelDraft.Rule {
    var fields = JSONObjectReader(json, path: path, in: &mistakes)
    let rule = ModelDraft.Rule(
      name: fields.name("name"), documentation: fields.text("documentation"), path: path,
      predicate: fields.text("predicate", required: true), message: fields.string("message"))
    fields.finish(&mistakes)
    return rule
  }
}

extension ModelLinker {
  /// The names of the common rules, which a model's own rules may not have, so that a program can distinguish them.
  private static let commonRuleNames = Set(Violation.CommonRule.allCases.map { $0.rawValue.lowercased() })

  mutating func checkRules(of entity: ModelDraft.Entity) {
    var seen = Set<String>()
    for ancestor in lineage(of: entity) {
      for rule in ancestor.rules {
        let isNew = seen.insert(rule.name.lowercased()).inserted
        guard ancestor.name == entity.name else { continue }
        if !isNew {
          report(
            rule.path + ".name", "another rule here or in an ancestor is called \"\(rule.name)\" (case does not count)")
        }
        if Self.commonRuleNames.contains(rule.name.lowercased()) {
          report(rule.path + ".name", "\"\(rule.name)\" is the name of a rule that every model has")
        }
      }
    }
  }

  /// Reports access rules of properties that no client can change, and a second declaration in a lineage.
  mutating func checkAccess(of entity: ModelDraft.Entity) {
    let line = lineage(of: entity)
    let creators = line.flatMap(\.attributes).filter { $0.assignment == .creator }
    if creators.count > 1, let own = entity.attributes.last(where: { $0.assignment == .creator }) {
      report(own.path + ".assigned", "\(entity.name) has another creator, \"\(creators[0].name)\"")
    }
    for rule in [entity.access].compactMap({ $0 }).flatMap(\.properties) {
      let attribute = line.lazy.flatMap(\.attributes).first { $0.name == rule.name }
      let isRelationship = line.contains { $0.relationships.contains { $0.name == rule.name } }
      guard let attribute else {
        if !isRelationship { report(rule.path, "\(entity.name) has no property \"\(rule.name)\"") }
        continue
      }
      if attribute.isTransient || attribute.derived != nil || attribute.assignment != nil {
        report(rule.path, "no client changes \"\(rule.name)\": the rule would never be judged")
      }
    }
  }
}
