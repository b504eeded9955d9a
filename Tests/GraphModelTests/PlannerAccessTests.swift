import GraphModel
import GraphTesting
import Testing

/// Writes of a principal that sees and changes only a part of the graph. Ann has a role on the first board and none on
/// the second one.
@Suite struct PlannerAccessTests {
  private let graph: MemoryGraph
  private let boards: [ObjectID]
  /// A note of ann and one of bob on the first board, and one of bob on the second.
  private let own: ObjectID
  private let others: ObjectID
  private let hidden: ObjectID

  init() throws {
    graph = MemoryGraph(try Fixtures.team())
    boards = try graph.insert([("Board", [:]), ("Board", [:])], author: "bob")
    let (here, there) = (Value.object(boards[0]), Value.object(boards[1]))
    own = try graph.insert([("Note", ["board": here])], author: "ann")[0]
    others = try graph.insert([("Note", ["board": here, "key": .string("open")])], author: "bob")[0]
    hidden = try graph.insert([("Note", ["board": there, "key": .string("taken")])], author: "bob")[0]
  }

  private func judge(_ role: Role, _ more: [Grant] = []) -> AccessJudge {
    AccessJudge(Rights(user: "ann", grants: [Grant(role, on: boards[0].key)] + more), model: graph.model)
  }

  private func refusal(
    _ changes: [Change], _ role: Role, _ more: [Grant] = [], policy: MergePolicy = .error
  ) throws -> Refusal? {
    do {
      try graph.commit(changes, policy: policy, author: "ann", judge: judge(role, more))
      return nil
    } catch let refusal as Refusal {
      return refusal
    }
  }

  private func deletion(_ id: ObjectID) -> Change { Change(.delete, id, base: .max) }

  private func edit(_ id: ObjectID) -> Change { graph.set(id, "Note", "text", .string("x")) }

  private func insertion(_ values: [String: Value]) -> Change {
    Change(
      .insert, graph.temporary("Note"),
      edits: values.sorted { $0.key < $1.key }.map { Edit(graph.property("Note", $0.key), .set($0.value)) })
  }

  /// An id that no object ever had.
  private func unknown(like id: ObjectID) -> ObjectID {
    ObjectID(key: UniqueID(high: id.key.high, low: id.key.low ^ 1), entity: id.entity)
  }

  // MARK: - Roles

  @Test func readerChangesNothing() throws {
    for change in [edit(own), deletion(own), insertion(["board": .object(boards[0])])] {
      let refusal = try refusal([change], .reader)
      #expect(refusal?.code == .notAllowed && refusal?.message.contains("needs the role commenter") == true)
    }
  }

  @Test func commenterChangesOwnObjectsOnly() throws {
    #expect(try refusal([edit(own)], .commenter) == nil)
    #expect(try refusal([insertion(["board": .object(boards[0])])], .commenter) == nil)
    for change in [edit(others), deletion(others)] {
      let refusal = try refusal([change], .commenter)
      #expect(refusal?.code == .notAllowed && refusal?.message.contains("your own Note only") == true)
    }
    #expect(try refusal([deletion(own)], .commenter) == nil)
  }

  @Test func editorChangesItsBoardAndNoOther() throws {
    #expect(try refusal([edit(others), insertion(["board": .object(boards[0])])], .editor) == nil)
    let elsewhere = try refusal([insertion([:])], .editor)
    #expect(elsewhere?.code == .notAllowed && elsewhere?.message.contains("you have no role here") == true)
    #expect(try refusal([deletion(others)], .editor) == nil)
  }

  @Test func refusedTransactionChangesNothing() throws {
    let before = graph.revision
    #expect(try refusal([edit(own), edit(others)], .commenter)?.code == .notAllowed)
    #expect(graph.revision == before && graph.value(own, "text") == .string(""))
  }

  @Test func rightOfTheOtherBoardIsNeededForAMove() throws {
    let move = graph.set(own, "Note", "board", .object(boards[1]))
    #expect(try refusal([move], .editor)?.violations.map(\.rule) == ["destination"], "the board does not exist for ann")
    let reader = [Grant(.reader, on: boards[1].key)]
    #expect(try refusal([move], .editor, reader)?.code == .notAllowed)
    #expect(try refusal([move], .editor, [Grant(.commenter, on: boards[1].key)]) == nil)
    // Once own, and now where ann only reads.
    #expect(try refusal([edit(own)], .editor, reader)?.code == .notAllowed)
    #expect(try refusal([edit(own)], .editor)?.code == .notFound)
  }

  // MARK: - What is invisible does not exist

  @Test func invisibleObjectIsLikeOneThatNeverExisted() throws {
    let unknown = unknown(like: hidden)
    for policy in MergePolicy.allCases {
      for change in [edit, deletion] {
        let (one, other) = (
          try refusal([change(hidden)], .owner, policy: policy), try refusal([change(unknown)], .owner, policy: policy)
        )
        #expect(one?.code == .notFound)
        #expect(text(one, hidden) == text(other, unknown), "\(policy)")
      }
      let reference = { (id: ObjectID) in
        Change(
          .insert, graph.temporary("Link"),
          edits: [("from", own), ("to", id)].map { Edit(graph.property("Link", $0.0), .set(.object($0.1))) })
      }
      let (one, other) = (
        try refusal([reference(hidden)], .owner, policy: policy),
        try refusal([reference(unknown)], .owner, policy: policy)
      )
      #expect(one?.violations.map(\.rule) == ["destination"])
      #expect(text(one, hidden) == text(other, unknown), "\(policy)")
    }
  }

  @Test func deletedObjectIsInvisibleIfItsLastStateWas() throws {
    try graph.commit([deletion(hidden), deletion(others)], author: "bob")
    let unknown = unknown(like: hidden)
    #expect(text(try refusal([edit(hidden)], .owner), hidden) == text(try refusal([edit(unknown)], .owner), unknown))
    // The delete of a visible one is a conflict, as it is for everybody else.
    let known = try refusal([edit(others)], .owner)
    #expect(known?.code == .conflict && known?.conflicts.map(\.kind) == [.deleted])
  }

  @Test func keyOfInvisibleObjectIsTakenWithoutAName() throws {
    for policy in MergePolicy.allCases {
      let insert = insertion(["board": .object(boards[0]), "key": .string("taken")])
      let found = try refusal([insert], .owner, policy: policy)
      let taken = try #require(found, "\(policy)")
      #expect(taken.code == .unique && taken.conflicts.isEmpty, "\(policy)")
      #expect(taken.violations.map(\.id) == [insert.id])
      let text = "\(taken.message) \(taken.violations)"
      for secret in ["\(hidden.key)", "\(boards[1].key)", "bob"] { #expect(!text.contains(secret), "\(text)") }
    }
  }

  @Test func upsertIsAnUpdateOfTheExistingObject() throws {
    let insert = { insertion(["board": .object(boards[0]), "key": .string("open"), "text": .string("mine")]) }
    for policy in MergePolicy.allCases where policy != .error {
      // Refused even where the policy keeps every stored value.
      #expect(try refusal([insert()], .commenter, policy: policy)?.code == .notAllowed, "\(policy)")
    }
    #expect(graph.value(others, "text") == .string(""))
    #expect(try refusal([insert()], .editor, policy: .objectTrump) == nil)
    #expect(graph.value(others, "text") == .string("mine"))
  }

  @Test func denyNamesNoInvisibleObject() throws {
    let link = try graph.insert([("Link", ["from": .object(hidden), "to": .object(own)])], author: "bob")[0]
    let refusal = try refusal([deletion(own)], .owner)
    #expect(refusal?.code == .denied && refusal?.violations.map(\.id) == [own])
    #expect(refusal?.violations.map(\.value) == [.null])
    #expect(refusal?.message == "this Note can't be deleted while other objects refer to it")
    // A link from the first board is named.
    let seen = try graph.insert([("Link", ["from": .object(others), "to": .object(own)])], author: "bob")[0]
    let values = try self.refusal([deletion(own)], .owner)?.violations.map(\.value)
    #expect(Set(values ?? []) == [.null, .object(seen)] && link != seen)
  }

  @Test func cascadeNeedsTheRightForEachObject() throws {
    let link = try graph.insert([("Link", ["from": .object(own), "to": .object(others)])], author: "ann")[0]
    #expect(try refusal([deletion(own)], .commenter) == nil, "own objects, by cascade")
    #expect(graph.images[link] == nil)
    let foreign = try graph.insert([("Note", ["board": .object(boards[0])])], author: "ann")[0]
    _ = try graph.insert([("Link", ["from": .object(foreign), "to": .object(others)])], author: "bob")
    let refusal = try refusal([deletion(foreign)], .commenter)
    #expect(refusal?.code == .notAllowed && refusal?.message.contains("your own Link only") == true)
    let board = try self.refusal([deletion(boards[0])], .commenter)
    #expect(board?.code == .notAllowed)
  }

  @Test func privateNotesStayWhenTheirBoardIsDeletedByAnother() throws {
    let secret = try graph.insert(
      [("Note", ["board": .object(boards[0]), "isPrivate": .bool(true)])], author: "bob")[0]
    let refusal = try refusal([deletion(boards[0])], .owner)
    #expect(refusal == AccessJudge.effectOnInvisible)
    #expect(graph.images[secret] != nil)
  }

  @Test func conflictsNameNoInvisibleObject() throws {
    let link = try graph.insert([("Link", ["from": .object(own), "to": .object(others)])], author: "ann")[0]
    let base = graph.revision
    try graph.commit([graph.set(link, "Link", "to", .object(hidden))], replica: 2, author: "bob")
    let mine = Change(
      .update, link, base: base, edits: [Edit(graph.property("Link", "to"), .set(.object(own)))])
    let refusal = try refusal([mine], .owner)
    #expect(refusal?.code == .conflict && refusal?.conflicts.map(\.id) == [link])
    #expect(refusal?.conflicts.map(\.theirs) == [.null] && refusal?.conflicts.map(\.mine) == [.object(own)])
  }

  @Test func listLeavesInvisibleMembersAlone() throws {
    let secret = try graph.insert(
      [("Note", ["board": .object(boards[0]), "isPrivate": .bool(true)])], author: "bob")[0]
    let list = Edit(graph.property("Board", "notes"), .set(.objects([own, others])))
    #expect(try refusal([Change(.update, boards[0], base: .max, edits: [list])], .owner) == nil)
    for note in [secret, own, others] { #expect(graph.value(note, "board") == .object(boards[0])) }
  }

  @Test func withoutRightsNothingIsJudged() throws {
    try graph.commit([edit(own), edit(others), edit(hidden), deletion(hidden)], author: "ann")
    #expect(graph.images[hidden] == nil)
  }

  /// The refusal as a client sees it, without the id that it sent.
  private func text(_ refusal: Refusal?, _ id: ObjectID) -> String {
    let violations = (refusal?.violations ?? []).map { "\($0.rule) \($0.property) \($0.value) \($0.message)" }
    return (["\(refusal?.code.rawValue ?? "accepted") \(refusal?.message ?? "")"] + violations).joined(separator: "\n")
      .replacing("\(id)", with: "ID").replacing("\(id.key)", with: "ID")
      .replacing("\(Value.object(id))", with: "object")
  }
}
