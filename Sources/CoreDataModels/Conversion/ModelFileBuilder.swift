import CoreDataNames
import GraphModel

/// Builds the JSON of a model file from a draft, with the names of the table.
struct ModelFileBuilder {
  let draft: VersionDraft
  let names: NameTable
  /// The previous version, and the predecessors of this version's parts in it; nil for the first version.
  var previous: (draft: VersionDraft, links: VersionLinks)?
  /// The names that the parts had in earlier versions, and have in the app.
  var earlierNames = EarlierNames()

  private var number: Int { draft.number }

  var json: JSON {
    var members: [JSON.Member] = [
      .init("format", .integer(1)), .init("name", .string(names.model)), .init("version", .integer(Int64(number))),
      .init("documentation", .string(draft.documentation)),
    ]
    let mappings = mappings
    if !mappings.isEmpty { members.append(.init("mapping", .object(mappings))) }
    if let distinction = draft.distinction {
      let enumeration: [JSON.Member] = [
        .init("name", .string(distinction)),
        .init("documentation", .string("Gives this version a hash of its own; no attribute uses it.")),
        .init("cases", .array([.string("unused")])),
      ]
      members.append(.init("enumerations", .array([.object(enumeration)])))
    }
    if !draft.composites.isEmpty { members.append(.init("composites", .array(draft.composites.map(composite)))) }
    members.append(.init("entities", .array(draft.entities.map(entity))))
    if !draft.fetchRequests.isEmpty { members.append(.init("fetchRequests", .array(fetchRequests))) }
    return .object(members)
  }

  // MARK: - Parts

  private func composite(_ composite: CompositeDraft) -> JSON {
    let attributes = composite.attributes.map { attribute in
      let part = composite.part(attribute.source)
      return self.attribute(
        attribute, part, name: names.member(attribute.source, of: composite, in: number),
        renamed: earlierNames.members[part], in: nil)
    }
    return .object([
      .init("name", .string(names.composite(composite.source))), .init("attributes", .array(attributes)),
    ])
  }

  private func entity(_ entity: EntityDraft) -> JSON {
    let name = names.entity(entity.source, in: number)
    var members: [JSON.Member] = [.init("name", .string(name))]
    if let renamed = earlierNames.entities[entity.source] { members.append(.init("renamed", .string(renamed))) }
    members += documentation(of: entity.source)
    if entity.isAbstract { members.append(.init("abstract", .bool(true))) }
    if let parent = entity.parent { members.append(.init("parent", .string(names.entity(parent, in: number)))) }
    if !entity.attributes.isEmpty {
      let attributes = entity.attributes.map { attribute in
        let part = "\(entity.source).\(attribute.source)"
        return self.attribute(
          attribute, part, name: names.property(attribute.source, of: entity.source, in: number),
          renamed: earlierNames.properties[part], in: entity)
      }
      members.append(.init("attributes", .array(attributes)))
    }
    if !entity.relationships.isEmpty {
      members.append(.init("relationships", .array(entity.relationships.map { relationship($0, in: entity) })))
    }
    if !entity.unique.isEmpty {
      let keys = entity.unique.map { JSON.array($0.names.map { .string(path($0, in: entity.source)) }) }
      members.append(.init("unique", .array(keys)))
    }
    return .object(members)
  }

  /// The names of a part in the app, if they differ from that in the model file.
  private func documentation(of part: String) -> [JSON.Member] {
    guard let names = earlierNames.app[part] else { return [] }
    return [.init("documentation", .string(names.documentation))]
  }

  /// - Parameter part: the attribute in ``EarlierNames``.
  private func attribute(
    _ attribute: AttributeDraft, _ part: String, name: String, renamed: String?, in entity: EntityDraft?
  ) -> JSON {
    var members: [JSON.Member] = [.init("name", .string(name)), .init("type", .string(attribute.type))]
    if let renamed { members.append(.init("renamed", .string(renamed))) }
    if let composite = attribute.composite { members.append(.init("composite", .string(names.composite(composite)))) }
    if attribute.isOptional { members.append(.init("optional", .bool(true))) }
    members += attribute.members
    if let text = attribute.derivation, let entity {
      members.append(.init("derived", .string(derivation(text, in: entity.source))))
    }
    return .object(members + documentation(of: part))
  }

  private func derivation(_ derivation: AttributeDraft.Derivation, in entity: String) -> String {
    switch derivation {
    case .count(let relationship): "\(path(relationship, in: entity)).@count"
    case .function(let function, let attribute): "\(function)(\(path(attribute, in: entity)))"
    }
  }

  private func relationship(_ relationship: RelationshipDraft, in entity: EntityDraft) -> JSON {
    var members: [JSON.Member] = [
      .init("name", .string(names.property(relationship.source, of: entity.source, in: number))),
      .init("destination", .string(names.entity(relationship.destination, in: number))),
      .init("inverse", .string(names.property(relationship.inverse, of: relationship.destination, in: number))),
    ]
    if let renamed = earlierNames.properties["\(entity.source).\(relationship.source)"] {
      members.append(.init("renamed", .string(renamed)))
    }
    if relationship.isToMany { members.append(.init("toMany", .bool(true))) }
    if !relationship.isOptional { members.append(.init("optional", .bool(false))) }
    if relationship.isOrdered { members.append(.init("ordered", .bool(true))) }
    if relationship.deleteRule != "nullify" { members.append(.init("deleteRule", .string(relationship.deleteRule))) }
    if let count = relationship.minimumCount { members.append(.init("minimumCount", .integer(Int64(count)))) }
    if let count = relationship.maximumCount { members.append(.init("maximumCount", .integer(Int64(count)))) }
    if relationship.isAdded {
      members.append(.init("documentation", .string(RelationshipDraft.addedInverse)))
    }
    return .object(members + documentation(of: "\(entity.source).\(relationship.source)"))
  }

  // MARK: - The previous version

  private var mappings: [JSON.Member] {
    guard let previous else { return [] }
    let members = draft.entities.flatMap { memberMappings(of: $0, previous.draft, previous.links) }
    let moved = draft.entities.flatMap { movedMappings(of: $0, previous.draft, previous.links) }
    return members + moved
      + draft.entities.flatMap { entity in
        entity.attributes.compactMap { attribute -> JSON.Member? in
          guard let function = attribute.mapping, let owner = previous.links.entities[entity.source],
            let before = previous.links.properties["\(entity.source).\(attribute.source)"]
          else { return nil }
          let target = names.property(attribute.source, of: entity.source, in: number)
          let source = names.property(before, of: owner, in: previous.draft.number)
          return .init("\(names.entity(entity.source, in: number)).\(target)", .string("\(function)(\(source))"))
        }
      }
  }

  /// The mappings of attributes that a parent has declared in the previous version.
  private func movedMappings(of entity: EntityDraft, _ old: VersionDraft, _ links: VersionLinks) -> [JSON.Member] {
    entity.attributes.compactMap { attribute -> JSON.Member? in
      guard let before = links.parentAttribute(before: attribute, of: entity, from: old, to: draft) else { return nil }
      let source = names.property(before.attribute.source, of: before.entity.source, in: old.number)
      guard let expression = attribute.expression(of: before.attribute, source) else { return nil }
      let target = names.property(attribute.source, of: entity.source, in: number)
      return JSON.Member("\(names.entity(entity.source, in: number)).\(target)", .string(expression))
    }
  }

  /// The mappings of members whose earlier full names `renamed` can't state.
  private func memberMappings(of entity: EntityDraft, _ old: VersionDraft, _ links: VersionLinks) -> [JSON.Member] {
    entity.attributes.flatMap { attribute -> [JSON.Member] in
      guard let composite = draft.composite(of: attribute),
        let before = links.composite(before: attribute, of: entity, from: old, to: draft)
      else { return [] }
      let name = names.property(attribute.source, of: entity.source, in: number)
      let earlier = names.property(before.attribute.source, of: before.entity.source, in: old.number)
      let stated = earlierNames.properties["\(entity.source).\(attribute.source)"]
      return composite.attributes.compactMap { member -> JSON.Member? in
        guard let source = links.properties[composite.part(member.source)] else { return nil }
        let present = names.member(member.source, of: composite, in: number)
        let past = "\(earlier).\(names.member(source, of: before.composite, in: old.number))"
        let renamed = earlierNames.members[composite.part(member.source)]
        let isStated = past == [stated ?? name, renamed ?? present].joined(separator: ".")
        guard past != "\(name).\(present)", !isStated else { return nil }
        return JSON.Member("\(names.entity(entity.source, in: number)).\(name).\(present)", .string(past))
      }
    }
  }

  // MARK: - Fetch requests

  private var fetchRequests: [JSON] {
    draft.fetchRequests.map { request in
      var members: [JSON.Member] = [
        .init("name", .string(names.fetchRequest(request.source))),
        .init("entity", .string(names.entity(request.entity, in: number))),
      ]
      if let predicate = request.predicate {
        members.append(.init("predicate", .string(self.predicate(predicate, of: request.entity))))
      }
      if let limit = request.limit, limit > 0 { members.append(.init("limit", .integer(Int64(limit)))) }
      return .object(members)
    }
  }
}

/// The predecessors of a version's parts in the version before, in the names of the source.
struct VersionLinks {
  /// The earlier entity by the later one, and the ``CompositeDraft/owner`` of the earlier composite by the later one's.
  var entities = [String: String]()
  /// The name of the earlier property by `Entity.property` of the later one, and that of the earlier member by
  /// ``CompositeDraft/part(_:)`` of the later one.
  var properties = [String: String]()

  /// The predecessor of a composite attribute, if the composites of both are linked, so that their members are, too.
  func composite(
    before attribute: AttributeDraft, of entity: EntityDraft, from old: VersionDraft, to new: VersionDraft
  ) -> (entity: EntityDraft, attribute: AttributeDraft, composite: CompositeDraft)? {
    guard let composite = new.composite(of: attribute), let owner = entities[entity.source].flatMap({ old.entity($0) }),
      let name = properties["\(entity.source).\(attribute.source)"],
      let before = owner.attributes.first(where: { $0.source == name }), let earlier = old.composite(of: before),
      entities[composite.owner] == earlier.owner
    else { return nil }
    return (owner, before, earlier)
  }
}
