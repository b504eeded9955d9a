import GraphModel
import GraphStore
import GraphTesting
import Testing

/// Ids that name something else, in every place where a transaction or a fetch can name an object. They are refused, or
/// treated as unknown; nothing is written, and the real object stays as it was.
@Suite struct InvalidIDTests {
  private let store: TestStore
  private let project: ObjectID
  private let steps: [ObjectID]
  private let chapter: ObjectID
  private let head: Token

  init() throws {
    store = try TestStore(try Fixtures.ordered())
    project = try store.insert("Project", ["title": .string("p")])
    let parent = project
    let store = store
    steps = try (0..<2).map { try store.insert("Step", ["label": .string("s\($0)"), "project": .object(parent)]) }
    chapter = try store.insert("Chapter", ["projects": .objects([parent])])
    head = try store.store.head
  }

  /// An id with the key of one object and the entity of another kind.
  private func disguised(_ id: ObjectID, as entity: String) throws -> ObjectID {
    ObjectID(key: id.key, entity: try store.entity(entity).number)
  }

  private func stranger(_ entity: String) throws -> ObjectID {
    ObjectID(key: UniqueID(high: 77, low: 77), entity: try store.entity(entity).number)
  }

  private func edit(_ id: ObjectID, _ path: String, _ action: Edit.Action) throws -> Change {
    Change(.update, id, base: .max, edits: [Edit(try store.property(path).number, action)])
  }

  private func expectUntouched(_ place: SourceLocation = #_sourceLocation) throws {
    #expect(try store.store.head == head, sourceLocation: place)
    #expect(try store.all("Step", sort: "project.order").map(\.id) == steps, sourceLocation: place)
    #expect(try store.value(chapter, "Chapter.projects") == .objects([project]), sourceLocation: place)
  }

  @Test func referenceToOtherEntityIsRefused() throws {
    let wrong = [chapter, steps[0], try disguised(chapter, as: "Project"), try stranger("Project")]
    for id in wrong {
      for change in [
        try edit(steps[1], "Step.project", .set(.object(id))),
        try edit(chapter, "Chapter.projects", .set(.objects([project, id]))),
        try edit(chapter, "Chapter.projects", .members(added: [id], removed: [])),
        try store.insertion("Step", ["project": .object(id)]),
        try store.insertion("Chapter", ["projects": .objects([id])]),
      ] {
        let refusal = try store.refusal([change])
        #expect(refusal?.code == .invalid && refusal?.violations.first?.rule == "destination", "\(id) in \(change)")
      }
    }
    try expectUntouched()
  }

  @Test func orderedMemberOfOtherEntityIsRefused() throws {
    for id in [chapter, project, try disguised(chapter, as: "Step"), try stranger("Step")] {
      for ids in [[id], [steps[1], id], [id, steps[0]]] {
        let refusal = try store.refusal([edit(project, "Project.steps", .place(ids, after: nil))])
        #expect(refusal?.violations.first?.rule == "destination", "\(ids)")
      }
    }
    try expectUntouched()
  }

  @Test func nonMemberAnchorMeansEnd() throws {
    // Another client may have moved or deleted the anchor, so an anchor that is no member is not a mistake.
    for anchor in [chapter, project, try disguised(chapter, as: "Step"), try stranger("Step")] {
      try store.must([edit(project, "Project.steps", .place([steps[0]], after: anchor))])
      #expect(try store.all("Step", sort: "project.order").map(\.id) == [steps[1], steps[0]])
      try store.must([edit(project, "Project.steps", .place([steps[0]], after: nil))])
    }
    #expect(try StoreCheckRun(store).findings.isEmpty)
  }

  @Test func removalOfNonMemberIsIgnored() throws {
    for id in [chapter, steps[0], try disguised(chapter, as: "Project"), try stranger("Project")] {
      _ = try store.commit([edit(chapter, "Chapter.projects", .members(added: [], removed: [id]))])
      #expect(try store.value(chapter, "Chapter.projects") == .objects([project]), "\(id)")
      #expect(try store.all("Step").count == 2)
    }
    #expect(try StoreCheckRun(store).findings.isEmpty)
  }

  @Test func idOfOtherEntityMatchesNoObject() throws {
    let label = try store.property("Step.label").number
    let update = Change(.update, try stranger("Step"), base: .max, edits: [Edit(label, .set(.string("x")))])
    #expect(try store.refusal([update])?.code == .notFound)
    #expect(try store.refusal([Change(.delete, try stranger("Step"))])?.code == .notFound)
    // A property of the entity that the id claims, on an object that does not have it.
    let disguise = Change(
      .update, try disguised(project, as: "Step"), base: .max, edits: [Edit(label, .set(.string("x")))])
    #expect(try store.refusal([disguise])?.code == .notFound)
    // An unknown entity, and an abstract one.
    let abstract = try stranger("Item")
    for id in [
      ObjectID(key: project.key, entity: 999), ObjectID(key: UniqueID(high: 9, low: 9), entity: 999), abstract,
    ] {
      _ = try store.commit([Change(.update, id, base: .max, edits: [Edit(label, .set(.string("x")))])])
      #expect(try store.all("Step", "label == \"x\"").isEmpty, "\(id)")
    }
    for entity: EntityNumber in [0, 999, abstract.entity] {
      let insert = Change(.insert, .temporary(1, entity: entity))
      #expect(try store.refusal([insert])?.code == .malformed, "\(entity)")
    }
    #expect(try store.all("Step").count == 2 && store.all("Project").count == 1)
  }

  @Test func unknownTemporaryAndInsertedPermanentIDsAreRefused() throws {
    let temporary = ObjectID.temporary(9, entity: try store.entity("Step").number)
    for change in [
      try edit(temporary, "Step.label", .set(.string("x"))), Change(.delete, temporary),
      try edit(steps[0], "Step.project", .set(.object(.temporary(8, entity: project.entity)))),
      try edit(project, "Project.steps", .place([temporary], after: nil)), Change(.insert, steps[0]),
      Change(.insert, try stranger("Step")),
    ] {
      #expect(try store.refusal([change])?.code == .malformed, "\(change)")
    }
    let twice = Change(.insert, temporary)
    #expect(try store.refusal([twice, twice])?.code == .malformed)
    try expectUntouched()
  }

  @Test func fetchByIDIsLimitedToItsEntity() throws {
    let step = try store.entity("Step")
    for id in [chapter, project, try disguised(chapter, as: "Step"), try stranger("Step")] {
      var found = [ObjectID]()
      _ = try store.store.fetch(FetchRequest(entity: step.number, predicate: .identifiers([id]))) {
        found.append($0.id)
      }
      #expect(found.isEmpty, "\(id)")
    }
    // The entity in the id of an inherited object does not matter, its key does.
    var found = [ObjectID]()
    let asItem = try disguised(steps[0], as: "Item")
    _ = try store.store.fetch(FetchRequest(entity: step.number, predicate: .identifiers([asItem]))) {
      found.append($0.id)
    }
    #expect(found == [steps[0]])
  }
}
