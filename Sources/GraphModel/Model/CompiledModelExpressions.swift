/// The texts of a model file in the predicate language, parsed once at loading. Parsing them requires a model whose
/// names have numbers.
struct CompiledModelExpressions: Sendable {
  /// The rules by entity, inherited ones first.
  var rules = [EntityNumber: [EntityRule]]()
  /// By concrete or abstract entity, with inherited ones, as are the next two.
  var counts = [EntityNumber: [DerivedCount]]()
  var expressions = [EntityNumber: [DerivedExpression]]()
  var countedEnds = [EntityNumber: [CountedRelationship]]()
  /// The access rules by entity, with inherited ones; no entry for an entity without rules and creator.
  var accessRules = [EntityNumber: AccessRules]()
  /// The to-ones through which other objects get their scope, by the entity that they lead to.
  var scopeDependents = [EntityNumber: [ScopeDependent]]()
  /// The named fetch requests, in the order of the file.
  var fetchRequests = [FetchTemplate]()
}

/// The last pass over a model file: parses the texts in the predicate language against the linked model.
struct ModelExpressionCompiler {
  let draft: ModelDraft
  let model: Model
  var mistakes = [ModelError.Problem]()
  var parts = CompiledModelExpressions()

  init(draft: ModelDraft, model: Model) {
    self.draft = draft
    self.model = model
  }

  mutating func run() {
    parseRules()
    parseDerivations()
    parseFetchRequests()
    parseAccessRules()
    findScopeDependents()
  }

  mutating func report(_ path: String, _ reason: String) {
    mistakes.append(.init(path: path, reason: reason))
  }

  /// The draft's entities, ancestors before descendants, so that inherited parts exist before they are needed.
  var entitiesFromTheRoots: [(draft: ModelDraft.Entity, entity: Entity)] {
    let entities = zip(draft.entities, model.entities).map { (draft: $0, entity: $1, depth: depth(of: $1)) }
    let deepest = entities.reduce(0) { max($0, $1.depth) }
    return (0...deepest).flatMap { depth in entities.filter { $0.depth == depth }.map { ($0.draft, $0.entity) } }
  }

  private func depth(of entity: Entity) -> Int {
    guard let parent = entity.parent.flatMap({ model.entity($0) }) else { return 0 }
    return depth(of: parent) + 1
  }
}

extension ModelExpressionCompiler {
  mutating func parseRules() {
    for (draft, entity) in entitiesFromTheRoots {
      var rules = entity.parent.flatMap { parts.rules[$0] } ?? []
      for rule in draft.rules {
        guard let predicate = predicate(of: rule, in: entity) else { continue }
        let message = rule.message ?? "this \(entity.name) breaks the rule \(rule.name): \(rule.predicate)"
        rules.append(
          EntityRule(
            name: rule.name, documentation: rule.documentation, predicate: rule.predicate, message: message,
            owner: entity.number, sources: predicate.ownProperties,
            evaluator: PredicateEvaluator(predicate, model: model)))
      }
      if !rules.isEmpty { parts.rules[entity.number] = rules }
    }
  }

  private mutating func predicate(of rule: ModelDraft.Rule, in entity: Entity) -> GraphPredicate? {
    do {
      let predicate = try GraphPredicate(parsing: rule.predicate, entity: entity, model: model)
      guard predicate.readsOnlyOwnImage(in: model) else {
        report(rule.path + ".predicate", "reads other objects; a rule can only read the properties of its own object")
        return nil
      }
      guard predicate.bound(now: 0) == predicate else {
        report(rule.path + ".predicate", "uses now(); stored objects must follow their rules at any time")
        return nil
      }
      return predicate
    } catch {
      report(rule.path + ".predicate", error.description)
      return nil
    }
  }
}
