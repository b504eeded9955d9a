import GraphModel
import GraphReplica
import Testing

/// What the compiler refuses. A line that does not compile can't be in a test; each of these was compiled, and failed with
/// the reason behind it. Beside each stands what is meant, and that is tested.
@Suite struct TypedMistakesTests {
  private func count<Object: ManagedObject>(
    _ type: Object.Type, _ predicates: [(ObjectPath<Object, Here>) -> TypedPredicate]
  ) -> Int {
    Set(predicates.map { GraphPredicate(type, where: $0) }).count
  }

  @Test func theRightFormsOfWhatDoesNotCompileDo() {
    let projects: [(ObjectPath<Project, Here>) -> TypedPredicate] = [
      // $0.status == .cancelled        no such case
      { $0.status == .done },
      // $0.members.name == "Ann"       many values: any, all or none is missing
      { $0.members.any.name == "Ann" },
      // $0.members.any.number + 1 > 2  'Each' does not conform to 'SingleReach'
      { $0.members.any.number > 1 },
      // $0.members.any.name == nil     the name is required
      { $0.members.any.email == nil },
    ]
    #expect(count(Project.self, projects) == projects.count)

    let people: [(ObjectPath<Person, Here>) -> TypedPredicate] = [
      // $0.nmae == "Ann"               no such property
      { $0.name == "Ann" },
      // $0.agency == "Lend & Co"       'Person' does not inherit from 'Contractor'
      { $0.email == "a@b.example" },
      // $0.number == "7"               cannot convert 'String' to 'Int64'
      { $0.number == 7 },
      // $0.number.contains("7")        'Int64' does not conform to 'TextKind'
      { $0.number.asText.contains("7") },
      // $0.department == nil           the department is required
      { $0.manager == nil },
      // $0.department == $0.manager    a Department is no Person
      { $0.department == $0.manager.department },
      // $0.email.search("ann")         the model does not mark it fullText
      { $0.name.search("ann") },
      // $0.hired == $0.number          a date is no number
      { $0.hired == $0.manager.hired },
      // $0.salary > $0.number          a decimal is no whole number
      { $0.salary > $0.number.asDecimal },
      // $0.remote > false              'Bool' does not conform to 'OrderedKind'
      { $0.remote != false },
      // $0.settings < "x"              'JSONText' does not conform to 'OrderedKind'
      { $0.settings != "x" },
      // $0.reports.sum(\.name) > 3     'FullText' does not conform to 'NumberKind'
      { $0.reports.sum(\.number) > 3 },
      // $0.reports.sum(\.manager.number) > 3    not an attribute of the reports themselves
      { $0.manager.reports.sum(\.number) > 3 },
    ]
    #expect(count(Person.self, people) == people.count)
  }

  @Test func theRightFormsOfOrdersDo() {
    let keys = [SortKey](
      Person.self,
      [
        // \.name                            no direction
        \.name.ascending,
        // \.manager.ascending               objects have no order
        \.manager.name.ascending,
        // \.projects.any.title.ascending    'Each' does not conform to 'SortableReach'
        \.projects.count.ascending,
        // \.name.lowercased.ascending       'Calculated' does not conform to 'SortableReach'
        \.name.localized.ascending,
        // \.number.natural.ascending        'Int64' does not conform to 'TextKind'
        \.number.ascending,
      ])
    #expect(Set(keys).count == 5)
  }
}
