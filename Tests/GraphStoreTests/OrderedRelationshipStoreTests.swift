import GRDB
import GraphModel
import GraphStore
import GraphStoreTools
import GraphTesting
import Testing

/// Ordered relationships in a real store: two clients at one position, exhausted space, undo, and the rows on disk.
@Suite struct OrderedRelationshipStoreTests {
  /// A store with one project and the steps that were made for it, named by their labels.
  private final class ProjectFixture {
    let store: TestStore
    let project: ObjectID
    private let steps: PropertyNumber

    init(_ labels: String) throws {
      store = try TestStore(try Fixtures.ordered())
      project = try store.insert("Project")
      steps = try store.property("Project.steps").number
      for label in labels { try add(String(label)) }
    }

    @discardableResult
    func add(_ label: String) throws -> ObjectID {
      try store.insert("Step", ["label": .string(label), "project": .object(project)])
    }

    /// The labels in order.
    func order() throws -> String {
      let images = try store.all("Step", "project == \"\(project)\"", sort: "project.order")
      let label = try store.property("Step.label")
      return images.compactMap { $0[label].stringValue }.joined()
    }

    func step(_ label: String) throws -> ObjectID {
      try #require(try store.all("Step", "label == \"\(label)\"").first).id
    }

    func place(_ objects: [ObjectID], after label: String?, base: Revision = .max) throws -> Change {
      Change(
        .update, project, base: base, edits: [Edit(steps, .place(objects, after: try label.map { try step($0) }))])
    }

    func move(_ label: String, after other: String?, base: Revision = .max) throws {
      try store.must([place([step(label)], after: other, base: base)])
    }

    /// A new step behind another one, in one transaction.
    func insert(_ label: String, after other: String?, base: Revision = .max) throws {
      let step = try store.insertion("Step", ["label": .string(label)])
      try store.must([step, place([step.id], after: other, base: base)])
    }

    func become(_ author: String, _ replica: UInt64) {
      store.author = author
      store.replica = UniqueID(high: 1, low: replica)
    }

    func check() throws { #expect(try StoreCheckRun(store).findings.isEmpty) }
  }

  @Test func stepsKeepInsertionOrderAfterReopening() throws {
    let scene = try ProjectFixture("abc")
    #expect(try scene.order() == "abc")
    try scene.move("c", after: nil)
    try scene.insert("d", after: "c")
    #expect(try scene.order() == "cdab")
    try scene.store.reopen()
    #expect(try scene.order() == "cdab")
    try scene.add("e")
    #expect(try scene.order() == "cdabe")
    try scene.check()
  }

  @Test(arguments: [true, false])
  func concurrentInsertsAtOnePlaceAreKept(annIsFirst: Bool) throws {
    let scene = try ProjectFixture("ab")
    let base = try scene.store.store.head.revision
    let ann = {
      scene.become("ann", 1)
      try scene.insert("X", after: "a", base: base)
    }
    let bob = {
      scene.become("bob", 2)
      try scene.insert("Y", after: "a", base: base)
    }
    try annIsFirst ? ann() : bob()
    try annIsFirst ? bob() : ann()
    // The later member stands nearer, for all clients.
    #expect(try scene.order() == (annIsFirst ? "aYXb" : "aXYb"))
    try scene.check()
  }

  @Test func concurrentInsertMoveAndAppendAreKept() throws {
    let scene = try ProjectFixture("abcd")
    let base = try scene.store.store.head.revision
    scene.become("ann", 1)
    try scene.move("d", after: "a", base: base)
    scene.become("bob", 2)
    try scene.insert("X", after: "c", base: base)
    scene.become("cid", 3)
    try scene.add("Z")
    #expect(try scene.order() == "adbcXZ")
    try scene.check()
  }

  @Test func moveOfDeletedStepIsSkipped() throws {
    let scene = try ProjectFixture("abc")
    let (base, gone) = (try scene.store.store.head.revision, try scene.step("c"))
    scene.become("bob", 2)
    try scene.store.must([Change(.delete, gone)])
    scene.become("ann", 1)
    let move = try scene.place([gone, scene.step("b")], after: nil, base: base)
    #expect(try scene.store.refusal([move])?.code == .conflict)
    guard case .committed(let committed) = try scene.store.commit([move], policy: .objectTrump).outcome else {
      Issue.record("a move of what is gone and of what is there is refused")
      return
    }
    #expect(committed.conflicts.map(\.kind) == [.deleted])
    #expect(committed.conflicts.map(\.author) == ["bob"])
    #expect(try scene.order() == "ba")
  }

  /// In transactions of a hundred, each step by itself, before and after: the space is exhausted many times.
  @Test func tenThousandInsertsAtOnePlaceKeepOrderAndSmallPositions() throws {
    let scene = try ProjectFixture("")
    let store = scene.store
    let number = try store.property("Project.steps").number
    let ends = try store.must([store.insertion("Step"), store.insertion("Step")])
    try store.must([scene.place(ends, after: nil)])
    var twin = [ObjectID]()
    for _ in 0..<100 {
      let inserts = try (0..<100).map { _ in try store.insertion("Step") }
      let places = inserts.map { step in
        Change(.update, scene.project, base: .max, edits: [Edit(number, .place([step.id], after: ends[0]))])
      }
      twin = try store.must(inserts + places).reversed() + twin
    }
    #expect(twin.count == 10_000)
    let images = try store.all("Step", "project == \"\(scene.project)\"", sort: "project.order")
    #expect(images.map(\.id) == [ends[0]] + twin + [ends[1]])
    let position = try store.property("Step.project.order")
    #expect(images.allSatisfy { if case .integer(let place) = $0[position] { abs(place) < 1 << 44 } else { false } })
    try scene.check()
  }

  @Test func tenThousandInsertsAtFrontMoveNoMember() throws {
    let scene = try ProjectFixture("z")
    let store = scene.store
    var twin = [ObjectID]()
    var revised = 0
    for batch in 0..<10 {
      let inserts = try (0..<1_000).map { _ in try store.insertion("Step") }
      // Every other batch as one row.
      let places =
        try batch % 2 == 0
        ? inserts.reversed().map { try scene.place([$0.id], after: nil) }
        : [scene.place(inserts.map(\.id), after: nil)]
      let record = try #require(try store.commit(inserts + places).record)
      revised += record.changes.count { $0.kind == .updated }
      twin = record.changes.filter { $0.kind == .inserted }.map(\.id) + twin
    }
    let images = try store.all("Step", "project == \"\(scene.project)\"", sort: "project.order")
    #expect(Array(images.map(\.id).dropLast()) == twin && twin.count == 10_000)
    #expect(revised == 0)
    try scene.check()
  }

  @Test func listIsReorderedWithMinimalMoves() throws {
    let scene = try ProjectFixture("abcdef")
    let x = try scene.store.insert("Step", ["label": .string("x")])
    let wanted = try "fabxce".map { $0 == "x" ? x : try scene.step(String($0)) }
    let edit = Edit(try scene.store.property("Project.steps").number, .set(.objects(wanted)))
    let record = try #require(
      try scene.store.commit([Change(.update, scene.project, base: .max, edits: [edit])]).record)
    #expect(try scene.order() == "fabxce")
    // d has left, x has come, f has moved.
    let labels = try scene.store.property("Step.label")
    #expect(Set(record.changes.compactMap { $0.after?[labels].stringValue }) == ["d", "x", "f"])
    try scene.check()
  }

  // MARK: - Undo

  @Test func undoOfMoveKeepsInsertsOfOthers() throws {
    let scene = try ProjectFixture("abcd")
    try scene.move("d", after: "a")
    #expect(try scene.order() == "adbc")
    scene.become("bob", 2)
    try scene.insert("X", after: "a")
    try scene.insert("Y", after: "c")
    scene.become("ann", 1)
    guard case .committed(let committed) = try scene.store.undo().outcome else {
      Issue.record("the move can't be undone")
      return
    }
    #expect(committed.conflicts.isEmpty)
    #expect(try scene.order() == "aXbcdY")
    _ = try scene.store.undo(committed.revision)
    #expect(try scene.order() == "aXdbcY", "and redone")
    try scene.check()
  }

  @Test func undoOfMoveThatOthersMovedAgainIsReported() throws {
    let scene = try ProjectFixture("abcd")
    try scene.move("d", after: "a")
    let revision = try scene.store.store.head.revision
    scene.become("bob", 2)
    try scene.move("d", after: "b")
    scene.become("ann", 1)
    guard case .refused(let refusal) = try scene.store.undo(revision).outcome else {
      Issue.record("what bob has moved is moved back")
      return
    }
    #expect(refusal.code == .conflict && refusal.conflicts.map(\.author) == ["bob"])
    #expect(try scene.order() == "abdc")
  }

  /// Where room runs out, the members around change their numbers; taking the insert back must not give the old ones
  /// back, for others have used the room since.
  @Test func undoOfInsertWithRespacingKeepsOrder() throws {
    let scene = try ProjectFixture("az")
    var madeRoom = false
    for _ in 0..<60 where !madeRoom {
      let step = try scene.store.insertion("Step", ["label": .string("-")])
      let record = try #require(try scene.store.commit([step, scene.place([step.id], after: "a")]).record)
      madeRoom = record.changes.contains { !$0.spacing.isEmpty }
    }
    try #require(madeRoom)
    let revision = try scene.store.store.head.revision
    scene.become("bob", 2)
    try scene.insert("B", after: "a")
    let order = try scene.order()
    scene.become("ann", 1)
    _ = try scene.store.undo(revision)
    #expect(try scene.order() == order.replacing("aB-", with: "aB"))
    try scene.check()
  }

  /// A move that had to make space, undone at once: all members are back at their places.
  @Test func undoOfMoveWithRespacingIsExact() throws {
    let scene = try ProjectFixture("az")
    var labels = Array("bcdefghijklmnopqrstuvwxy")[...]
    while let label = labels.popFirst() { try scene.insert(String(label), after: "a") }
    var tried = 0
    for round in 0..<40 {
      let before = try scene.order()
      let (moved, anchor) = (before.dropFirst(3 + round % 15).prefix(1), before.prefix(1))
      guard moved != anchor else { continue }
      let change = try scene.place([scene.step(String(moved))], after: String(anchor))
      let record = try #require(try scene.store.commit([change]).record)
      let after = try scene.order()
      if record.changes.contains(where: { !$0.spacing.isEmpty }) { tried += 1 }
      guard case .committed(let undo) = try scene.store.undo(record.revision).outcome else {
        Issue.record("round \(round) can't be undone")
        continue
      }
      #expect(try scene.order() == before, "round \(round)")
      // The undo is redone, so that the next round begins elsewhere.
      _ = try scene.store.undo(undo.revision)
      #expect(try scene.order() == after, "round \(round)")
    }
    #expect(tried > 0, "room never ran out")
    try scene.check()
  }

  @Test func undoOfDeleteRestoresPositions() throws {
    let scene = try ProjectFixture("abcd")
    try scene.store.must([Change(.delete, scene.step("b")), Change(.delete, scene.step("d"))])
    #expect(try scene.order() == "ac")
    _ = try scene.store.undo()
    #expect(try scene.order() == "abcd")
    // Steps without a project have no place; with the project they have theirs again.
    try scene.store.must([Change(.delete, scene.project)])
    let place = try scene.store.property("Step.project.order")
    #expect(try scene.store.all("Step").map { $0[place] } == [.null, .null, .null, .null])
    _ = try scene.store.undo()
    #expect(try scene.order() == "abcd")
    try scene.check()
  }

  @Test func undoOfProjectChangeRestoresPosition() throws {
    let scene = try ProjectFixture("abc")
    let other = try scene.store.insert("Project")
    // The first of either list stands at the same number.
    try scene.store.must([scene.store.update(scene.step("a"), "Step.project", .object(other))])
    #expect(try scene.order() == "bc")
    _ = try scene.store.undo()
    #expect(try scene.order() == "abc")
    try scene.check()
  }

  // MARK: - Lists that the parent stores

  @Test func orderOfManyToManyFollowsItsParent() throws {
    let store = try TestStore(try Fixtures.ordered())
    let projects = try (0..<4).map { _ in try store.insert("Project") }
    let chapter = try store.insert("Chapter", ["projects": .objects([projects[2], projects[0]])])
    let number = try store.property("Chapter.projects").number
    func order() throws -> [ObjectID] { try store.value(chapter, "Chapter.projects").objectIDs }
    func edit(_ action: Edit.Action, base: Revision = .max) -> Change {
      Change(.update, chapter, base: base, edits: [Edit(number, action)])
    }
    #expect(try order() == [projects[2], projects[0]])
    let base = try store.store.head.revision
    // Two at once: an add and a move.
    try store.must([edit(.members(added: [projects[3], projects[1]], removed: []), base: base)])
    store.replica = UniqueID(high: 1, low: 2)
    store.author = "bob"
    try store.must([edit(.place([projects[0]], after: nil), base: base)])
    #expect(try order() == [projects[0], projects[2], projects[3], projects[1]])
    // The edit is made at the end that stores nothing.
    let back = Edit(try store.property("Project.chapters").number, .members(added: [], removed: [chapter]))
    try store.must([Change(.update, projects[2], base: .max, edits: [back])])
    #expect(try order() == [projects[0], projects[3], projects[1]])
    try store.must([edit(.set(.objects([projects[1], projects[0], projects[3]])))])
    try store.reopen()
    #expect(try order() == [projects[1], projects[0], projects[3]])
    #expect(try store.all("Project", "chapters.@count == 1").count == 3)
    #expect(try StoreCheckRun(store).findings.isEmpty)
  }

  @Test func undoKeepsListMembersOfOthers() throws {
    let store = try TestStore(try Fixtures.ordered())
    let projects = try (0..<5).map { _ in try store.insert("Project") }
    let chapter = try store.insert("Chapter", ["projects": .objects(Array(projects.prefix(3)))])
    let number = try store.property("Chapter.projects").number
    func commit(_ action: Edit.Action) throws {
      try store.must([Change(.update, chapter, base: .max, edits: [Edit(number, action)])])
    }
    func order() throws -> [Int?] {
      try store.value(chapter, "Chapter.projects").objectIDs.map { projects.firstIndex(of: $0) }
    }
    try commit(.place([projects[3], projects[2]], after: nil))
    #expect(try order() == [3, 2, 0, 1])
    store.author = "bob"
    try commit(.place([projects[4]], after: projects[0]))
    store.author = "ann"
    _ = try store.undo()
    #expect(try order() == [0, 4, 1, 2])
    #expect(try StoreCheckRun(store).findings.isEmpty)
  }

  // MARK: - Rows on disk

  @Test(arguments: ["\"Step.project._order\" = NULL", "\"Step.project\" = NULL"])
  func positionAndReferenceMismatchIsFound(damage: String) throws {
    let scene = try ProjectFixture("ab")
    try scene.store.store.close()
    let path = scene.store.directory.path
    try DatabaseQueue(path: path + "/graph.sqlite").write {
      try $0.execute(sql: "UPDATE \"Item\" SET \(damage) WHERE _row = 1")
      #expect($0.changesCount == 1)
    }
    let findings = try StoreCheck.run(directory: path, model: scene.store.model)
    #expect(findings.contains { $0.kind == .rule && $0.text.contains("project.order") }, "\(findings)")
  }

  @Test func membersAreReadInOrderByIndex() throws {
    let scene = try ProjectFixture("ab")
    let index = try DatabaseQueue(path: scene.store.directory.path + "/graph.sqlite").read {
      try String.fetchOne($0, sql: "SELECT sql FROM sqlite_schema WHERE name = 'Item.Step.project'")
    }
    #expect(index?.contains("(\"Step.project\", \"Step.project._order\")") == true)
  }
}
