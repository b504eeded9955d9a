import GraphModel
import GraphStore
import GraphTesting
import Testing

/// Deletes that spread in circles: each object is deleted once, on whichever paths the cascade reaches it, and a long
/// chain does not overflow the stack: 30,000 calls need more than the 8 MiB of a thread. Benchmarks measures a hundred
/// thousand.
@Suite struct CascadeTests {
  private static let source = """
    {"format": 1, "name": "Rings", "version": 1, "entities": [
      {"name": "Node", "attributes": [{"name": "number", "type": "integer", "indexed": true}], "relationships": [
        {"name": "next", "destination": "Node", "inverse": "previous", "deleteRule": "cascade"},
        {"name": "previous", "destination": "Node", "inverse": "next", "toMany": true, "deleteRule": "cascade"},
        {"name": "peers", "destination": "Node", "inverse": "peersOf", "toMany": true, "deleteRule": "cascade"},
        {"name": "peersOf", "destination": "Node", "inverse": "peers", "toMany": true},
        {"name": "marks", "destination": "Mark", "inverse": "node", "toMany": true}]},
      {"name": "Mark", "relationships": [{"name": "node", "destination": "Node", "inverse": "marks"}]}]}
    """

  /// A ring of nodes, each of which has the next one.
  private func ring(_ count: Int, in store: TestStore) throws -> [ObjectID] {
    var changes = try (0..<count).map { try store.insertion("Node", ["number": .integer(Int64($0))]) }
    let ids = changes.map(\.id)
    for index in changes.indices {
      changes[index].edits.append(try store.edit("Node.next", .object(ids[(index + 1) % count])))
    }
    return try store.must(changes)
  }

  @Test func ringOfThirtyThousandIsDeleted() throws {
    let store = try TestStore(try Model(parsing: Self.source.utf8))
    let nodes = try ring(30_000, in: store)
    let others = try ring(3, in: store)
    let mark = try store.insert("Mark", ["node": .object(nodes[15_000])])
    let result = try store.commit([Change(.delete, nodes[0], base: .max)])
    #expect(result.record?.changes.count { $0.kind == .deleted } == 30_000)
    // The marked node is deleted; the mark is kept without its reference.
    #expect(result.record?.changes.count { $0.kind == .updated } == 1)
    #expect(try store.all("Node").map(\.id) == others.sorted())
    #expect(try store.value(mark, "Mark.node") == .null)
    #expect(try store.refusal([store.update(nodes[1], "Node.number", .integer(7))])?.code == .conflict)
  }

  @Test func denselyConnectedObjectsAreDeletedOnce() throws {
    let store = try TestStore(try Model(parsing: Self.source.utf8))
    let nodes = try ring(60, in: store)
    // Each has all of them, itself too.
    try store.must(try nodes.map { try store.update($0, "Node.peers", .objects(nodes)) })
    let result = try store.commit([Change(.delete, nodes[30], base: .max), Change(.delete, nodes[31], base: .max)])
    #expect(result.record?.changes.count == 60)
    #expect(try store.all("Node").isEmpty)
    #expect(try StoreCheckRun(store).findings.isEmpty)
  }

  @Test func ringIsRestoredCompletely() throws {
    let store = try TestStore(try Model(parsing: Self.source.utf8))
    let nodes = try ring(300, in: store)
    try store.must([Change(.delete, nodes[0], base: .max)])
    #expect(try store.all("Node").isEmpty)
    guard case .committed = try store.undo().outcome else {
      Issue.record("the undo was refused")
      return
    }
    #expect(try store.all("Node", sort: "number").map(\.id) == nodes)
    #expect(try nodes.indices.allSatisfy { try store.value(nodes[$0], "Node.next") == .object(nodes[($0 + 1) % 300]) })
    #expect(try StoreCheckRun(store).findings.isEmpty)
  }
}
