import GraphModel

extension TestStore {
  /// A company of 61 persons with a search that compares 60 × 60 × 60 of them and finds none.
  public static func withEndlessSearch() throws -> (store: TestStore, search: FetchRequest) {
    let store = try TestStore(try Fixtures.company())
    let manager = try store.insert("Person", ["name": .string("manager")])
    let team = try (0..<60).map {
      try store.insertion("Person", ["name": .string("person \($0)"), "manager": .object(manager)])
    }
    _ = try store.must(team)
    let person = try store.entity("Person")
    let text =
      "SUBQUERY(manager.reports, $a, SUBQUERY($a.manager.reports, $b, $b.name == concat($a.name, \"?\")).@count > 0)"
      + ".@count > 0"
    let predicate = try GraphPredicate(parsing: text, entity: person, model: store.model)
    return (store, FetchRequest(entity: person.number, predicate: predicate))
  }
}
