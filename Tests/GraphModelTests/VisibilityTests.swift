import GraphModel
import Testing

/// Visibility classes: the users who share a class, and the effects of a change that a class sees.
@Suite struct VisibilityTests {
  private static let source = """
    {"format": 1, "name": "Classes", "version": 1, "entities": [
      {"name": "Board", "scope": "self", "attributes": [{"name": "title", "type": "string", "default": ""}],
       "relationships": [{"name": "notes", "destination": "Note", "inverse": "board", "toMany": true}]},
      {"name": "Note", "scope": "board", "attributes": [{"name": "text", "type": "string", "default": ""}RULED],
       "relationships": [
        {"name": "board", "destination": "Board", "inverse": "notes"},
        {"name": "next", "destination": "Note", "inverse": "previous"},
        {"name": "previous", "destination": "Note", "inverse": "next", "toMany": true}]RULE}]}
    """

  /// The model with a rule for reading notes.
  private func model(_ rule: String = "") throws -> Model {
    let access = rule.isEmpty ? "" : ", \"access\": {\"read\": \"\(rule)\"}"
    let owner = ", {\"name\": \"owner\", \"type\": \"string\", \"default\": \"\"}"
    return try Model(
      parsing: Self.source.replacing("RULED", with: owner).replacing("RULE", with: access).utf8)
  }

  private let board = UniqueID(high: 1, low: 1)
  private let other = UniqueID(high: 1, low: 2)

  private func note(_ model: Model, _ low: UInt64, board: UniqueID, next: ObjectID? = nil) throws -> ObjectImage {
    let (entity, boards) = (try #require(model.entity(named: "Note")), try #require(model.entity(named: "Board")))
    var image = ObjectImage(
      id: ObjectID(key: UniqueID(high: 2, low: low), entity: entity.number), revision: 1,
      values: entity.storedProperties.map { $0.attribute?.defaultValue ?? .null })
    image[try #require(entity.property(named: "board"))] = .object(ObjectID(key: board, entity: boards.number))
    if let next { image[try #require(entity.property(named: "next"))] = .object(next) }
    return image
  }

  @Test func userWhoSeesEverythingHasNoClass() throws {
    let model = try model()
    for role in Role.allCases { #expect(Visibility(Rights(user: "a", role: role), model: model) == nil) }
    #expect(Visibility(Rights(user: "a", grants: [Grant(.reader), Grant(.owner, on: board)]), model: model) == nil)
    #expect(Visibility(Rights(user: "a", grants: []), model: model) != nil)
    #expect(Visibility(Rights(user: "a", role: .owner), model: try self.model("text != 'x'")) != nil)
  }

  @Test func onlyDecidingFactsMakeAClass() throws {
    func classes(_ rule: String) throws -> Int {
      let model = try model(rule)
      let users = [
        Rights(user: "a", grants: [Grant(.reader, on: board)]), Rights(user: "a", grants: [Grant(.editor, on: board)]),
        Rights(user: "b", grants: [Grant(.reader, on: board)]),
      ]
      return Set(users.map { Visibility($0, model: model) }).count
    }
    #expect(try classes("") == 1)
    #expect(try classes("text != 'x'") == 1)
    #expect(try classes("owner == $user") == 2)
    #expect(try classes("$role == 'editor'") == 2)
    #expect(try classes("owner == $user OR $role == 'editor'") == 3)
  }

  @Test func classCoversAnotherThatSeesNoMore() throws {
    let model = try model()
    func visibility(_ scopes: UniqueID...) throws -> Visibility {
      try #require(Visibility(Rights(user: "a", grants: scopes.map { Grant(.reader, on: $0) }), model: model))
    }
    #expect(try visibility(board, other).covers(visibility(board)))
    #expect(try !visibility(board).covers(visibility(board, other)))
    #expect(try visibility().covers(visibility()) && visibility(board).covers(visibility()))
  }

  @Test func changeIsReducedToWhatIsVisible() throws {
    let model = try model()
    let visibility = try #require(Visibility(Rights(user: "a", grants: [Grant(.reader, on: board)]), model: model))
    let hidden = try note(model, 9, board: other)
    let before = try note(model, 1, board: other)
    var after = try note(model, 1, board: board, next: hidden.id)
    after.revision = 2
    let change = ObjectChange(kind: .updated, id: after.id, before: before, after: after)
    func reduced(_ change: ObjectChange) -> ObjectChange? { visibility.reduced(change) { id, _ in id.key == board } }
    let inserted = try #require(reduced(change))
    let next = try #require(model.entity(named: "Note")?.property(named: "next"))
    #expect(inserted.kind == .inserted && inserted.before == nil && inserted.after?[next] == .null)
    let back = ObjectChange(kind: .updated, id: after.id, before: after, after: before)
    #expect(reduced(back)?.kind == .deleted && reduced(back)?.after == nil)
    #expect(reduced(ObjectChange(kind: .updated, id: before.id, before: before, after: before)) == nil)
    // An edit does not name an invisible object.
    var later = after
    later.revision = 3
    later[next] = .null
    let edit = Edit(next.number, .set(.null))
    let update = try #require(
      reduced(ObjectChange(kind: .updated, id: after.id, before: after, after: later, edits: [edit])))
    #expect(update.kind == .updated && update.edits.isEmpty)
  }

  @Test func visibilityOfAnIDAloneIsKnownWhereNoValueDecides() throws {
    let (plain, ruled) = (try model(), try model("text != 'x'"))
    let rights = Rights(user: "a", grants: [Grant(.reader, on: board)])
    let visibility = try #require(Visibility(rights, model: plain))
    let boards = try #require(plain.entity(named: "Board")).number
    #expect(visibility.seesUnread(ObjectID(key: board, entity: boards)) == true)
    #expect(visibility.seesUnread(ObjectID(key: other, entity: boards)) == false)
    #expect(visibility.seesUnread(try note(plain, 1, board: board).id) == nil)
    let reader = try #require(Visibility(Rights(user: "a", role: .reader), model: ruled))
    #expect(reader.seesUnread(try note(ruled, 1, board: board).id) == nil)
    #expect(reader.seesUnread(ObjectID(key: other, entity: boards)) == true)
    // A class may need the values of a note, and none those of a board.
    for model in [plain, ruled] {
      let decided = try ["Board", "Note"].map { name in
        model.decidesSightByValues(try #require(model.entity(named: name)).number)
      }
      #expect(decided == [false, true])
    }
  }
}
