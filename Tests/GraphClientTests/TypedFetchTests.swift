import Foundation
import GraphClient
import GraphModel
import GraphReplica
import GraphWire
import Testing

/// A person of the company's model.
private final class Worker: ManagedObject {
  override class var entityName: String { "Person" }

  static func number(_ name: String) -> PropertyNumber {
    guard let property = FixtureModel.model.entity(named: "Person")?.property(named: name) else {
      preconditionFailure("a person has no \(name)")
    }
    return property.number
  }
}

extension ObjectPath where Object: Worker {
  fileprivate var name: TypedExpression<String, Cardinality> {
    TypedExpression(self, attribute: Worker.number("name"))
  }
  fileprivate var active: TypedExpression<Bool, Cardinality> {
    TypedExpression(self, attribute: Worker.number("active"))
  }
}

/// One object, existence, pages, tuples and structs of a typed fetch, in the present and in the past.
@MainActor
@Suite(.timeLimit(.minutes(1))) struct TypedFetchTests {
  /// Serves five projects, of 2026, to one client.
  private func serveFive(_ body: @MainActor (ServedGraph, GraphClient) async throws -> Void) async throws {
    try await ServedGraph.serve { graph in
      let client = try await graph.connect()
      let insertions = ["a", "b", "c", "d", "e"].enumerated().map { graph.insertion($1, number: UInt64($0 + 1)) }
      _ = try await client.commit(insertions, policy: .error)
      try await body(graph, client)
      await client.close()
    }
  }

  @Test func oneObjectIsTheFirstOfItsOrder() async throws {
    try await serveFive { _, client in
      let last = try await client.fetchOne(Project.self, sort: [\.title.descending])
      #expect(last?["title"] == .string("e"))
      let typed = try await client.fetchOne(Project.self, where: { $0.title > "b" }, sort: [\.title.ascending])
      #expect(typed?["title"] == .string("c"))
      let text = try await client.fetchOne(Project.self, where: "title > \"b\"", sort: "title")
      #expect(text === typed, "an object has one instance")
      #expect(try await client.fetchOne(Project.self, where: { $0.title == "z" }) == nil)
      let id = try #require(typed).id
      #expect(try await client.fetchOne(Project.self, id: id) === typed)
      let unknown = ObjectID(key: UniqueID(high: 1, low: 1), entity: id.entity)
      #expect(try await client.fetchOne(Project.self, id: unknown) == nil)
    }
  }

  /// Each call compiles without the arguments that it does not need.
  @Test func relationshipsAreLoadedWithoutConditionAndOrder() async throws {
    try await serveFive { _, client in
      let steps = FixtureModel.property("steps")
      let past = client.graph(at: 1)
      let one = [
        try await client.fetchOne(Project.self, prefetch: [\.steps]),
        try await client.fetchOne(Project.self, where: "title > \"b\"", prefetch: [\.steps]),
        try await client.fetchOne(Project.self, where: { $0.title > "b" }, prefetch: [\.steps]),
        try await client.fetchOne(Project.self, sort: [\.title], prefetch: [\.steps]),
        try await past.fetchOne(Project.self, prefetch: [\.steps]),
      ]
      #expect(one.allSatisfy { $0?.isLoaded(steps) == true })
      let all = try await client.fetch(Project.self, prefetch: [\.steps])
      let text = try await client.fetch(Project.self, where: "title > \"b\"", prefetch: [\.steps])
      let typed = try await client.fetch(Project.self, where: { $0.title > "b" }, prefetch: [\.steps])
      #expect(all.count == 5 && text.count == 3 && Set(text) == Set(typed))
      #expect((all + text + typed).allSatisfy { $0.isLoaded(steps) })
      #expect(try await past.fetch(Project.self, where: "", prefetch: [\.steps]).count == 5)
      await #expect(throws: Refusal.self) {
        _ = try await client.fetch(NamedFetch<Project>("none"), prefetch: [\.steps])
      }
      var titles = [String]()
      for try await page in try client.pages(of: Project.self, size: 5, prefetch: [\.steps]) {
        titles += page.objects.filter { $0.isLoaded(steps) }.map(\.title)
      }
      for try await page in try client.pages(of: Project.self, sort: "-title", size: 5, prefetch: [\.steps]) {
        titles += page.objects.filter { $0.isLoaded(steps) }.map(\.title)
      }
      #expect(titles.count == 10 && titles.last == "a")
      let ids = try await client.identifiers(of: Project.self, sort: [\.title.descending], limit: 2)
      let faults = try await client.faults(of: Project.self, sort: [\.title.descending], limit: 2)
      #expect(ids.count == 2 && faults.map(\.id) == ids)
    }
  }

  @Test func existenceAndCountNeedNoObjects() async throws {
    try await serveFive { _, client in
      let found = [
        try await client.exists(Project.self), try await client.exists(Project.self, where: { $0.title == "c" }),
        try await client.exists(Project.self, where: { $0.title == "z" }),
        try await client.exists(Project.self, where: "title == \"a\""),
        try await client.graph(at: 0).exists(Project.self),
      ]
      #expect(found == [true, true, false, true, false])
      let counts = [
        try await client.count(of: Project.self, where: { $0.title > "b" }),
        try await client.graph(at: 1).count(of: Project.self, where: { $0.title > "b" }),
        try await client.graph(at: 0).count(of: Project.self),
      ]
      #expect(counts == [3, 3, 0])
    }
  }

  @Test func attributeThatIsTrueIsPredicate() async throws {
    try await ServedGraph.serve { graph in
      let client = try await GraphClient.connect(
        to: graph.address, model: graph.model, classes: [Worker.self], options: .init(author: "ann"))
      let person = try #require(graph.model.entity(named: "Person"))
      let people = [("Ann", true), ("Bob", false), ("Cho", true)].enumerated().map { number, worker in
        Change(
          .insert, .temporary(UInt64(number + 1), entity: person.number),
          edits: [
            Edit(Worker.number("name"), .set(.string(worker.0))), Edit(Worker.number("active"), .set(.bool(worker.1))),
          ])
      }
      _ = try await client.commit(people, policy: .error)
      let found = try await client.fetch(Worker.self, where: { $0.active }, sort: [\.name])
      #expect(found.map { $0["name"] } == [.string("Ann"), .string("Cho")])
      let first = try await client.fetch(Worker.self, where: \.active, sort: [\.name], limit: 1)
      #expect(first.map(\.id) == [found[0].id])
      #expect(try await client.fetch(Worker.self, where: { $0.active }, limit: 0).isEmpty)
      #expect(try await client.fetch(Worker.self, limit: 0).isEmpty)
      #expect(try await client.identifiers(of: Worker.self, sort: [\.name], limit: 0).isEmpty)
      #expect(try await client.faults(of: Worker.self, sort: [\.name], limit: 0).isEmpty)
      #expect(try await client.fetchOne(Worker.self, where: { $0.active }, sort: [\.name.descending]) === found[1])
      #expect(try await client.count(of: Worker.self, where: { $0.active }) == 2)
      #expect(try await client.exists(Worker.self, where: { $0.active }))
      #expect(try await client.graph(at: 1).count(of: Worker.self, where: { $0.active }) == 2)
      #expect(try await client.graph(at: 0).exists(Worker.self, where: { $0.active }) == false)
      let ids = try await client.identifiers(of: Worker.self, where: { $0.active }, sort: [\.name])
      #expect(ids == found.map(\.id))
      #expect(try await client.faults(of: Worker.self, where: { $0.active }, sort: [\.name]) == found)
      var pages = [Int]()
      for try await page in try client.pages(of: Worker.self, where: { $0.active }, size: 1) {
        pages.append(page.objects.count)
      }
      #expect(pages.reduce(0, +) == 2)
      await client.close()
    }
  }

  @Test func pagesAreReadOnDemandWithTheirRelationships() async throws {
    try await serveFive { graph, client in
      var titles = [[String]]()
      let pages = try client.pages(of: Project.self, sort: [\.title.descending], size: 2, prefetch: [\.steps])
      for try await page in pages {
        titles.append(page.objects.compactMap { $0["title"].stringValue })
        #expect(page.objects.allSatisfy { $0.isLoaded(FixtureModel.property("steps")) })
        // It sorts before the cursor, so no page has it.
        if titles.count == 1 { _ = try await client.commit([graph.insertion("f")], policy: .error) }
      }
      #expect(titles == [["e", "d"], ["c", "b"], ["a"]])
      var sizes = [Int]()
      for try await page in try client.pages(of: Project.self, size: 4) { sizes.append(page.objects.count) }
      #expect(sizes == [4, 2])
    }
  }

  @Test func rowsAreTuples() async throws {
    try await serveFive { graph, client in
      let rows = try await client.rows(
        of: Project.self, where: { $0.title < "c" }, sort: [\.title.descending]
      ) {
        $0.title
        $0.year + 1
        $0.due
        $0.steps.count
      }
      let (title, next, due, steps): (String, Int64?, Date?, Int64) = try #require(rows.first)
      #expect(title == "b" && next == 2027 && due == nil && steps == 0)
      #expect(rows.map(\.0) == ["b", "a"])
      let years: [Int64] = try await client.rows(of: Project.self, distinct: true) { $0.year }
      #expect(years == [2026])
    }
  }

  @Test func groupsHaveAggregates() async throws {
    try await serveFive { graph, client in
      let change = Change(
        .insert, .temporary(1, entity: graph.project.number),
        edits: [Edit(graph.title.number, .set(.string("z"))), Edit(graph.year.number, .set(.integer(2020)))])
      _ = try await client.commit([change], policy: .error)
      let groups = try await client.groups(of: Project.self, sort: [{ $0.id.count.descending }]) {
        $0.year
        $0.id.count
        $0.title.maximum
        $0.year.sum
        $0.due.minimum
      }
      #expect(groups.map(\.0) == [2026, 2020] && groups.map(\.1) == [5, 1])
      #expect(groups.map(\.2) == ["e", "z"] && groups.map(\.3) == [10_130, 2020])
      #expect(groups.allSatisfy { $0.4 == nil })
      let total: [Int64] = try await client.groups(of: Project.self, where: { $0.year == 2026 }) { $0.id.count }
      #expect(total == [5])
      let before: [Int64] = try await client.graph(at: 1).groups(of: Project.self) { $0.id.count }
      #expect(before == [5])
      let refusal = await #expect(throws: Refusal.self) {
        _ = try await client.groups(of: Project.self, sort: [\.title.ascending]) { $0.id.count }
      }
      #expect(refusal?.message.contains("add the column") == true)
    }
  }

  private struct Row: Decodable, Equatable {
    var title: String
    var next: Int
    var due: Int64?
  }

  @Test func rowsAreStructs() async throws {
    try await serveFive { _, client in
      let typed = try await client.fetch(
        Project.self, "title, year + 1 AS next, due", as: Row.self, where: { $0.title > "c" }, sort: "-title")
      #expect(typed == [Row(title: "e", next: 2027), Row(title: "d", next: 2027)])
      let text = try await client.fetch(
        Project.self, "title, year AS next, due", as: Row.self, where: "title == \"a\"")
      #expect(text == [Row(title: "a", next: 2026)])
      let counts = try await client.fetch(Project.self, "@count", as: Int.self, groupBy: "year")
      #expect(counts == [5])
      let error = await #expect(throws: RowValueError.self) {
        _ = try await client.fetch(Project.self, "title, title AS next, due", as: Row.self)
      }
      #expect(error?.column == "next")
    }
  }
}
