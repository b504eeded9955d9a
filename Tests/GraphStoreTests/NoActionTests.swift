import GraphModel
import GraphTesting
import Testing

/// `noAction` changes nothing: the server refuses a transaction that would leave a dangling reference, unless the
/// transaction itself removes the reference.
@Suite struct NoActionTests {
  /// The kind of the references to the deleted object. The end without storage, or either end of a one-to-one, has the
  /// rule.
  enum Kind: CaseIterable, Sendable {
    case toOnes, orderedToOnes, list, orderedList, oneToOne

    var isToMany: Bool { self != .oneToOne }
    var isList: Bool { self == .list || self == .orderedList }

    /// Tools are in boxes: the tool stores the boxes, by to-ones or a list of its own.
    func model() throws -> Model {
      let ordered = self == .orderedToOnes ? #", "ordered": true"# : ""
      let tools = isToMany ? #", "toMany": true\#(ordered)"# : ""
      let boxes = isList ? #", "toMany": true"# : ""
      // A list that has an order is stored by the end that has it.
      let listed = self == .orderedList ? #", "ordered": true"# : ""
      return try Model(
        parsing: """
          {"format": 1, "name": "Tools", "version": 1, "entities": [
            {"name": "Tool", "relationships": [
              {"name": "box", "destination": "Box", "inverse": "tools", "deleteRule": "noAction"\(boxes)\(listed)}]},
            {"name": "Box", "relationships": [
              {"name": "tools", "destination": "Tool", "inverse": "box", "deleteRule": "noAction"\(tools)}]}]}
          """.utf8)
    }
  }

  private struct NoActionFixture {
    let store: TestStore
    let kind: Kind
    /// The first has a tool, or two where it can.
    let boxes: [ObjectID]
    let tools: [ObjectID]

    init(_ kind: Kind) throws {
      (store, self.kind) = (try TestStore(try kind.model()), kind)
      boxes = try [store.insert("Box"), store.insert("Box")]
      let first: Value = kind.isList ? .objects([boxes[0]]) : .object(boxes[0])
      tools = try (0..<(kind.isToMany ? 2 : 1)).map { [store] _ in try store.insert("Tool", ["box": first]) }
    }

    var delete: Change { Change(.delete, boxes[0], base: .max) }

    func put(_ tool: ObjectID, in box: ObjectID?) throws -> Change {
      let value: Value = kind.isList ? .objects(box.map { [$0] } ?? []) : box.map(Value.object) ?? .null
      return try store.update(tool, "Tool.box", value)
    }

    func expectDangling(
      _ changes: [Change], count: Int, place: SourceLocation = #_sourceLocation
    ) throws {
      let head = try store.store.head.revision
      let refusal = try #require(try store.refusal(changes), sourceLocation: place)
      #expect(refusal.code == .invalid, sourceLocation: place)
      let references = count == 1 ? "a reference" : "\(count) references"
      #expect(
        refusal.message == "deleting this Box would leave \(references) to it (tools)", sourceLocation: place)
      #expect(refusal.violations.map(\.rule) == ["dangling"], sourceLocation: place)
      let violation = try #require(refusal.violations.first, sourceLocation: place)
      #expect(violation.id == boxes[0], sourceLocation: place)
      #expect(violation.property == (try store.property("Box.tools").number), sourceLocation: place)
      #expect(tools.map(Value.object).contains(violation.value), sourceLocation: place)
      #expect(try store.store.head.revision == head, sourceLocation: place)
      #expect(try store.all("Box").count == 2, sourceLocation: place)
    }

    /// The box is deleted and no object refers to it.
    func expectDeleted(place: SourceLocation = #_sourceLocation) throws {
      #expect(try store.all("Box").map(\.id) == [boxes[1]], sourceLocation: place)
      #expect(try StoreCheckRun(store).findings.isEmpty, sourceLocation: place)
    }
  }

  @Test(arguments: Kind.allCases) func danglingReferenceIsRefused(kind: Kind) throws {
    let scene = try NoActionFixture(kind)
    try scene.expectDangling([scene.delete], count: scene.tools.count)
    // An edit that corrects another reference does not correct this one.
    if kind.isToMany { try scene.expectDangling([scene.delete, scene.put(scene.tools[0], in: nil)], count: 1) }
    // A box without referrers can be deleted.
    try scene.store.must([Change(.delete, scene.boxes[1], base: .max)])
    #expect(try scene.store.all("Box").map(\.id) == [scene.boxes[0]])
  }

  @Test(arguments: Kind.allCases) func clearingReferenceInSameTransactionIsAccepted(kind: Kind) throws {
    let scene = try NoActionFixture(kind)
    try scene.store.must(try [scene.delete] + scene.tools.map { try scene.put($0, in: nil) })
    try scene.expectDeleted()
    #expect(try scene.store.all("Tool").count == scene.tools.count)
  }

  @Test(arguments: Kind.allCases) func movingReferrersInSameTransactionIsAccepted(kind: Kind) throws {
    let scene = try NoActionFixture(kind)
    try scene.store.must(try [scene.delete] + scene.tools.map { try scene.put($0, in: scene.boxes[1]) })
    try scene.expectDeleted()
    let there: Value = kind.isList ? .objects([scene.boxes[1]]) : .object(scene.boxes[1])
    for tool in scene.tools { #expect(try scene.store.value(tool, "Tool.box") == there) }
  }

  @Test(arguments: Kind.allCases) func clearingInverseInSameTransactionIsAccepted(kind: Kind) throws {
    let scene = try NoActionFixture(kind)
    let empty: Value = kind.isToMany ? .objects([]) : .null
    try scene.store.must([scene.store.update(scene.boxes[0], "Box.tools", empty), scene.delete])
    try scene.expectDeleted()
  }

  @Test(arguments: Kind.allCases) func deletingReferrersInSameTransactionIsAccepted(kind: Kind) throws {
    let scene = try NoActionFixture(kind)
    try scene.store.must([scene.delete] + scene.tools.map { Change(.delete, $0, base: .max) })
    try scene.expectDeleted()
    #expect(try scene.store.all("Tool").isEmpty)
  }

  /// Its own reference goes with the tool; only that of a one-to-one is stored at the other end, too.
  @Test(arguments: Kind.allCases) func referrerCanBeDeletedAlone(kind: Kind) throws {
    let scene = try NoActionFixture(kind)
    let refusal = try scene.store.refusal([Change(.delete, scene.tools[0], base: .max)])
    if kind == .oneToOne {
      #expect(refusal?.violations.map(\.rule) == ["dangling"])
      #expect(refusal?.message == "deleting this Tool would leave a reference to it (box)")
    } else {
      #expect(refusal == nil)
      #expect(try scene.store.all("Box", "tools.@count == 1").map(\.id) == [scene.boxes[0]])
    }
    #expect(try StoreCheckRun(scene.store).findings.isEmpty)
  }
}
