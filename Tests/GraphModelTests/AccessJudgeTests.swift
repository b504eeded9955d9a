import GraphTesting
import Testing

@testable import GraphModel

/// The decisions of the judge: a table of role × operation × object, and the rules of the model.
@Suite struct AccessJudgeTests {
  private let model: Model
  private let here = UniqueID(high: 2, low: 1)
  private let there = UniqueID(high: 2, low: 2)

  init() throws { model = try Fixtures.team() }

  private func judge(_ role: Role?, storeWide: Role? = nil) -> AccessJudge {
    let grants = [role.map { Grant($0, on: here) }, storeWide.map { Grant($0) }].compactMap { $0 }
    return AccessJudge(Rights(user: "ann", grants: grants), model: model)
  }

  private func note(
    by creator: String, on board: UniqueID?, _ values: [String: Value] = [:]
  ) throws -> ObjectImage {
    let (entity, boards) = (try #require(model.entity(named: "Note")), try #require(model.entity(named: "Board")))
    var image = ObjectImage(
      id: ObjectID(key: UniqueID(high: 3, low: 1), entity: entity.number), revision: 1, values: entity.initialValues)
    image[try #require(entity.property(named: "creator"))] = .string(creator)
    if let board {
      image[try #require(entity.property(named: "board"))] = .object(ObjectID(key: board, entity: boards.number))
    }
    for (name, value) in values { image[try #require(entity.property(named: name))] = value }
    return image
  }

  private func number(_ name: String) throws -> PropertyNumber {
    try #require(model.entity(named: "Note")?.property(named: name)).number
  }

  /// The operations that a role permits, as letters: read, insert, update, delete, and moving to another scope.
  private func permitted(_ judge: AccessJudge, by creator: String, on board: UniqueID?) throws -> String {
    let image = try note(by: creator, on: board)
    let edited = try note(by: creator, on: board, ["text": .string("x")])
    let moved = try note(by: creator, on: board == here ? there : here)
    var letters = ""
    if judge.sees(image) { letters += "r" }
    if judge.missingRight(before: nil, after: image, changed: []) == nil { letters += "i" }
    if judge.missingRight(before: image, after: edited, changed: [try number("text")]) == nil { letters += "u" }
    if judge.missingRight(before: image, after: nil, changed: []) == nil { letters += "d" }
    if judge.missingRight(before: image, after: moved, changed: [try number("board")]) == nil { letters += "m" }
    return letters
  }

  @Test(arguments: [
    (Role?.none, "", "", "", ""), (.reader, "r", "r", "", ""), (.commenter, "riud", "r", "", ""),
    (.editor, "riud", "riud", "", ""), (.owner, "riud", "riud", "", ""),
  ]) func roleOnOneBoard(role: Role?, own: String, others: String, elsewhere: String, without: String) throws {
    let judge = judge(role)
    #expect(try permitted(judge, by: "ann", on: here) == own)
    #expect(try permitted(judge, by: "bob", on: here) == others)
    #expect(try permitted(judge, by: "ann", on: there) == elsewhere, "once own, and now on a board without a role")
    #expect(try permitted(judge, by: "ann", on: nil) == without)
  }

  @Test(arguments: [
    (Role.reader, "r", "r"), (.commenter, "riudm", "r"), (.editor, "riudm", "riudm"), (.owner, "riudm", "riudm"),
  ]) func roleOnTheStore(role: Role, own: String, others: String) throws {
    let judge = judge(nil, storeWide: role)
    for board in [here, there, nil] {
      #expect(try permitted(judge, by: "ann", on: board) == own)
      #expect(try permitted(judge, by: "bob", on: board) == others)
    }
  }

  @Test func moveNeedsTheRightAtBothEnds() throws {
    let rights = Rights(user: "ann", grants: [Grant(.editor, on: here), Grant(.reader, on: there)])
    let judge = AccessJudge(rights, model: model)
    let (before, after) = (try note(by: "bob", on: here), try note(by: "bob", on: there))
    for (one, other) in [(before, after), (after, before)] {
      let missing = judge.missingRight(before: one, after: other, changed: [try number("board")])
      #expect(missing?.reason == .role(.commenter) && missing?.role == .reader && missing?.operation == .update)
    }
  }

  /// On objects that all boards share, a role on one board gives at most the rights of a commenter.
  @Test(arguments: [
    (Role?.none, "", ""), (.reader, "r", "r"), (.commenter, "riud", "r"), (.editor, "riud", "r"), (.owner, "riud", "r"),
  ]) func roleOnSharedObjects(role: Role?, own: String, others: String) throws {
    let model = try Fixtures.notes()
    let tag = try #require(model.entity(named: "Tag"))
    let name = try #require(tag.property(named: "name"))
    let judge = AccessJudge(Rights(user: "ann", grants: role.map { [Grant($0, on: here)] } ?? []), model: model)
    for (creator, expected) in [("ann", own), ("bob", others)] {
      var image = ObjectImage(
        id: ObjectID(key: UniqueID(high: 3, low: 1), entity: tag.number), revision: 1, values: tag.initialValues)
      image[name] = .string("a")
      image[try #require(tag.property(named: "creator"))] = .string(creator)
      var renamed = image
      renamed[name] = .string("b")
      var letters = judge.sees(image) ? "r" : ""
      if judge.missingRight(before: nil, after: image, changed: []) == nil { letters += "i" }
      if judge.missingRight(before: image, after: renamed, changed: [name.number]) == nil { letters += "u" }
      if judge.missingRight(before: image, after: nil, changed: []) == nil { letters += "d" }
      #expect(letters == expected, "\(creator)")
    }
  }

  // MARK: - Rules

  @Test func readRuleHidesPrivateNotes() throws {
    for role in Role.allCases {
      #expect(try judge(role).sees(note(by: "ann", on: here, ["isPrivate": .bool(true)])))
      #expect(try !judge(role).sees(note(by: "bob", on: here, ["isPrivate": .bool(true)])), "\(role)")
    }
  }

  @Test func ruleReadsTheRole() throws {
    let locked = try note(by: "ann", on: here, ["isLocked": .bool(true)])
    #expect(judge(.owner).missingRight(before: locked, after: nil, changed: []) == nil)
    let missing = judge(.editor).missingRight(before: locked, after: nil, changed: [])
    #expect(missing?.reason == .rule("isLocked == false OR $role == 'owner'"))
    #expect(missing?.message.contains("does not allow you to delete Note: isLocked == false") == true)
  }

  @Test func propertyHasARuleOfItsOwn() throws {
    let before = try note(by: "bob", on: here)
    let after = try note(by: "bob", on: here, ["isPrivate": .bool(true), "text": .string("x")])
    let judge = judge(.owner)
    #expect(judge.missingRight(before: before, after: after, changed: [try number("text")]) == nil)
    let changed = [try number("text"), try number("isPrivate")]
    let missing = judge.missingRight(before: before, after: after, changed: changed)
    #expect(missing?.entity == "Note.isPrivate" && missing?.reason == .rule("creator == $user"))
  }

  @Test func changesByTheServerNeedNoRight() throws {
    let (board, size) = (try #require(model.entity(named: "Board")), "size")
    var before = ObjectImage(
      id: ObjectID(key: here, entity: board.number), revision: 1, values: board.initialValues)
    let count = try #require(board.property(named: size))
    before[count] = .integer(1)
    var after = before
    after[count] = .integer(2)
    #expect(judge(.reader).missingRight(before: before, after: after, changed: [count.number]) == nil)
    let name = try #require(board.property(named: "name")).number
    #expect(judge(.reader).missingRight(before: before, after: after, changed: [count.number, name]) != nil)
  }

  // MARK: - Shortcuts

  @Test func shortcutsAreExact() throws {
    // Note has a rule for reads, so no role sees everything.
    #expect(Role.allCases.allSatisfy { !judge(nil, storeWide: $0).seesEverything })
    let plain = try Model(
      parsing: #"{"format": 1, "name": "M", "version": 1, "entities": [{"name": "A", "scope": "self"}]}"#.utf8)
    for role in Role.allCases {
      let judge = AccessJudge(Rights(user: "ann", role: role), model: plain)
      #expect(judge.seesEverything && judge.permitsEverything == (role >= .editor))
    }
    let scoped = AccessJudge(Rights(user: "ann", grants: [Grant(.owner, on: here)]), model: plain)
    #expect(!scoped.seesEverything && !scoped.permitsEverything)
  }

  @Test func predicateOfARuleHasNoVariablesLeft() throws {
    let entity = try #require(model.entity(named: "Note"))
    let rules = try #require(model.accessRules(of: entity.number))
    let delete = try #require(rules.rules[.delete])
    #expect(delete.readsRole && !delete.readsUser)
    #expect(delete.predicate(user: "ann", role: .owner) == .always)
    let expected = try GraphPredicate(parsing: "isLocked == false", entity: entity, model: model)
    #expect(delete.predicate(user: "ann", role: .editor) == expected)
    #expect(rules.rules[.read]?.readsUser == true && rules.rules[.read]?.readsRole == false)
  }
}
