import GraphTesting
import Testing

@testable import GraphModel

/// Scopes, access rules and creators in model files.
@Suite struct AccessModelTests {
  private func model(_ entities: String) throws -> Model {
    try Model(parsing: #"{"format": 1, "name": "M", "version": 1, "entities": [\#(entities)]}"#.utf8)
  }

  private func entity(_ members: String) -> String {
    #"{"name": "A", "attributes": [{"name": "n", "type": "string", "optional": true}, "#
      + #"{"name": "made", "type": "date", "assigned": "created"}], "#
      + #""relationships": [{"name": "b", "destination": "A", "inverse": "c"}, "#
      + #"{"name": "c", "destination": "A", "inverse": "b", "toMany": true}]\#(members)}"#
  }

  // MARK: - Scopes

  @Test func scopeIsStoredOnlyWhereOneToOneDoesNotLeadToIt() throws {
    let team = try Fixtures.team()
    let (board, note) = (try #require(team.entity(named: "Board")), try #require(team.entity(named: "Note")))
    let (link, remark) = (try #require(team.entity(named: "Link")), try #require(team.entity(named: "Remark")))
    #expect(board.scope == .container)
    #expect(note.scope == .reference(try #require(note.property(named: "board")).number))
    for (entity, name, text) in [(link, "from", "from.board"), (remark, "link", "link.from.board")] {
      guard case .stored(let number, let through)? = entity.scope else {
        Issue.record("\(entity.name) stores its scope")
        continue
      }
      let hidden = try #require(entity.property(number))
      #expect(hidden.isHidden && hidden.isOptional && hidden.slot != nil && hidden.attribute?.kind == .uuid)
      #expect(hidden.attribute?.derivation?.text == text && hidden.attribute?.isDerived == true)
      #expect(entity.property(through)?.name == name)
      #expect(!entity.properties.contains { $0 === hidden } && !entity.attributes.contains { $0 === hidden })
      #expect(entity.property(named: hidden.name) == nil, "no program names it")
      #expect(entity.storedProperties.contains { $0 === hidden })
    }
  }

  @Test func sharedObjectsHaveNoContainer() throws {
    let shared = try model(entity(#", "scope": "*""#))
    let entity = try #require(shared.entity(named: "A"))
    #expect(entity.scope == .shared)
    #expect(!entity.storedProperties.contains { $0.isHidden })
    #expect(try shared.hash == model(self.entity("")).hash)
    let image = ObjectImage(
      id: ObjectID(key: UniqueID(high: 1, low: 1), entity: entity.number), revision: 1, values: entity.initialValues)
    #expect(shared.scope(of: image) == nil)
  }

  @Test func subentitiesInheritScopeAndRules() throws {
    let model = try model(
      #"{"name": "A", "scope": "self", "attributes": [{"name": "n", "type": "integer"}], "#
        + #""access": {"update": "n > 1"}}, "#
        + #"{"name": "B", "parent": "A", "access": {"update": "n < 9"}}"#)
    let sub = try #require(model.entity(named: "B"))
    #expect(sub.scope == .container)
    let rule = try #require(model.accessRules(of: sub.number)?.rules[.update])
    #expect(rule.text == "(n > 1) AND (n < 9)" && !rule.readsUser && !rule.readsRole)
  }

  @Test func onlyStoredScopesChangeTheHash() throws {
    let plain = try model(entity("")).hash
    #expect(try model(entity(#", "scope": "self""#)).hash == plain)
    #expect(try model(entity(#", "access": {"read": "n == $user"}"#)).hash == plain)
    let source = Fixtures.teamSource
    let moved = source.replacing(#""scope": "from""#, with: #""scope": "to""#)
    let team = try Fixtures.team().hash
    #expect(try Model(parsing: moved.utf8).hash != team)
    #expect(try Model(parsing: source.replacing(#""scope": "board","#, with: #""scope": "self","#).utf8).hash != team)
  }

  @Test func fingerprintOfVisibilityCoversScopesAndRulesForReading() throws {
    let plain = try Visibility.fingerprint(of: model(entity("")))
    #expect(try Visibility.fingerprint(of: model(entity(#", "scope": "self""#))) != plain)
    #expect(try Visibility.fingerprint(of: model(entity(#", "access": {"read": "n == $user"}"#))) != plain)
    #expect(try Visibility.fingerprint(of: model(entity(#", "access": {"update": "n == $user"}"#))) == plain)
  }

  @Test func creatorIsATextThatTheServerAssigns() throws {
    let note = try #require(try Fixtures.team().entity(named: "Note"))
    let creator = try #require(note.property(named: "creator"))
    #expect(note.assignedProperties.contains { $0 === creator })
    #expect(creator.attribute?.assignment == .creator && creator.attribute?.kind == .string)
  }

  // MARK: - Mistakes

  @Test(arguments: [
    (#", "scope": "d""#, "scope", #"A has no to-one relationship "d"; a container has the scope "self""#),
    (#", "scope": "c""#, "scope", #"A has no to-one relationship "c"; a container has the scope "self""#),
    (#", "scope": "b""#, "scope", "the scopes lead in a circle: A, A"),
    (#", "scope": 1"#, "scope", "must be a string"),
    (#", "access": "x""#, "access", "must be an object"),
    (#", "access": {"write": "n == NULL"}"#, "access.write", "is not a valid member here"),
    (#", "access": {"read": 1}"#, "access.read", "must be a string"),
    (#", "access": {"properties": {"n": 1}}"#, "access.properties.n", "must be a string"),
    (#", "access": {"properties": {"m": "n == NULL"}}"#, "access.properties.m", #"A has no property "m""#),
    (#", "access": {"properties": {"made": "n == NULL"}}"#, "access.properties.made", #"no client changes "made""#),
    (#", "access": {"properties": {"c": "n == NULL"}}"#, "access.properties.c", #""c" is stored at its inverse"#),
    (#", "access": {"read": "m == $user"}"#, "access.read", #"column 1: A has no property "m""#),
    (#", "access": {"update": "n == $me"}"#, "access.update", "column 6: $me is not defined here; a rule has $role"),
    (#", "access": {"insert": "n IN $user"}"#, "access.insert", "column 6: a list such as {1, 2} is expected here"),
    (#", "access": {"delete": "b.n == $user"}"#, "access.delete", "reads other objects"),
    (#", "access": {"delete": "made < now()"}"#, "access.delete", "uses now()"),
    (#", "access": {"read": "$role >= 'editor'"}"#, "access.read", "orders $role"),
    (#", "access": {"read": "$role == 'boss'"}"#, "access.read", #"there is no role "boss"; the roles are reader,"#),
    (#", "access": {"read": "$role IN {'editor', 'x'}"}"#, "access.read", #"there is no role "x""#),
  ]) func mistakeIsReportedWithItsPlace(members: String, place: String, reason: String) throws {
    let error = #expect(throws: ModelError.self) { try model(entity(members)) }
    let mistakes = try #require(error?.mistakes)
    #expect(mistakes.map(\.path) == ["entities[0].\(place)"], "\(mistakes)")
    #expect(mistakes[0].reason.contains(reason), "\(mistakes[0].reason)")
  }

  @Test func scopesInACircleAreRefused() throws {
    let error = #expect(throws: ModelError.self) {
      try model(
        #"{"name": "A", "scope": "b", "relationships": [{"name": "b", "destination": "B", "inverse": "a"}]}, "#
          + #"{"name": "B", "scope": "a", "relationships": [{"name": "a", "destination": "A", "inverse": "b"}]}"#)
    }
    #expect(error?.mistakes.map(\.path) == ["entities[0].scope", "entities[1].scope"])
    #expect(error?.mistakes[0].reason == "the scopes lead in a circle: A, B, A")
  }

  @Test func scopeLeadsToAScope() throws {
    let error = #expect(throws: ModelError.self) {
      try model(
        #"{"name": "A", "scope": "b", "relationships": [{"name": "b", "destination": "B", "inverse": "a"}]}, "#
          + #"{"name": "B", "relationships": [{"name": "a", "destination": "A", "inverse": "b"}]}"#)
    }
    #expect(
      error?.description
        == #"entities[0].scope: b leads to B, which has no scope; a container has the scope "self""#)
  }

  @Test func scopeLeadsToNoSharedObject() throws {
    let error = #expect(throws: ModelError.self) {
      try model(
        #"{"name": "A", "scope": "b", "relationships": [{"name": "b", "destination": "B", "inverse": "a"}]}, "#
          + #"{"name": "B", "scope": "*", "relationships": [{"name": "a", "destination": "A", "inverse": "b"}]}"#)
    }
    #expect(error?.description == "entities[0].scope: b leads to B, whose objects belong to no single container")
  }

  @Test func inheritedScopeIsNotDeclaredAgain() throws {
    let error = #expect(throws: ModelError.self) {
      try model(#"{"name": "A", "scope": "self"}, {"name": "B", "parent": "A", "scope": "self"}"#)
    }
    #expect(error?.description == "entities[1].scope: the scope is that of A, which B inherits")
  }

  @Test(arguments: ["integer", "date", "text"]) func creatorIsOnlyAString(type: String) throws {
    let error = #expect(throws: ModelError.self) {
      try model(#"{"name": "A", "attributes": [{"name": "by", "type": "\#(type)", "assigned": "creator"}]}"#)
    }
    #expect(error?.description == "entities[0].attributes[0].assigned: is only allowed for the type string")
  }

  @Test func entityHasOneCreator() throws {
    let creator = { (name: String) in #"{"name": "\#(name)", "type": "string", "assigned": "creator"}"# }
    let error = #expect(throws: ModelError.self) {
      try model(#"{"name": "A", "attributes": [\#(creator("a")), \#(creator("b"))]}"#)
    }
    #expect(error?.description == #"entities[0].attributes[1].assigned: A has another creator, "a""#)
  }
}
