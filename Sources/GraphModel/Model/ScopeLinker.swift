/// Scopes: the container of an entity's objects, which the file names by a to-one, or by `self` for a container. If the
/// to-one does not lead to a container itself, the entity gets a hidden attribute with the container's key. `*` is the
/// scope of objects that all containers share.
struct ScopeLinker {
  private let linker: ModelLinker

  init(_ linker: ModelLinker) { self.linker = linker }

  /// The scope of an entity that is a container itself.
  static let container = "self"
  /// The scope of an entity whose objects all containers share. No to-one can have this name.
  static let shared = "*"
  /// The hidden attribute. No file can declare the name, and no predicate can read it.
  static let scopeName = "_scope"

  /// The mistake in the scope that an entity declares; nil if there is none.
  func mistake(of entity: ModelDraft.Entity) -> ModelError.Problem? {
    entity.scope.flatMap { reason(against: $0, of: entity) }.map { .init(path: entity.path + ".scope", reason: $0) }
  }

  private func reason(against scope: String, of entity: ModelDraft.Entity) -> String? {
    let line = linker.lineage(of: entity)
    if let ancestor = line.dropLast().last(where: { $0.scope != nil }) {
      return "the scope is that of \(ancestor.name), which \(entity.name) inherits"
    }
    if Self.isNoPath(scope) { return nil }
    guard let toOne = toOne(named: scope, in: line) else {
      return "\(entity.name) has no to-one relationship \"\(scope)\"; a container has the scope \"self\""
    }
    // An unknown destination is reported with its relationship.
    guard let destination = linker.byName[toOne.destination] else { return nil }
    guard let next = scopeOwner(of: destination) else {
      return "\(scope) leads to \(destination.name), which has no scope; a container has the scope \"self\""
    }
    if next.scope == Self.shared {
      return "\(scope) leads to \(destination.name), whose objects belong to no single container"
    }
    var seen = [entity.name]
    var owner: ModelDraft.Entity? = next
    while let current = owner {
      if seen.contains(current.name) {
        return "the scopes lead in a circle: \((seen + [current.name]).joined(separator: ", "))"
      }
      seen.append(current.name)
      owner = nextOwner(after: current)
    }
    return nil
  }

  /// Whether a scope names no to-one.
  private static func isNoPath(_ scope: String) -> Bool { scope == container || scope == shared }

  /// The hidden attribute that an entity declares by its scope: one or none.
  func attributes(of entity: ModelDraft.Entity) -> [(name: String, attribute: Attribute)] {
    guard let path = containerPath(of: entity), path.count > 1 else { return [] }
    let derivation = Attribute.Derivation(text: path.joined(separator: "."), counted: nil, isScope: true)
    let attribute = Attribute(
      kind: .uuid, defaultValue: .null, minimum: .null, maximum: .null, minimumLength: nil, maximumLength: nil,
      cases: [], enumeration: nil, assignment: nil, isIndexed: false, isFullText: false, derivation: derivation)
    return [(Self.scopeName, attribute)]
  }

  /// The path to the scope of an entity's objects.
  /// - Parameter properties: the entity's properties, inherited ones included.
  func scope(of entity: ModelDraft.Entity, _ properties: [Property]) -> EntityScope? {
    guard let owner = scopeOwner(of: entity), let scope = owner.scope else { return nil }
    if Self.isNoPath(scope) { return scope == Self.shared ? .shared : .container }
    guard let toOne = properties.first(where: { $0.name == scope }) else {
      preconditionFailure("a checked scope names a property: \(scope)")
    }
    guard let hidden = properties.first(where: { $0.name == Self.scopeName }) else { return .reference(toOne.number) }
    return .stored(hidden.number, through: toOne.number)
  }

  /// The entity, or the ancestor, that declares the scope of an entity.
  private func scopeOwner(of entity: ModelDraft.Entity) -> ModelDraft.Entity? {
    linker.lineage(of: entity).last { $0.scope != nil }
  }

  /// The names of the to-ones from an entity that declares a scope to the container; nil for a container.
  private func containerPath(of entity: ModelDraft.Entity) -> [String]? {
    guard var scope = entity.scope, !Self.isNoPath(scope) else { return nil }
    var (path, owner) = ([scope], entity)
    while let next = nextOwner(after: owner), let further = next.scope, !Self.isNoPath(further),
      path.count <= linker.draft.entities.count
    {
      (scope, owner) = (further, next)
      path.append(scope)
    }
    return path
  }

  /// The entity that declares the scope of the objects from which an entity takes its own.
  private func nextOwner(after entity: ModelDraft.Entity) -> ModelDraft.Entity? {
    guard let scope = entity.scope, !Self.isNoPath(scope),
      let toOne = toOne(named: scope, in: linker.lineage(of: entity)),
      let destination = linker.byName[toOne.destination]
    else { return nil }
    return scopeOwner(of: destination)
  }

  private func toOne(named name: String, in line: [ModelDraft.Entity]) -> ModelDraft.Relationship? {
    for entity in line {
      if let found = entity.relationships.first(where: { $0.name == name && !$0.isToMany }) { return found }
    }
    return nil
  }
}
