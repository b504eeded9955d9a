import GraphModel
import Testing

/// Every kind of mistake in a model file, with its place and message.
@Suite struct ModelErrorTests {
  /// One broken file and its error message.
  struct Case: CustomTestStringConvertible, Sendable {
    let source: String
    let path: String
    let words: String

    init(_ source: String, _ path: String, _ words: String) {
      self.source = source
      self.path = path
      self.words = words
    }

    var testDescription: String { "\(path): \(words)" }
  }

  private static func file(_ parts: String) -> String { #"{"format": 1, "name": "M", "version": 1, \#(parts)}"# }

  private static func entities(_ list: String) -> String { file(#""entities": [\#(list)]"#) }

  /// A model with an entity `A` with the given members; `more` is inserted before the entities.
  private static func entity(_ members: String, more: String = "") -> String {
    file(#"\#(more)"entities": [{"name": "A", \#(members)}]"#)
  }

  private static func attribute(_ members: String, more: String = "") -> String {
    entity(#""attributes": [{"name": "x", \#(members)}]"#, more: more)
  }

  private static func composite(_ attributes: String) -> String {
    file(
      #""composites": [{"name": "C", "attributes": [\#(attributes)]}], "entities": [{"name": "A"}]"#)
  }

  private static func relationships(_ list: String, other: String) -> String {
    entities(#"{"name": "A", "relationships": [\#(list)]}, {"name": "B", "relationships": [\#(other)]}"#)
  }

  /// The part of a longer text that a message shows.
  private static func long(_ character: Character, _ count: Int) -> String {
    String(repeating: character, count: count) + "…"
  }

  /// `count` attributes of `A`, and the unique constraints of each list of them.
  private static func unique(_ lists: some Sequence<some Sequence<Int>>, of count: Int) -> String {
    let attributes = (0..<count).map { #"{"name": "x\#($0)", "type": "bool", "optional": true}"# }
    let keys = lists.map { list in "[\(list.map { #""x\#($0)""# }.joined(separator: ","))]" }
    return entity(
      #""attributes": [\#(attributes.joined(separator: ","))], "unique": [\#(keys.joined(separator: ","))]"#)
  }

  static let shape: [Case] = [
    Case("[]", "", "must be an object"),
    Case("{\"format\": 1,,}", "line 1, column 14", ""),
    Case(
      #"{"format": 2, "name": "M", "version": 1, "entities": [{"name": "A"}]}"#, "format", "this program reads format 1"
    ),
    Case(#"{"name": "M", "version": 1, "entities": [{"name": "A"}]}"#, "format", "is missing"),
    Case(#"{"format": 1, "version": 1, "entities": [{"name": "A"}]}"#, "name", "is missing"),
    Case(#"{"format": 1, "name": "M", "version": 0, "entities": []}"#, "version", "must be a whole number from 1"),
    Case(#"{"format": 1, "name": "M", "version": -1, "entities": []}"#, "version", "must be a whole number from 1"),
    Case(
      file(#""entities": [{"name": "A"}], "mapping": {"A.x": "1"}"#), "mapping", "version 1 has no previous version"),
    Case(file(#""\#(String(repeating: "n", count: 301))": 1, "entities": []"#), long("n", 300), "not a valid member"),
    Case(entities(#"{"name": "\#(String(repeating: "1", count: 61))"}"#), "entities[0].name", "\(long("1", 60))\" is"),
    Case(
      entity(#""attributes": [{"name": "x", "type": "double", "default": \#(String(repeating: "9", count: 1_000))}]"#),
      "entities[0].attributes[0].default", "is not of the type double"),
    Case(#"{"format": 1, "name": "M", "version": 1}"#, "entities", "is missing"),
    Case(file(#""entities": {}"#), "entities", "must be a list"),
    Case(file(#""entities": [1]"#), "entities[0]", "must be an object"),
    Case(
      file(#""entities": [{"name": "A"}], "surprise": 1"#), "surprise",
      "is not a valid member here; there are composites, documentation, entities, enumerations, fetchRequests, format"),
    Case(entities(#"{"name": 1}"#), "entities[0].name", "must be a string"),
    Case(entities(#"{"name": "1st"}"#), "entities[0].name", "is not a name"),
    Case(entity(#""abstract": 1"#), "entities[0].abstract", "must be true or false"),
    Case(entity(#""unique": ["x"]"#), "entities[0].unique[0]", "must be a list of property names"),
    Case(entity(#""attributes": [{"name": "x"}]"#), "entities[0].attributes[0].type", "is missing"),
    Case(attribute(#""type": "integr""#), "entities[0].attributes[0].type", "must be one of bool, integer, double"),
    Case(attribute(#""type": "integr""#), "entities[0].attributes[0].type", "text, composite"),
    Case(
      attribute(#""type": "string", "maxLength": 3"#), "entities[0].attributes[0].maxLength",
      "is not a valid member here"),
    Case(
      attribute(#""type": "string", "maximumLength": -3"#), "entities[0].attributes[0].maximumLength",
      "must be a whole number"),
    Case(
      attribute(#""type": "string", "pattern": 3"#), "entities[0].attributes[0].pattern", "must be a string"),
    Case(
      file(#""enumerations": [{"name": "E", "cases": ["1"]}], "entities": [{"name": "A"}]"#),
      "enumerations[0].cases[0]", "must be a name"),
    Case(
      file(#""enumerations": [{"name": "E", "cases": ["a", "a"]}], "entities": [{"name": "A"}]"#),
      "enumerations[0].cases[1]", "appears here twice"),
    Case(
      file(#""enumerations": [{"name": "E"}], "entities": [{"name": "A"}]"#), "enumerations[0].cases", "is missing"),
    Case(
      entity(#""relationships": [{"name": "b"}]"#), "entities[0].relationships[0].destination", "is missing"),
    Case(entity(#""relationships": [{"name": "b"}]"#), "entities[0].relationships[0].inverse", "is missing"),
    Case(
      entity(#""relationships": [{"name": "b", "deleteRule": "burn"}]"#), "entities[0].relationships[0].deleteRule",
      "must be one of nullify, cascade, deny, noAction"),
    Case(entity(#""rules": [{"name": "r"}]"#), "entities[0].rules[0].predicate", "is missing"),
    Case(
      entity(#""rules": [{"name": "r", "predicate": "id != NULL", "text": ""}]"#), "entities[0].rules[0].text",
      "is not a valid member here; there are documentation, message, name, predicate"),
    Case(
      file(#""composites": [{"name": "C"}], "entities": [{"name": "A"}]"#), "composites[0].attributes", "is missing"),
    Case(
      file(#""entities": [{"name": "A"}], "fetchRequests": [{"name": "q"}]"#), "fetchRequests[0].entity", "is missing"),
  ]

  static let names: [Case] = [
    Case(entities(""), "entities", "at least one entity"),
    Case(
      entities((0...1_000).map { #"{"name": "E\#($0)"}"# }.joined(separator: ",")), "entities",
      "at most 1000 entities"),
    Case(entities(#"{"name": "A"}, {"name": "a"}"#), "entities[1].name", "another entity is called \"a\""),
    Case(entities(#"{"name": "SQLite_x"}"#), "entities[0].name", "reserved for the database"),
    Case(entities(#"{"name": "A", "parent": "Z"}"#), "entities[0].parent", "there is no entity \"Z\""),
    Case(entities(#"{"name": "A", "parent": "A"}"#), "entities[0].parent", "inherits from itself"),
    Case(
      entities(
        (0...32).map { #"{"name": "E\#($0)""# + ($0 > 0 ? #", "parent": "E\#($0 - 1)"}"# : "}") }.joined(separator: ",")
      ),
      "entities[32].parent", "more than 32 entities"),
    Case(
      file(
        #""enumerations": [{"name": "E", "cases": ["a"]}, {"name": "E", "cases": ["a"]}], "entities": [{"name": "A"}]"#),
      "enumerations[1].name", "another enumeration is called \"E\""),
    Case(
      file(#""enumerations": [{"name": "E", "cases": []}], "entities": [{"name": "A"}]"#), "enumerations[0].cases",
      "at least one case"),
    Case(
      file(
        #""enumerations": [{"name": "E", "cases": [\#((0...1_000).map { "\"c\($0)\"" }.joined(separator: ","))]}], "#
          + #""entities": [{"name": "A"}]"#), "enumerations[0]", "more than 1000 cases"),
    Case(
      entity(
        #""attributes": [\#((0...1_000).map { #"{"name": "p\#($0)", "type": "bool"}"# }.joined(separator: ","))]"#),
      "entities[0]", "more than 1000 properties together"),
    Case(
      entity(#""attributes": [{"name": "x", "type": "bool"}, {"name": "X", "type": "bool"}]"#),
      "entities[0].attributes[1].name", "\"X\" is already used by entities[0].attributes[0]"),
    Case(
      entity(#""attributes": [{"name": "Like", "type": "bool"}]"#), "entities[0].attributes[0].name", "is reserved"),
    Case(
      entities(
        #"{"name": "A", "attributes": [{"name": "x", "type": "bool"}]}, {"name": "B", "parent": "A", "attributes": [{"name": "x", "type": "bool"}]}"#
      ), "entities[1].attributes[0].name", "is already used by entities[0].attributes[0]"),
  ]

  static let attributes: [Case] = [
    Case(attribute(#""type": "enumeration""#), "entities[0].attributes[0].enumeration", "is missing"),
    Case(
      attribute(#""type": "enumeration", "enumeration": "E""#), "entities[0].attributes[0].enumeration",
      "there is no enumeration \"E\""),
    Case(
      attribute(#""type": "string", "enumeration": "E""#), "entities[0].attributes[0].enumeration",
      "is only allowed for the type enumeration"),
    Case(
      attribute(#""type": "string", "minimum": 1"#), "entities[0].attributes[0].minimum", "not allowed for the type"),
    Case(attribute(#""type": "integer", "default": "1""#), "entities[0].attributes[0].default", "of the type integer"),
    Case(attribute(#""type": "date", "maximum": "soon""#), "entities[0].attributes[0].maximum", "of the type date"),
    Case(
      attribute(#""type": "integer", "default": 1, "minimum": 2"#), "entities[0].attributes[0].default",
      "is less than 2 (minimum)"),
    Case(
      attribute(#""type": "decimal", "default": "2.5", "maximum": 2"#), "entities[0].attributes[0].default",
      "(maximum)"),
    Case(
      attribute(#""type": "date", "default": "1989-12-31", "minimum": "1990-01-01""#),
      "entities[0].attributes[0].default",
      "is less than "),
    Case(
      attribute(#""type": "string", "default": "", "minimumLength": 1"#), "entities[0].attributes[0].default",
      "has 0 bytes; the minimum is 1 (minimumLength)"),
    Case(
      attribute(#""type": "text", "default": "ä", "maximumLength": 1"#), "entities[0].attributes[0].default",
      "has 2 bytes; the maximum is 1 (maximumLength)"),
    Case(
      attribute(#""type": "data", "default": "aGVsbG8=", "maximumLength": 4"#), "entities[0].attributes[0].default",
      "has 5 bytes; the maximum is 4 (maximumLength)"),
    Case(
      attribute(#""type": "string", "default": "1234", "pattern": "[0-9]{5}""#), "entities[0].attributes[0].default",
      "does not match [0-9]{5} (pattern)"),
    Case(
      attribute(
        #""type": "enumeration", "enumeration": "E", "default": "c""#,
        more: #""enumerations": [{"name": "E", "cases": ["a", "b"]}], "#), "entities[0].attributes[0].default",
      "is not one of a, b"),
    Case(
      attribute(#""type": "integer", "minimum": 2, "maximum": 1"#), "entities[0].attributes[0].maximum",
      "is less than the minimum"),
    Case(
      attribute(#""type": "integer", "maximumLength": 2"#), "entities[0].attributes[0]", "a length is not allowed for"),
    Case(
      attribute(#""type": "string", "minimumLength": 2, "maximumLength": 1"#),
      "entities[0].attributes[0].maximumLength", "is less than the minimumLength"),
    Case(
      attribute(#""type": "integer", "fullText": true"#), "entities[0].attributes[0].fullText", "is not allowed for"),
    Case(
      attribute(#""type": "string", "assigned": "sequence""#), "entities[0].attributes[0].assigned",
      "is only allowed for the type integer"),
    Case(
      attribute(#""type": "integer", "assigned": "sequence", "minimum": 1"#), "entities[0].attributes[0].assigned",
      "counts from 1"),
    Case(
      attribute(#""type": "integer", "assigned": "sequence", "default": 1"#), "entities[0].attributes[0].default",
      "the server assigns"),
    Case(
      attribute(#""type": "integer", "pattern": "1""#), "entities[0].attributes[0].pattern", "not allowed for the type"
    ),
    Case(attribute(#""type": "string", "pattern": "(""#), "entities[0].attributes[0].pattern", "column "),
    Case(
      attribute(#""type": "integer", "transient": true, "minimum": 1"#), "entities[0].attributes[0].minimum",
      "can't be combined with transient"),
    Case(
      attribute(#""type": "integer", "transient": true, "maximum": 1"#), "entities[0].attributes[0].maximum",
      "can't be combined with transient"),
    Case(
      attribute(#""type": "string", "transient": true, "minimumLength": 0"#),
      "entities[0].attributes[0].minimumLength", "can't be combined with transient"),
    Case(
      attribute(#""type": "string", "transient": true, "maximumLength": 1"#),
      "entities[0].attributes[0].maximumLength", "can't be combined with transient"),
    Case(
      attribute(#""type": "string", "transient": true, "pattern": "a""#), "entities[0].attributes[0].pattern",
      "can't be combined with transient"),
    Case(
      attribute(#""type": "date", "transient": true, "assigned": "created""#), "entities[0].attributes[0].assigned",
      "can't be combined with transient"),
    Case(
      attribute(#""type": "string", "transient": true, "indexed": true"#), "entities[0].attributes[0].indexed",
      "can't be combined with transient"),
    Case(
      attribute(#""type": "string", "transient": true, "fullText": true"#), "entities[0].attributes[0].fullText",
      "can't be combined with transient"),
    Case(
      entity(#""attributes": [{"name": "x", "type": "string", "transient": true}], "unique": [["x"]]"#),
      "entities[0].unique[0]", "has no stored attribute and no to-one relationship \"x\""),
  ]

  static let relationships: [Case] = [
    Case(
      relationships(#"{"name": "b", "destination": "Z", "inverse": "a"}"#, other: ""),
      "entities[0].relationships[0].destination", "there is no entity \"Z\""),
    Case(
      relationships(#"{"name": "b", "destination": "B", "inverse": "a"}"#, other: ""),
      "entities[0].relationships[0].inverse", "B declares no relationship \"a\""),
    Case(
      relationships(
        #"{"name": "b", "destination": "B", "inverse": "a"}, {"name": "c", "destination": "B", "inverse": "a"}"#,
        other: #"{"name": "a", "destination": "A", "inverse": "b"}"#), "entities[0].relationships[1].inverse",
      "B.a has A.b as its inverse"),
    Case(
      relationships(#"{"name": "b", "destination": "A", "inverse": "b"}"#, other: ""),
      "entities[0].relationships[0].inverse", "can't be its own inverse"),
    Case(
      relationships(
        #"{"name": "b", "destination": "B", "inverse": "a", "minimumCount": 1}"#,
        other: #"{"name": "a", "destination": "A", "inverse": "b"}"#), "entities[0].relationships[0]",
      "a count is only allowed for a to-many"),
    Case(
      relationships(
        #"{"name": "b", "destination": "B", "inverse": "a", "toMany": true, "minimumCount": 2, "maximumCount": 1}"#,
        other: #"{"name": "a", "destination": "A", "inverse": "b"}"#), "entities[0].relationships[0].maximumCount",
      "is less than the minimumCount"),
    Case(
      relationships(
        #"{"name": "b", "destination": "B", "inverse": "a", "ordered": true}"#,
        other: #"{"name": "a", "destination": "A", "inverse": "b"}"#),
      "entities[0].relationships[0].ordered", "is only allowed for a to-many relationship"),
    Case(
      relationships(
        #"{"name": "b", "destination": "B", "inverse": "a", "toMany": true, "ordered": true}"#,
        other: #"{"name": "a", "destination": "A", "inverse": "b", "toMany": true, "ordered": true}"#),
      "entities[0].relationships[0].ordered", "the inverse \"a\" is ordered already; only one side can be"),
    Case(entity(#""unique": [["x"]]"#), "entities[0].unique[0]", "has no stored attribute and no to-one"),
    Case(
      entity(#""attributes": [{"name": "x", "type": "bool"}], "unique": [["x", "x"]]"#), "entities[0].unique[0]",
      "names a property twice"),
    Case(
      entity(#""attributes": [{"name": "x", "type": "bool"}], "unique": [["x"], ["x"]]"#), "entities[0].unique[1]",
      "twice"),
    Case(unique([0...32], of: 33), "entities[0].unique[0]", "names at most 32 properties"),
    Case(unique((0...100).map { $0...$0 }, of: 101), "entities[0].unique", "at most 100 unique constraints"),
  ]

  static let composites: [Case] = [
    Case(composite(""), "composites[0].attributes", "at least one attribute"),
    Case(
      composite(#"{"name": "x", "type": "bool"}, {"name": "X", "type": "bool"}"#), "composites[0].attributes[1].name",
      "\"X\" is already used by composites[0].attributes[0]"),
    Case(composite(#"{"name": "id", "type": "bool"}"#), "composites[0].attributes[0].name", "is reserved"),
    Case(
      composite(#"{"name": "x", "type": "composite", "composite": "C"}"#), "composites[0].attributes[0].type",
      "can't contain a composite"),
    Case(
      composite(#"{"name": "x", "type": "date", "assigned": "created"}"#), "composites[0].attributes[0].assigned",
      "can't assign a member of a composite"),
    Case(
      composite(#"{"name": "x", "type": "integer", "derived": "a * b"}"#), "composites[0].attributes[0].derived",
      "a member of a composite can't be derived"),
    Case(
      composite(#"{"name": "x", "type": "integer", "default": "a"}"#), "composites[0].attributes[0].default",
      "of the type integer"),
    Case(
      composite(#"{"name": "x", "type": "string", "default": "a", "pattern": "b"}"#),
      "composites[0].attributes[0].default", "does not match b (pattern)"),
    Case(
      file(
        #""composites": [{"name": "a", "attributes": [{"name": "x", "type": "bool"}]}], "entities": [{"name": "A"}]"#),
      "composites[0].name", "another composite, entity or enumeration is called \"a\""),
    Case(
      file(
        #""composites": [\#((0...1_000).map { #"{"name": "C\#($0)", "attributes": []}"# }.joined(separator: ","))], "#
          + #""entities": [{"name": "A"}]"#), "composites", "at most 1000 composites"),
    Case(
      attribute(#""type": "string", "composite": "C""#), "entities[0].attributes[0].composite",
      "is only allowed for the type composite"),
    Case(attribute(#""type": "composite""#), "entities[0].attributes[0].composite", "is missing"),
    Case(
      attribute(#""type": "composite", "composite": "C""#), "entities[0].attributes[0].composite",
      "there is no composite \"C\""),
    Case(
      attribute(#""type": "composite", "composite": "C", "indexed": true"#, more: address),
      "entities[0].attributes[0].indexed", "is not allowed for the type composite"),
    Case(
      entity(#""attributes": [{"name": "a", "type": "composite", "composite": "C"}]"#, more: address),
      "entities[0].attributes[0].name", "the table uses it"),
    Case(
      entity(#""attributes": [{"name": "unique", "type": "composite", "composite": "C"}]"#, more: address),
      "entities[0].attributes[0].name", "the table uses it"),
    Case(
      entity(
        #""attributes": [{"name": "x", "type": "composite", "composite": "C"}, {"name": "X", "type": "bool"}]"#,
        more: address), "entities[0].attributes[0].name", "is already used by entities[0].attributes[1]"),
  ]

  private static let address = #""composites": [{"name": "C", "attributes": [{"name": "street", "type": "string"}]}], "#

  private static func derived(_ text: String, _ members: String = "") -> String {
    entity(
      #""attributes": [{"name": "x", "type": "integer", "derived": "\#(text)"\#(members)}, {"name": "n", "type": "integer"}, {"name": "d", "type": "integer", "derived": "bs.@count"}], "relationships": [{"name": "b", "destination": "A", "inverse": "bs"}, {"name": "bs", "destination": "A", "inverse": "b", "toMany": true}]"#
    )
  }

  private static func rule(_ name: String, _ predicate: String, _ attribute: String = "") -> String {
    entities(
      #"{"name": "P", "attributes": [{"name": "n", "type": "integer"}, {"name": "t", "type": "bool", "transient": true}], "rules": [{"name": "first", "predicate": "n > 0"}], "relationships": [{"name": "b", "destination": "P", "inverse": "bs"}, {"name": "bs", "destination": "P", "inverse": "b", "toMany": true}]}, {"name": "A", "parent": "P", "rules": [{"name": "\#(name)", "predicate": "\#(predicate)"}]}"#
    )
  }

  private static func question(_ members: String) -> String {
    file(
      #""entities": [{"name": "A", "attributes": [{"name": "n", "type": "integer"}, {"name": "t", "type": "bool", "transient": true}]}], "fetchRequests": [{"name": "q", \#(members)}]"#
    )
  }

  static let language: [Case] = [
    Case(rule("First", "n > 0"), "entities[1].rules[0].name", "another rule here or in an ancestor"),
    Case(rule("Deny", "n > 0"), "entities[1].rules[0].name", "a rule that every model has"),
    Case(rule("minimumlength", "n > 0"), "entities[1].rules[0].name", "a rule that every model has"),
    Case(rule("missing", "n > 0"), "entities[1].rules[0].name", "a rule that every model has"),
    Case(rule("r", "n > "), "entities[1].rules[0].predicate", "column 5"),
    Case(rule("r", "m > 0"), "entities[1].rules[0].predicate", "column 1: A has no property \"m\""),
    Case(
      rule("r", "n > 0 AND t == TRUE"), "entities[1].rules[0].predicate", "column 11: A.t is transient"
    ),
    Case(rule("r", "b.n > 0"), "entities[1].rules[0].predicate", "reads other objects"),
    Case(rule("r", "bs.@count > 0"), "entities[1].rules[0].predicate", "reads other objects"),
    Case(rule("r", "n > 0 OR now() > date('2026-01-01')"), "entities[1].rules[0].predicate", "uses now()"),
    Case(
      derived("n * 1.5"), "entities[0].attributes[0].derived", "is a number, but the attribute has the type integer"),
    Case(
      derived("string(n)"), "entities[0].attributes[0].derived", "is text, but the attribute has the type integer"),
    Case(derived("n + second(now())"), "entities[0].attributes[0].derived", "uses now()"),
    Case(derived("bs.@count", #", "default": 1"#), "entities[0].attributes[0].default", "can't be combined with"),
    Case(
      derived("bs.@count", #", "assigned": "sequence""#), "entities[0].attributes[0].assigned",
      "can't be combined with derived"),
    Case(
      derived("bs.@count", #", "transient": true"#), "entities[0].attributes[0].transient", "can't be combined with"),
    Case(derived("b.@count"), "entities[0].attributes[0].derived", "A has no to-many relationship \"b\""),
    Case(
      entity(
        #""attributes": [{"name": "x", "type": "string", "derived": "bs.@count"}], "relationships": [{"name": "b", "destination": "A", "inverse": "bs"}, {"name": "bs", "destination": "A", "inverse": "b", "toMany": true}]"#
      ), "entities[0].attributes[0].derived", "a count needs the type integer"),
    Case(derived("m * n"), "entities[0].attributes[0].derived", "column "),
    Case(derived("1 + 1"), "entities[0].attributes[0].derived", "reads no attribute of the object"),
    Case(derived("n * d"), "entities[0].attributes[0].derived", "reads d; it may only read the object's own"),
    Case(derived("n * b.n"), "entities[0].attributes[0].derived", "reads b.n; it may only read"),
    Case(question(#""entity": "Z""#), "fetchRequests[0].entity", "there is no entity \"Z\""),
    Case(question(#""entity": "A", "predicate": "n >""#), "fetchRequests[0].predicate", "column 4"),
    Case(question(#""entity": "A", "sort": "-m""#), "fetchRequests[0].sort", "A has no property"),
    Case(question(#""entity": "A", "sort": "n,t""#), "fetchRequests[0].sort", "A.t is transient"),
    Case(question(#""entity": "A", "limit": "3""#), "fetchRequests[0].limit", "must be a whole number"),
    Case(
      file(
        #""entities": [{"name": "A"}], "fetchRequests": [{"name": "q", "entity": "A"}, {"name": "Q", "entity": "A"}]"#),
      "fetchRequests[1].name", "another fetch request is called \"Q\""),
    Case(
      file(
        #""entities": [{"name": "A"}], "fetchRequests": [\#((0...1_000).map { #"{"name": "q\#($0)", "entity": "A"}"# }.joined(separator: ","))]"#
      ), "fetchRequests", "at most 1000 fetch requests"),
  ]

  @Test(arguments: shape + names + attributes + relationships + composites + language)
  func errorHasPathAndMessage(_ broken: Case) throws {
    let error = try #require(throws: ModelError.self) { try Model(parsing: broken.source.utf8) }
    let reported = error.mistakes.filter { $0.path == broken.path }
    #expect(!reported.isEmpty, "\(error)")
    #expect(reported.contains { $0.reason.contains(broken.words) || broken.words.isEmpty }, "\(error)")
  }

  @Test func maximumNumberOfUniqueConstraintsIsAccepted() throws {
    let lists = [Array(0..<32)] + (0..<99).map { [$0] }
    let model = try Model(parsing: Self.unique(lists, of: 99).utf8)
    #expect(model.entities[0].uniquenessConstraints.map(\.count) == [32] + Array(repeating: 1, count: 99))
  }

  @Test func tooLargeFileIsNotParsed() throws {
    let source = [UInt8](repeating: UInt8(ascii: " "), count: Model.maximumFileSize + 1)
    let error = try #require(throws: ModelError.self) { try Model(parsing: source) }
    #expect(error.mistakes.map(\.path) == [""])
    #expect(error.description.contains("at most \(Model.maximumFileSize)"))
  }

  /// A mistake in a composite's members is reported once, however often the composite is used.
  @Test func errorInCompositeIsReportedOnce() throws {
    let source = Self.file(
      #""composites": [{"name": "C", "attributes": [{"name": "x", "type": "integer", "default": "a"}]}], "entities": [{"name": "A", "attributes": [{"name": "p", "type": "composite", "composite": "C"}, {"name": "q", "type": "composite", "composite": "C"}]}]"#
    )
    let error = try #require(throws: ModelError.self) { try Model(parsing: source.utf8) }
    #expect(error.mistakes.map(\.path) == ["composites[0].attributes[0].default"])
  }

  /// A composite counts with all its members, before any of them is made.
  @Test func compositesWithTooManyMembersAreRefusedEarly() throws {
    let members = (0..<900).map { #"{"name": "m\#($0)", "type": "bool"}"# }.joined(separator: ",")
    let uses = (0..<900).map { #"{"name": "c\#($0)", "type": "composite", "composite": "C"}"# }.joined(separator: ",")
    let source = Self.file(
      #""composites": [{"name": "C", "attributes": [\#(members)]}], "entities": [{"name": "A", "attributes": [\#(uses)]}]"#
    )
    let error = try #require(throws: ModelError.self) { try Model(parsing: source.utf8) }
    #expect(error.mistakes.map(\.path) == ["entities[0]"])
    #expect(error.description.contains("more than 1000 properties together"))
  }
}
