import GraphModel

/// A generator of random predicates in text form for a model, with every kind of path, operator and function.
///
/// All of them can be parsed. Those that use `now()` must be bound, to the same time in every compared evaluation.
public struct RandomPredicate {
  let model: Model
  var random: SeededGenerator
  private var variables = 0

  /// Creates a generator; the same seed gives the same predicates.
  public init(model: Model, seed: UInt64) {
    self.model = model
    random = SeededGenerator(seed: seed)
  }

  /// The next predicate for objects of an entity.
  /// - Parameter depth: the nesting depth, from 0; deeper predicates nest less.
  public mutating func text(for entity: Entity, depth: Int = 0) -> String {
    variables = 0
    return predicate(Scope(prefix: "", entity: entity), depth: depth)
  }

  /// The root of paths: the object itself, or the variable of a subquery.
  struct Scope {
    let prefix: String
    let entity: Entity
  }

  private mutating func predicate(_ scope: Scope, depth: Int) -> String {
    switch Int.random(in: 0..<(depth < 3 ? 11 : 7), using: &random) {
    case 0: calculated(scope)
    case 7: "(\(predicate(scope, depth: depth + 1)) AND \(predicate(scope, depth: depth + 1)))"
    case 8: "(\(predicate(scope, depth: depth + 1)) OR \(predicate(scope, depth: depth + 1)))"
    case 9: "NOT (\(predicate(scope, depth: depth + 1)))"
    case 10: subquery(scope, depth: depth)
    default: comparison(scope)
    }
  }

  private mutating func subquery(_ scope: Scope, depth: Int) -> String {
    guard let relationship = random.pick(scope.entity.relationships.filter { $0.relationship?.isToMany == true }),
      let destination = relationship.relationship.flatMap({ model.entity($0.destination) }), variables < 2
    else { return comparison(scope) }
    variables += 1
    let name = "$v\(variables)"
    let inner = predicate(Scope(prefix: name + ".", entity: destination), depth: depth + 1)
    variables -= 1
    return "SUBQUERY(\(scope.prefix)\(relationship.name), \(name), \(inner)).@count "
      + "\(choice("==", ">", "<=", "!=")) \(number(0...2))"
  }

  // MARK: - Comparisons of a path

  private mutating func comparison(_ scope: Scope) -> String {
    let (path, isMany, attribute) = self.path(scope)
    let quantifier = isMany ? choice("ANY ", "ALL ", "NONE ") : ""
    guard let attribute else {
      return quantifier + path + " \(choice("==", "!=")) NULL"
    }
    let value = { (generator: inout Self) in generator.literal(attribute) }
    let isText = [.string, .text, .uri, .json, .enumeration].contains(attribute.kind)
    switch Int.random(in: 0..<11, using: &random) {
    case 0: return "\(quantifier)\(path) IN {\(value(&self)), \(value(&self)), NULL}"
    case 1 where attribute.kind != .bool:
      return "\(quantifier)\(path) BETWEEN {\(value(&self)), \(value(&self))}"
    case 2 where isText: return "\(quantifier)\(path) BEGINSWITH\(options()) \(fragment())"
    case 3 where isText: return "\(quantifier)\(path) ENDSWITH\(options()) \(fragment())"
    case 4 where isText: return "\(quantifier)\(path) CONTAINS\(options()) \(fragment())"
    case 5 where isText: return "\(quantifier)\(path) LIKE\(options()) \"*\(letter())?*\""
    case 6 where isText: return "\(quantifier)\(path) MATCHES\(options()) \".*[\(letter())0-9]+ ?.*\""
    case 7: return "\(quantifier)\(path) \(choice("==", "!=")) NULL"
    case 8 where attribute.isFullText, 9 where attribute.isFullText: return "\(quantifier)\(path) SEARCH \(search())"
    default:
      let operation = attribute.kind == .bool ? choice("==", "!=") : order()
      return "\(quantifier)\(path) \(operation)\(isText ? options() : "") \(value(&self))"
    }
  }

  /// A random path from the scope's object, over up to two relationships, rarely over up to eight.
  private mutating func path(_ scope: Scope) -> (text: String, isMany: Bool, attribute: Attribute?) {
    var entity = scope.entity
    var names = [String]()
    var isMany = false
    let (most, chance) = random.chance(6) ? (8, 90) : (2, 35)
    while names.count < most, random.chance(chance), let hop = random.pick(entity.relationships),
      let relationship = hop.relationship, let next = model.entity(relationship.destination)
    {
      if relationship.isToMany, random.chance(40) {
        let inner = random.pick(next.attributes.filter { $0.slot != nil && $0.attribute?.kind != .json })
        guard let inner, random.chance(70), let attribute = inner.attribute, attribute.kind != .bool else {
          return (scope.prefix + (names + [hop.name, "@count"]).joined(separator: "."), isMany, Self.plain(.integer))
        }
        let isNumber = [.integer, .double, .decimal].contains(attribute.kind)
        let aggregate = isNumber ? choice("min", "max", "sum", "avg") : choice("min", "max")
        let kind = aggregate == "avg" && attribute.kind == .integer ? Attribute.Kind.double : attribute.kind
        return (
          scope.prefix + (names + [hop.name, "@" + aggregate, inner.name]).joined(separator: "."), isMany,
          Self.plain(kind)
        )
      }
      names.append(hop.name)
      isMany = isMany || relationship.isToMany
      entity = next
    }
    let ends = entity.attributes.filter { $0.slot != nil }
    guard random.chance(90), let end = random.pick(ends) else {
      return (scope.prefix + (names + ["id"]).joined(separator: "."), isMany, nil)
    }
    return (scope.prefix + (names + [end.name]).joined(separator: "."), isMany, end.attribute)
  }

  private static let plainAttributes = try? Model(
    parsing: """
      {"format": 1, "name": "Plain", "version": 1, "entities": [{"name": "P", "attributes": [
      {"name": "integer", "type": "integer"}, {"name": "double", "type": "double"},
      {"name": "decimal", "type": "decimal"}, {"name": "date", "type": "date"}, {"name": "uuid", "type": "uuid"},
      {"name": "data", "type": "data"}, {"name": "string", "type": "string"}]}]}
      """.utf8)

  /// An attribute for an aggregate of the given kind. An aggregate has no cases, so literals need not be among them.
  private static func plain(_ kind: Attribute.Kind) -> Attribute? {
    let name = GraphValueType(kind) == .string ? "string" : kind.rawValue
    return plainAttributes?.entity(named: "P")?.property(named: name)?.attribute
  }

  // MARK: - Words and literals

  /// A random element of `words`.
  mutating func choice(_ words: String...) -> String { random.element(of: words) }

  mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

  mutating func order() -> String { choice("==", "!=", "<", "<=", ">", ">=") }

  mutating func letter() -> String { choice("a", "n", "1", "s", "b", "cat", "É") }

  mutating func fragment() -> String { "\"\(random.chance(10) ? "" : letter())\"" }

  mutating func options() -> String { choice("", "", "[c]", "[d]", "[cd]") }

  /// A full-text search term: up to three words, in random order and spelling.
  private mutating func search() -> String {
    let words = (0..<number(0...3)).map { _ in choice("a", "cat", "CA", "sea", "by", "ÅLES", "ales", "th", "-", "dog") }
    return "\"" + words.joined(separator: choice(" ", ", ")) + "\""
  }

  /// A date as a string: with days and fractions of seconds around 1970, and around the times of the tests.
  mutating func moment() -> String {
    switch number(0...4) {
    case 0: "\"20\(number(18...22))-03-0\(number(1...9))\""
    case 1: "\"1969-12-31T23:59:59.\(number(0...9))\(choice("", "00001", "99999"))Z\""
    case 2: "\"1970-01-0\(number(1...2))\""
    case 3: "\"19\(number(10...69))-0\(number(1...9))-1\(number(0...9)) 01:30:00.5+02:00\""
    default: "\"2023-11-1\(number(3...6))T\(number(10...23)):13:\(number(10...59))Z\""
    }
  }

  private mutating func literal(_ attribute: Attribute) -> String {
    switch attribute.kind {
    case .bool: random.chance(50) ? "TRUE" : "FALSE"
    case .integer: "\(number(-2...10))"
    case .double: "\(Double(number(-6...6)) / 2)"
    case .decimal: "\"\(number(-9...9)).\(number(0...9))\""
    case .string, .text: "\"\(letter())\(letter())\""
    case .json: choice(#""{\"a\":1}""#, #""5""#, #""\"cat\"""#, #""[]""#)
    case .uri: "\"a:\(letter())\""
    case .enumeration: "\"\(random.pick(attribute.cases) ?? "")\""
    case .date: moment()
    case .uuid: "\"00000000-0000-0000-0000-00000000000\(number(0...4))\""
    case .data: "\"\(choice("AAEA", "AAEC", "AAEE", "AAE=", ""))\""
    }
  }
}
