import GraphModel
import GraphReplica
import Testing

/// Typed load paths lead to the same objects as their text forms.
@Suite struct LoadPathTests {
  private func same<Object: ManagedObject>(
    _ type: Object.Type, _ text: String, place: SourceLocation = #_sourceLocation,
    _ paths: [(ObjectPath<Object, ToOneLoad>) -> any LoadPath]
  ) throws {
    let model = CompanyModel.model
    let entity = try #require(model.entity(named: type.entityName), sourceLocation: place)
    let named = try RelationshipTree(parsing: text, entity: entity, model: model)
    #expect(RelationshipTree(type, paths) == named, sourceLocation: place)
    #expect(named.isEmpty == text.isEmpty, sourceLocation: place)
  }

  @Test func loadPathsResolveToTheirRelationships() throws {
    try same(Person.self, "", [])
    try same(Person.self, "department", [\.department])
    try same(Person.self, "manager.manager,projects", [\.projects, \.manager.manager])
    try same(Project.self, "members.manager.department,client", [\.members.each.manager.department, { $0.client }])
    // Paths with a common beginning share it; a subentity has its parents' relationships.
    try same(Contractor.self, "department.projects.members", [\.department, \.department.projects.each.members])
    // An attribute does not compile: \.name          'TypedExpression<…>' does not conform to 'LoadPath'
    // Nor does a to-many without each:  \.projects.client
    try same(Person.self, "projects.client", [\.projects.each.client])
  }
}
