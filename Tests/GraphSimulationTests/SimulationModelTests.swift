import GraphModel
import GraphReplica
import Testing

@testable import GraphSimulation

/// A simulation can verify only the features that its model has.
@Suite struct SimulationModelTests {
  @Test func modelContainsEveryModelFeature() throws {
    let model = try SimulationModel.load()
    let properties = model.entities.flatMap(\.properties)
    let attributes = properties.compactMap(\.attribute)
    #expect(Set(attributes.map(\.kind)) == Set(Attribute.Kind.allCases))
    // A creator is the principal of a commit, and the simulation's clients have no accounts.
    let assignments = Set(Attribute.Assignment.allCases).subtracting([.creator])
    #expect(Set(attributes.compactMap(\.assignment)).isSuperset(of: assignments))
    #expect(attributes.contains { $0.minimumLength != nil } && attributes.contains { $0.maximumLength != nil })
    #expect(attributes.contains { !$0.minimum.isNull } && attributes.contains { !$0.maximum.isNull })
    #expect(attributes.contains { $0.pattern != nil } && attributes.contains(where: \.isTransient))
    #expect(attributes.contains(where: \.isFullText) && attributes.contains(where: \.isIndexed))
    #expect(attributes.contains { $0.derivation?.counted != nil })
    #expect(attributes.contains { $0.isDerived && $0.derivation?.counted == nil })
    let ends = properties.compactMap { property -> (end: Relationship, inverse: Relationship)? in
      guard let end = property.relationship, let inverse = model.property(end.inverse)?.relationship else { return nil }
      return (end, inverse)
    }
    let many = ends.filter { $0.end.isToMany && $0.inverse.isToMany }
    #expect(Set(ends.map(\.end.deleteRule)) == Set(Relationship.DeleteRule.allCases))
    #expect(ends.contains { !$0.end.isToMany && !$0.inverse.isToMany }, "one-to-one")
    #expect(ends.contains { $0.end.isOrdered && !$0.inverse.isToMany }, "ordered, and stored by the members")
    #expect(many.contains { $0.end.isOrdered }, "ordered, and stored by the owner")
    #expect(many.contains { !$0.end.isOrdered && !$0.inverse.isOrdered }, "many-to-many without an order")
    #expect(many.contains { $0.end.destination == $0.inverse.destination }, "many-to-many within an entity")
    #expect(ends.contains { $0.end.isToMany && $0.end.destination == $0.inverse.destination && !$0.inverse.isToMany })
    #expect(ends.contains { $0.end.minimumCount != nil } && ends.contains { $0.end.maximumCount != nil })
    #expect(model.entities.contains { $0.uniquenessConstraints.contains { $0.count > 1 } })
    #expect(model.entities.contains(where: \.isAbstract) && !model.composites.isEmpty)
    #expect(model.fetchRequests.contains { !$0.variables.isEmpty && !$0.sort.isEmpty && $0.limit != nil })
  }

  /// A question that can't be read would be passed over.
  @Test func everyFetchRequestIsExecutable() throws {
    let model = try SimulationModel.load()
    for (name, text) in SimulationModel.queries + SimulationModel.values {
      let entity = try #require(model.entity(named: name))
      #expect(throws: Never.self, "\(name) \(text)") { try SimulationModel.predicate(text, entity, model) }
    }
    for (name, text) in SimulationModel.orders {
      let entity = try #require(model.entity(named: name))
      #expect(throws: Never.self, "\(name) \(text)") { try [SortKey](parsing: text, entity: entity, model: model) }
    }
    for question in ExpectedRowFetch.all {
      let entity = try #require(model.entity(named: question.entity))
      #expect(throws: Never.self, "\(question.properties)") {
        try RowRequest(
          parsing: question.properties, distinct: question.isDistinct, groups: question.groups,
          order: question.isDistinct || !question.groups.isEmpty ? question.sort : "", entity: entity, model: model)
      }
    }
    for (name, paths) in ClientLoads.trees {
      let entity = try #require(model.entity(named: name))
      for path in paths {
        #expect(throws: Never.self, "\(name) \(path)") {
          try RelationshipTree(parsing: path, entity: entity, model: model)
        }
      }
    }
  }
}
