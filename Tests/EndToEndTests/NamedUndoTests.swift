import GraphModel
import GraphWire
import Testing

/// `stickies undo --name`: steps that a program gave a name.
@Suite struct NamedUndoTests {
  @Test func namedStepsAreUndoneNewestFirst() async throws {
    let scene = try await DaemonFixture()
    let client = try RawClient(scene.daemon.socket)
    try await client.hello(model: scene.model.hash, author: "ann@test")
    let scope = UniqueID(high: 5, low: 5)
    // Two commits of one step, a step of another name, and a second step of the first one.
    for (number, group, name) in [(1, 1, "Arrange"), (2, 1, "Arrange"), (3, 2, "Paint"), (4, 3, "Arrange")] {
      var transaction = client.transaction([try scene.insertion([("name", .string("B\(number)"))], of: "Board")])
      transaction.undo = UndoGroup(scope: scope, group: UInt64(group), name: name)
      let request = try await client.send(.commit(transaction))
      guard case .committed = try await client.reply(to: request) else {
        Issue.record("commit \(number) is refused")
        return
      }
    }
    let boards = try #require(scene.model.entity(named: "Board"))
    func names() async throws -> [String] {
      let found = try await client.fetch(Fetch(entity: boards.number, sort: "name")).objects
      return found.compactMap { $0[boards.property(named: "name") ?? boards.properties[0]].stringValue }
    }
    #expect(try await names() == ["B1", "B2", "B3", "B4"])
    #expect(try scene.daemon.run("undo", "--name", "Arrange", author: "ann@test").status == 0)
    #expect(try await names() == ["B1", "B2", "B3"])
    #expect(try scene.daemon.run("undo", "--name", "Arrange", author: "ann@test").status == 0)
    #expect(try await names() == ["B3"])
    let none = try scene.daemon.run("undo", "--name", "Arrange", author: "ann@test")
    #expect(none.status == 4)
    #expect(none.errors.contains("ann@test has no step \"Arrange\" that is not undone"))
    #expect(try scene.daemon.run("undo", "--name", "Arrange", author: "ben@test").status == 4)
    #expect(try scene.daemon.run("undo", "1", "--name", "Arrange", author: "ann@test").status == 64)
    client.close()
    try scene.end()
  }
}
