import GraphModel

/// Predicates in their text form, made at random from a model: every type of path, operator and function. All of them can
/// be read.
public struct RandomPredicate {
  private let model: Model
  private var random: SeededGenerator
  private var variables = 0

  public init(model: Model, seed: UInt64) {
    self.model = model
    random = SeededGenerator(seed: seed)
  }

  public mutating func text(for entity: Entity, depth: Int = 0) -> String {
    variables = 0
    return predicate(Scope(prefix: "", entity: entity), depth: depth)
  }

  /// Where names start: bare ones, or those of a subquery's variable.
  private struct Scope {
    let prefix: String
    let entity: Entity
  }

  private mutating func predicate(_ scope: Scope, depth: Int) -> String {
    switch Int.random(in: 0..<(depth < 3 ? 10 : 6), using: &random) {
    case 6: "(\(predicate(scope, depth: depth + 1)) AND \(predicate(scope, depth: depth + 1)))"
    case 7: "(\(predicate(scope, depth: depth + 1)) OR \(predicate(scope, depth: depth + 1)))"
    case 8: "NOT (\(predicate(scope, depth: depth + 1)))"
    case 9: subquery(scope, depth: depth)
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
    let operation = random.pick(["==", ">", "<=", "!="]) ?? "=="
    return "SUBQUERY(\(scope.prefix)\(relationship.name), \(name), \(inner)).@count \(operation) "
      + "\(Int.random(in: 0...2, using: &random))"
  }

  // MARK: - Comparisons

  private mutating func comparison(_ scope: Scope) -> String {
    let (path, isMany, attribute) = self.path(scope)
    let quantifier = isMany ? (random.pick(["ANY ", "ALL ", "NONE "]) ?? "") : ""
    guard let attribute else {
      return quantifier + path + " \(random.pick(["==", "!="]) ?? "==") NULL"
    }
    if !isMany, random.chance(30), let calculated = calculation(path, attribute, scope) { return calculated }
    let value = { (generator: inout Self) in generator.literal(attribute) }
    let isText = [.string, .text, .uri].contains(attribute.kind)
    switch Int.random(in: 0..<10, using: &random) {
    case 0: return "\(quantifier)\(path) IN {\(value(&self)), \(value(&self)), NULL}"
    case 1 where attribute.kind != .bool && attribute.kind != .json:
      return "\(quantifier)\(path) BETWEEN {\(value(&self)), \(value(&self))}"
    case 2 where isText: return "\(quantifier)\(path) BEGINSWITH \(fragment())"
    case 3 where isText: return "\(quantifier)\(path) ENDSWITH\(options()) \(fragment())"
    case 4 where isText: return "\(quantifier)\(path) CONTAINS\(options()) \(fragment())"
    case 5 where isText: return "\(quantifier)\(path) LIKE\(options()) \"*\(letter())?*\""
    case 6 where isText: return "\(quantifier)\(path) MATCHES\(options()) \".*[\(letter())0-9]+ ?.*\""
    case 7: return "\(quantifier)\(path) \(random.pick(["==", "!="]) ?? "==") NULL"
    case 8 where attribute.isFullText: return "\(quantifier)\(path) SEARCH \"\(letter())\""
    default:
      let operation = random.pick(attribute.kind == .bool ? ["==", "!="] : ["==", "!=", "<", "<=", ">", ">="]) ?? "=="
      return "\(quantifier)\(path) \(operation)\(isText ? options() : "") \(value(&self))"
    }
  }

  /// A path from the scope's object over up to two relationships.
  private mutating func path(_ scope: Scope) -> (text: String, isMany: Bool, attribute: Attribute?) {
    var entity = scope.entity
    var names = [String]()
    var isMany = false
    while names.count < 2, random.chance(35), let hop = random.pick(entity.relationships),
      let relationship = hop.relationship, let next = model.entity(relationship.destination)
    {
      if relationship.isToMany, random.chance(40) {
        let numbers = next.attributes.filter {
          [.integer, .double, .decimal].contains($0.attribute?.kind) && $0.slot != nil
        }
        guard let inner = random.pick(numbers), random.chance(70), let kind = inner.attribute?.kind else {
          return (scope.prefix + (names + [hop.name, "@count"]).joined(separator: "."), isMany, Self.number(.integer))
        }
        let aggregate = random.pick(["min", "max", "sum", "avg"]) ?? "sum"
        let result: Attribute.Kind = aggregate == "avg" && kind == .integer ? .double : kind
        return (
          scope.prefix + (names + [hop.name, "@" + aggregate, inner.name]).joined(separator: "."), isMany,
          Self.number(result)
        )
      }
      names.append(hop.name)
      isMany = isMany || relationship.isToMany
      entity = next
    }
    let ends = entity.attributes.filter { $0.slot != nil && $0.attribute?.kind != .json }
    guard random.chance(90), let end = random.pick(ends) else {
      return (scope.prefix + (names + ["id"]).joined(separator: "."), isMany, nil)
    }
    return (scope.prefix + (names + [end.name]).joined(separator: "."), isMany, end.attribute)
  }

  private static let numbers = try? Model(
    parsing: """
      {"format": 1, "name": "Numbers", "version": 1, "entities": [{"name": "N", "attributes": [
      {"name": "integer", "type": "integer"}, {"name": "double", "type": "double"},
      {"name": "decimal", "type": "decimal"}]}]}
      """.utf8)

  private static func number(_ kind: Attribute.Kind) -> Attribute? {
    numbers?.entity(named: "N")?.property(named: kind.rawValue)?.attribute
  }

  /// Something calculated from the path, against something else; nil for a type that nothing is calculated from.
  private mutating func calculation(_ path: String, _ attribute: Attribute, _ scope: Scope) -> String? {
    let operation = random.pick(["==", "!=", "<", "<=", ">", ">="]) ?? "=="
    switch attribute.kind {
    case .integer, .double, .decimal:
      let number = Int.random(in: -3...3, using: &random)
      let sign = random.pick(["+", "-", "*", "/"]) ?? "+"
      let others = scope.entity.attributes.filter { $0.attribute?.kind == attribute.kind && $0.slot != nil }
      if let other = random.pick(others), random.chance(50) {
        return "\(path) \(sign) \(number) \(operation) \(scope.prefix)\(other.name)"
      }
      return random.chance(50)
        ? "abs(\(path)) \(operation) \(abs(number))" : "(\(path) \(sign) \(number)) * 2 \(operation) \(number)"
    case .string, .text:
      return random.chance(50)
        ? "length(\(path)) \(operation) \(Int.random(in: 0...8, using: &random))"
        : "uppercase(\(path)) \(operation) \"\(letter().uppercased())\""
    case .date:
      return random.chance(50)
        ? "year(\(path)) \(operation) 2020" : "\(path) + days(2) \(operation) date(\(literal(attribute)))"
    default: return nil
    }
  }

  // MARK: - Literals

  private mutating func letter() -> String { random.pick(["a", "n", "1", "s", "b", "cat", "É"]) ?? "a" }

  private mutating func fragment() -> String { "\"\(random.chance(10) ? "" : letter())\"" }

  private mutating func options() -> String { random.pick(["", "", "[c]", "[d]", "[cd]"]) ?? "" }

  private mutating func literal(_ attribute: Attribute) -> String {
    switch attribute.kind {
    case .bool: random.chance(50) ? "TRUE" : "FALSE"
    case .integer: "\(Int.random(in: -2...10, using: &random))"
    case .double: "\(Double(Int.random(in: -6...6, using: &random)) / 2)"
    case .decimal: "\"\(Int.random(in: -9...9, using: &random)).\(Int.random(in: 0...9, using: &random))\""
    case .string, .text, .json: "\"\(letter())\(letter())\""
    case .uri: "\"a:\(letter())\""
    case .enumeration: "\"\(random.pick(attribute.cases) ?? "")\""
    case .date: "\"20\(Int.random(in: 18...22, using: &random))-03-0\(Int.random(in: 1...9, using: &random))\""
    case .uuid: "\"123e4567-e89b-12d3-a456-42661417400\(Int.random(in: 0...9, using: &random))\""
    case .data: "\"AAE\(random.pick(["A", "C", "E"]) ?? "A")\""
    }
  }
}
