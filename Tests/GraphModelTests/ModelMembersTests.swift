import GraphTesting
import Testing

@testable import GraphModel

/// The members of a model file as the loader reads them, and the members that the hash covers.
@Suite struct ModelMembersTests {
  private func model(_ entities: String, _ more: String = "") throws -> Model {
    try Model(parsing: #"{"format": 1, "name": "M", "version": 1, "entities": [\#(entities)]\#(more)}"#.utf8)
  }

  private func attributes(_ list: String, _ more: String = "") throws -> Model {
    try model(#"{"name": "A", "attributes": [\#(list)]\#(more)}"#)
  }

  // MARK: - The hash

  @Test func hashOfNotesModelIsUnchanged() throws {
    #expect(try Fixtures.stickies().hash.description == "85c1c587ac592a5d2ed5f8fa579a2764")
  }

  @Test func hashIgnoresValidationTransientsAndFetchRequests() throws {
    let plain = try attributes(#"{"name": "b", "type": "string"}"#)
    let same = try [
      attributes(#"{"name": "b", "type": "string", "pattern": "x*"}"#),
      attributes(#"{"name": "b", "type": "string"}"#, #", "rules": [{"name": "r", "predicate": "b != NULL"}]"#),
      attributes(#"{"name": "a", "type": "date", "transient": true}, {"name": "b", "type": "string"}"#),
      model(
        #"{"name": "A", "attributes": [{"name": "b", "type": "string"}]}"#,
        #", "fetchRequests": [{"name": "q", "entity": "A"}]"#),
    ]
    for model in same { #expect(model.hash == plain.hash) }
  }

  @Test func derivationIsPartOfTheHash() throws {
    func derived(_ member: String) throws -> ModelHash {
      try attributes(#"{"name": "a", "type": "string"}, {"name": "b", "type": "string"\#(member)}"#).hash
    }
    let lowercase = try derived(#", "derived": "lowercase(a)""#)
    #expect(try lowercase != derived(""))
    #expect(try lowercase != derived(#", "derived": "a""#))
    #expect(try lowercase == derived(#", "derived": "lowercase(a)", "documentation": "!""#))
  }

  /// Equal hashes promise equal numbers and slots, also with transients in between.
  @Test func transientsDoNotConsumeNumbers() throws {
    let entities = { (transient: String) in
      #"{"name": "A", "attributes": [\#(transient){"name": "b", "type": "string"}]}, "#
        + #"{"name": "B", "parent": "A", "attributes": [{"name": "c", "type": "string"}]}"#
    }
    let plain = try model(entities(""))
    let more = try model(entities(#"{"name": "a", "type": "date", "transient": true}, "#))
    for name in ["b", "c"] {
      let (one, other) = (
        plain.entity(named: "B")?.property(named: name), more.entity(named: "B")?.property(named: name)
      )
      #expect(one?.number == other?.number)
      #expect(one?.slot == other?.slot)
    }
    let transient = try #require(more.entity(named: "B")?.property(named: "a"))
    #expect(transient.slot == nil)
    #expect(more.property(transient.number)?.name == "a")
    #expect(more.entity(named: "B")?.storedProperties.map(\.name) == ["b", "c"])
  }

  // MARK: - Composites

  private let parties = """
    {"format": 1, "name": "M", "version": 1,
     "composites": [{"name": "Address", "documentation": "Where.", "attributes": [
       {"name": "street", "type": "string", "minimumLength": 1, "documentation": "With the number."},
       {"name": "zip", "type": "string", "optional": true, "pattern": "[0-9]{5}", "indexed": true}]}],
     "entities": [
       {"name": "Party", "abstract": true, "attributes": [
         {"name": "home", "type": "composite", "composite": "Address", "documentation": "Where it lives."},
         {"name": "name", "type": "string"}], "unique": [["home.zip", "name"]]},
       {"name": "Person", "parent": "Party",
        "attributes": [{"name": "work", "type": "composite", "composite": "Address", "optional": true}],
        "relationships": [{"name": "boss", "destination": "Person", "inverse": "reports"},
                          {"name": "reports", "destination": "Person", "inverse": "boss", "toMany": true}]}]}
    """

  @Test func compositeExpandsToItsMembers() throws {
    let model = try Model(parsing: parties.utf8)
    let person = try #require(model.entity(named: "Person"))
    #expect(person.attributes.map(\.name) == ["home.street", "home.zip", "name", "work.street", "work.zip"])
    #expect(person.property(named: "home") == nil)
    let street = try #require(person.property(named: "work.street"))
    #expect(street.documentation == "With the number.")
    #expect(street.attribute?.minimumLength == 1)
    #expect(street.isOptional)
    #expect(person.property(named: "home.street")?.isOptional == false)
    #expect(person.property(named: "work.zip")?.attribute?.isIndexed == true)
    #expect(person.composites.map(\.name) == ["home", "work"])
    #expect(person.composites.map(\.documentation) == ["Where it lives.", ""])
    #expect(
      person.composites[1].members == ["work.street", "work.zip"].compactMap { person.property(named: $0)?.number })
    #expect(model.composites.first?.members.map(\.name) == ["street", "zip"])
    #expect(person.uniquenessConstraints.map { $0.compactMap { model.property($0)?.name } } == [["home.zip", "name"]])
  }

  @Test(arguments: [
    ("home == nil", "Person.home is a composite: name one of its members, home.street"),
    ("home.town == 'x'", "Person.home is a composite: name one of its members, home.street"),
    ("hoem == nil", "Person has no property \"hoem\"; it has id, "),
    ("name == Ann", "Person has no property \"Ann\" (a string needs quotation marks: \"Ann\"); it has id, "),
    ("name CONTAINS[cd] Ann", "Person has no property \"Ann\" (a string needs quotation marks: \"Ann\"); it has id, "),
  ])
  func unknownNameInPredicateGetsAdvice(text: String, words: String) throws {
    let marked =
      #"{"name": "name", "type": "string"}, {"name": "isMarked", "type": "bool", "default": false, "transient": true}"#
    let model = try Model(parsing: parties.replacing(#"{"name": "name", "type": "string"}"#, with: marked).utf8)
    let person = try #require(model.entity(named: "Person"))
    let error = try #require(throws: PredicateSyntaxError.self) {
      try GraphPredicate(parsing: text, entity: person, model: model)
    }
    #expect("\(error)".contains(words))
    #expect(!"\(error)".contains("isMarked"))
  }

  @Test func predicatesAndOrdersReachCompositeMembers() throws {
    let model = try Model(parsing: parties.utf8)
    let person = try #require(model.entity(named: "Person"))
    for text in [
      #"home.street == "x""#, #"boss.home.street == "x" AND ANY reports.work.zip == "12345""#,
      "boss.work.zip == home.zip",
    ] {
      #expect(try GraphPredicate(parsing: text, entity: person, model: model).text(in: model) == text)
    }
    #expect(try [SortKey](parsing: "-work.zip,name", entity: person, model: model).text(in: model) == "-work.zip,name")
    for text in [#"home == "x""#, #"home.street.x == "x""#, #"boss.home == "x""#] {
      #expect(throws: PredicateSyntaxError.self) { try GraphPredicate(parsing: text, entity: person, model: model) }
    }
  }

  // MARK: - Transients, rules, questions

  @Test func transientIsNotStored() throws {
    let model = try attributes(#"{"name": "t", "type": "bool", "transient": true}, {"name": "b", "type": "bool"}"#)
    let entity = try #require(model.entity(named: "A"))
    let predicate = #expect(throws: PredicateSyntaxError.self) {
      try GraphPredicate(parsing: "b == TRUE AND t == TRUE", entity: entity, model: model)
    }
    #expect(predicate?.description == "column 15: A.t is transient: it is not stored")
    let sort = #expect(throws: PredicateSyntaxError.self) {
      try [SortKey](parsing: "b,t", entity: entity, model: model)
    }
    #expect(sort?.description == "column 3: A.t is transient: it is not stored")
  }

  @Test func rulesAreInherited() throws {
    let model = try model(
      #"{"name": "A", "attributes": [{"name": "n", "type": "integer"}], "rules": [{"name": "low", "predicate": "n < 9"}]}, "#
        + #"{"name": "B", "parent": "A", "rules": [{"name": "high", "predicate": "n > 2", "message": "too few"}]}"#)
    let (a, b) = try (#require(model.entity(named: "A")), #require(model.entity(named: "B")))
    #expect(model.rules(of: a.number).map(\.name) == ["low"])
    #expect(model.rules(of: b.number).map(\.name) == ["low", "high"])
    #expect(model.rules(of: b.number).map(\.message) == ["this A breaks the rule low: n < 9", "too few"])
    let image = { (n: Int64) in
      ObjectImage(id: ObjectID(key: .zero, entity: b.number), revision: 1, values: [.integer(n)])
    }
    #expect(model.rules(of: b.number).map { $0.holds(for: image(1)) } == [true, false])
    #expect(model.rules(of: b.number).map { $0.holds(for: image(9)) } == [false, true])
  }

  @Test(arguments: [
    ("", []), ("a == 1", []), ("a == $x", ["x"]), ("a == $x AND b == $y_2 OR c==$x", ["x", "y_2"]),
    (#"s == "$x" AND s != '$y' AND c == $z"#, ["z"]), ("a IN {$x,$y}", ["x", "y"]), ("a IN $list", ["list"]),
    ("a BETWEEN $range", ["range"]),
    ("SUBQUERY(many, $m, $m.a == $x).@count > 1", ["x"]),
  ])
  func fetchRequestKnowsItsVariables(predicate: String, variables: [String]) throws {
    let numbers = ["a", "b", "c"].map { #"{"name": "\#($0)", "type": "integer"}"# }.joined(separator: ", ")
    let text = predicate.replacing("\"", with: "\\\"")
    let model = try model(
      #"{"name": "A", "attributes": [\#(numbers), {"name": "s", "type": "string"}], "relationships": ["#
        + #"{"name": "one", "destination": "A", "inverse": "many"}, "#
        + #"{"name": "many", "destination": "A", "inverse": "one", "toMany": true}]}"#,
      #", "fetchRequests": [{"name": "q", "entity": "A", "predicate": "\#(text)"}]"#)
    #expect(try #require(model.fetchRequest(named: "q")).variables == variables)
  }

  /// As in typed predicates, nil is compared only with values that may be null, and only by `==` and `!=`.
  @Test(arguments: [
    ("a == $x", []), ("b == $x", ["x"]), ("b != $x", ["x"]), ("$x == b", ["x"]), ("b < $x", []), ("b IN {$x}", []),
    ("b IN $x", []), ("b BETWEEN $x", []), ("b == $x AND b > $x", []), ("b == $x OR NOT b == $x", ["x"]),
    ("b == $x AND a == $y", ["x"]),
    ("one == $x", ["x"]), ("one.a == $x", ["x"]), ("a + 1 == $x", ["x"]), ("b == $x + a", []),
    ("many.@count == $x", []), ("many.@sum.a == $x", []), ("many.@max.a == $x", ["x"]), ("ANY many.a == $x", []),
    ("ANY many.b == $x", ["x"]), ("SUBQUERY(many, $m, $m.b == $x).@count > 1", ["x"]),
  ])
  func fetchRequestKnowsNullableVariables(predicate: String, nullables: [String]) throws {
    let model = try model(
      #"{"name": "A", "attributes": [{"name": "a", "type": "integer"}, {"name": "b", "type": "integer", "optional": true}], "#
        + #""relationships": [{"name": "one", "destination": "A", "inverse": "many"}, "#
        + #"{"name": "many", "destination": "A", "inverse": "one", "toMany": true}]}"#,
      #", "fetchRequests": [{"name": "q", "entity": "A", "predicate": "\#(predicate)"}]"#)
    let question = try #require(model.fetchRequest(named: "q"))
    #expect(question.nullables == Set(nullables))
    guard nullables == ["x"], question.variables == ["x"] else { return }
    let asked = try question.request(withArguments: ["x": .value(.null, question.types[0])], model: model)
    let literal = predicate.replacing("$x", with: "NULL")
    let entity = try #require(model.entity(named: "A"))
    #expect(asked.predicate == (try GraphPredicate(parsing: literal, entity: entity, model: model)))
  }

  @Test func fetchRequestTakesValues() throws {
    let model = try model(
      #"{"name": "A", "attributes": [{"name": "n", "type": "integer"}]}"#,
      #", "fetchRequests": [{"name": "q", "entity": "A", "predicate": "n < $most", "sort": "-n", "limit": 5}]"#)
    let question = try #require(model.fetchRequest(named: "q"))
    let request = try question.request(with: ["most": .integer(3)], model: model)
    #expect(request.predicate.text(in: model) == "n < 3" && request.limit == 5 && request.sort.count == 1)
    #expect(throws: PredicateSyntaxError.self) { try question.request(with: [:], model: model) }
    #expect(throws: PredicateSyntaxError.self) { try question.request(with: ["most": .string("a")], model: model) }
    let unknown = #expect(throws: PredicateSyntaxError.self) {
      try question.request(with: ["most": .integer(3), "least": .integer(1)], model: model)
    }
    #expect(unknown?.reason == "q has no variable $least; it has $most")
  }

  @Test func fetchRequestErrorsAreReported() throws {
    let entities = #"{"name": "B"}, {"name": "Z", "attributes": [{"name": "n", "type": "integer"}]}"#
    let model = try model(
      entities, #", "fetchRequests": [{"name": "q", "entity": "Z", "predicate": "n < 3"}]"#)
    let question = try #require(model.fetchRequest(named: "q"))
    let unknown = #expect(throws: PredicateSyntaxError.self) {
      try question.request(with: ["most": .integer(3)], model: model)
    }
    #expect(unknown?.reason == "q has no variable $most; it has none")
    let other = try self.model(#"{"name": "B"}"#)
    let absent = #expect(throws: PredicateSyntaxError.self) { try question.request(with: [:], model: other) }
    #expect(absent?.reason == "the model has no such entity")
  }

  @Test func fetchRequestRoundTripsThroughFile() throws {
    let model = try model(
      #"{"name": "A", "attributes": [{"name": "n", "type": "integer"}]}"#,
      #", "fetchRequests": [{"name": "q", "entity": "A", "predicate": "n < 3", "sort": "-n", "limit": 5, "documentation": "?"}]"#
    )
    let question = try #require(model.fetchRequests.first)
    #expect(question.name == "q" && question.predicate == "n < 3" && question.sort == "-n" && question.limit == 5)
    #expect(question.entity == model.entity(named: "A")?.number && question.documentation == "?")
    #expect(question.variables.isEmpty)
    #expect(model.fetchRequest(named: "r") == nil)
  }

  // MARK: - The page

  @Test func exampleOfPageLoads() throws {
    let page = String(decoding: try Fixtures.file("docs/model-format.md"), as: UTF8.self)
    let example = try #require(
      page.split(separator: "```json\n").dropFirst().compactMap { $0.split(separator: "\n```").first }
        .first { $0.contains("\"Company\"") })
    let model = try Model(parsing: example.utf8)
    #expect(model.entities.count == 7)
    #expect(model.composites.map(\.name) == ["Address"])
    #expect(model.fetchRequest(named: "overdue")?.variables == ["now", "client"])
    let project = try #require(model.entity(named: "Project"))
    #expect(model.rules(of: project.number).map(\.name) == ["endsAfterItStarts", "doneHasStarted"])
    let derived = model.entities.flatMap(\.attributes).filter { $0.attribute?.isDerived == true }.map(\.name)
    #expect(derived == ["headcount", "key"])
  }
}
