import GraphModel

/// Comparisons of calculated values: every function of the language, for every type, on either side.
///
/// Constants stay small, because a predicate with an invalid constant (`integer("a")`, a date beyond the year 9999)
/// cannot be parsed.
extension RandomPredicate {
  private static let types: [GraphValueType] = [
    .date, .date, .date, .duration, .duration, .integer, .integer, .double, .decimal, .string, .string, .uuid, .data,
    .bool,
  ]

  /// A comparison of two expressions of one type.
  mutating func calculated(_ scope: Scope) -> String {
    let type = random.element(of: Self.types)
    let left = expression(type, scope, depth: 0)
    switch number(0...9) {
    case 0: return "\(left) IN {\(side(type, scope)), \(side(type, scope)), NULL}"
    case 1 where type != .bool: return "\(left) BETWEEN {\(side(type, scope)), \(side(type, scope))}"
    case 2 where type == .string: return "\(left) LIKE\(options()) \"*\(letter())?*\""
    case 3 where type == .string: return "\(left) MATCHES\(options()) \".*[\(letter())0-9]+ ?.*\""
    case 4...6 where type == .string:
      return "\(left) \(choice("BEGINSWITH", "ENDSWITH", "CONTAINS"))\(options()) \(side(type, scope))"
    case 7: return "\(left) \(choice("==", "!=")) NULL"
    case 8 where type != .bool:
      // A constant may also be on the left.
      return "\(constant(type)) \(order()) \(left)"
    default:
      let operation = type == .bool ? choice("==", "!=") : order()
      return "\(left) \(operation)\(type == .string ? options() : "") \(side(type, scope))"
    }
  }

  private mutating func side(_ type: GraphValueType, _ scope: Scope) -> String {
    random.chance(50) ? constant(type) : expression(type, scope, depth: 1)
  }

  /// A constant with an explicit or implied type.
  private mutating func constant(_ type: GraphValueType) -> String {
    switch type {
    case .date: random.chance(40) ? relative() : "date(\(moment()))"
    case .duration: duration()
    case .integer: "\(number(-3...10))"
    case .double: "\(Double(number(-6...6)) / 2)"
    case .decimal: "decimal(\"\(number(-9...9)).\(number(0...9))\")"
    case .string: random.chance(20) ? "lowercase(\"N\")" : "\"\(letter())\""
    case .uuid: "uuid(\"00000000-0000-0000-0000-00000000000\(number(0...4))\")"
    case .data: "data(\"\(choice("AAEA", "AAEC", ""))\")"
    case .bool: choice("TRUE", "FALSE")
    case .null, .object: "NULL"
    }
  }

  /// A time relative to now.
  private mutating func relative() -> String {
    random.chance(20) ? choice("now()", "startOfDay(now())") : "now() \(choice("+", "-")) \(duration())"
  }

  private mutating func duration() -> String {
    switch number(0...6) {
    case 0: "weeks(\(number(-2...60)))"
    case 1: "hours(\(number(-30...30)).\(number(0...9)))"
    case 2: "minutes(\(number(-90...90)))"
    case 3: "seconds(\(number(-90...90)).\(number(0...9)))"
    case 4: "microseconds(\(number(-3...3)))"
    default: "days(\(number(-5...5)))"
    }
  }

  // MARK: - Expressions

  /// An expression that depends on the object, if the entity has a suitable attribute.
  private mutating func expression(_ type: GraphValueType, _ scope: Scope, depth: Int) -> String {
    guard depth < 3, random.chance(75) else { return path(type, scope) ?? made(type, scope, depth: 3) }
    return made(type, scope, depth: depth + 1)
  }

  private mutating func made(_ type: GraphValueType, _ scope: Scope, depth: Int) -> String {
    switch type {
    case .date: date(scope, depth)
    case .duration: span(scope, depth)
    case .integer: whole(scope, depth)
    case .double: fraction(scope)
    case .decimal: decimal(scope)
    case .string: text(scope, depth)
    case .uuid where random.chance(50): path(.uuid, scope).map { "uuid(string(\($0)))" } ?? constant(type)
    case .data where random.chance(30): path(.string, scope).map { "data(\($0))" } ?? constant(type)
    case .uuid, .data, .bool: ifNull(type, scope)
    case .null, .object: "NULL"
    }
  }

  /// An attribute of the type, of the object itself or at the end of a to-one relationship.
  private mutating func path(_ type: GraphValueType, _ scope: Scope) -> String? {
    var prefix = scope.prefix
    var entity = scope.entity
    let hops = entity.relationships.filter { $0.relationship?.isToMany == false }
    if random.chance(25), let hop = random.pick(hops),
      let next = hop.relationship.flatMap({ model.entity($0.destination) })
    {
      prefix += hop.name + "."
      entity = next
    }
    let ends = entity.attributes.filter { property in
      property.slot != nil && property.attribute.map { GraphValueType($0.kind) } == type
    }
    guard let end = random.pick(ends), let kind = end.attribute?.kind else { return nil }
    let path = prefix + end.name
    // Beside a URI, a case or JSON, a literal would have to be valid for that type.
    return [.uri, .enumeration, .json].contains(kind) ? "string(\(path))" : path
  }

  private mutating func ifNull(_ type: GraphValueType, _ scope: Scope) -> String {
    guard let path = path(type, scope) else { return constant(type) }
    let hops = scope.entity.relationships.filter { $0.relationship?.isToMany == false }
    if random.chance(30), let hop = random.pick(hops),
      let next = hop.relationship.flatMap({ model.entity($0.destination) })
    {
      let way = scope.prefix + hop.name
      let value = self.path(type, Scope(prefix: way + ".", entity: next)) ?? path
      return "ifNull(\(value), given(\(way), \(constant(type))))"
    }
    return "ifNull(\(path), \(constant(type)))"
  }

  private mutating func date(_ scope: Scope, _ depth: Int) -> String {
    switch number(0...6) {
    case 0: "startOfDay(\(expression(.date, scope, depth: depth)))"
    case 1, 2: "\(path(.date, scope) ?? "now()") \(choice("+", "-")) (\(expression(.duration, scope, depth: depth)))"
    case 3: "(\(expression(.duration, scope, depth: depth))) + \(path(.date, scope) ?? "now()")"
    case 4: path(.date, scope).map { "date(string(\($0)))" } ?? "now()"
    case 5: relative()
    default: ifNull(.date, scope)
    }
  }

  private mutating func span(_ scope: Scope, _ depth: Int) -> String {
    let unit = choice("days", "hours", "minutes", "seconds", "microseconds", "weeks")
    switch number(0...6) {
    case 0: return path(.integer, scope).map { "\(unit)(\($0))" } ?? duration()
    case 1: return path(.double, scope).map { "\(unit)(\($0))" } ?? duration()
    case 2: return "(\(expression(.duration, scope, depth: depth))) \(choice("*", "/")) \(number(1...3))"
    case 3: return "\(duration()) * \(path(.integer, scope) ?? "2")"
    case 4: return "(\(expression(.duration, scope, depth: depth))) \(choice("+", "-")) \(duration())"
    case 5:
      guard let path = path(.date, scope) else { return duration() }
      return "ifNull(\(path) - now(), \(duration()))"
    default: return "now() - \(path(.date, scope) ?? "now()")"
    }
  }

  private mutating func whole(_ scope: Scope, _ depth: Int) -> String {
    let date = expression(.date, scope, depth: depth)
    let part = choice("year", "month", "day", "weekday", "hour", "minute", "second")
    switch number(0...10) {
    case 0...3: return "\(part)(\(date))"
    case 4: return "length(\(expression(.string, scope, depth: depth)))"
    case 5: return "abs(\(expression(.integer, scope, depth: depth)))"
    case 6: return "modulus(\(expression(.integer, scope, depth: depth)), \(choice("2", "3", "-4", "-1")))"
    case 7: return path(random.element(of: [.double, .decimal, .bool]), scope).map { "integer(\($0))" } ?? "7"
    case 8: return "\(choice("ceiling", "floor", "round", "trunc"))(\(expression(.integer, scope, depth: depth)))"
    case 9: return ifNull(.integer, scope)
    default:
      return path(.integer, scope).map { "(\($0) \(choice("+", "-", "*", "/")) \(number(-3...3))) * 2" } ?? "7"
    }
  }

  private mutating func fraction(_ scope: Scope) -> String {
    switch number(0...6) {
    case 0: return "sqrt(\(path(random.element(of: [.integer, .double]), scope) ?? "2"))"
    case 1: return path(.double, scope).map { "power(\($0), \(number(-2...3)))" } ?? "0.5"
    case 2: return path(.decimal, scope).map { "\(choice("ceiling", "floor", "round", "trunc"))(\($0))" } ?? "0.5"
    case 3: return path(.decimal, scope).map { "double(\($0))" } ?? "0.5"
    case 4: return path(.string, scope).map { "double(\($0))" } ?? "0.5"
    case 5: return ifNull(.double, scope)
    default:
      let other = random.pick([GraphValueType.integer, .double, .decimal]).flatMap { path($0, scope) } ?? "2"
      return path(.double, scope).map { "(\($0) \(choice("+", "-", "*", "/")) \(other)) - 0.5" } ?? "0.5"
    }
  }

  private mutating func decimal(_ scope: Scope) -> String {
    switch number(0...4) {
    case 0: return "abs(\(path(.decimal, scope) ?? "decimal(\"-1.5\")"))"
    case 1:
      return path(random.element(of: [.integer, .double, .string]), scope).map { "decimal(\($0))" }
        ?? constant(.decimal)
    case 2: return ifNull(.decimal, scope)
    default:
      let other = path(random.element(of: [.integer, .decimal]), scope) ?? "\(number(1...4)).5"
      let sum = "\(path(.decimal, scope) ?? constant(.decimal)) \(choice("+", "-", "*", "/")) \(other)"
      return "(\(sum)) * \(number(1...3))"
    }
  }

  private mutating func text(_ scope: Scope, _ depth: Int) -> String {
    switch number(0...9) {
    case 0: return "lowercase(\(expression(.string, scope, depth: depth)))"
    case 1: return "uppercase(\(expression(.string, scope, depth: depth)))"
    case 2: return "canonical(\(expression(.string, scope, depth: depth)))"
    case 3: return "trimmed(concat(\" \", \(expression(.string, scope, depth: depth)), \"\\t\"))"
    case 4: return "concat(\(expression(.string, scope, depth: depth)), \(fragment()))"
    case 5: return "concat(\(fragment()), \(path(.string, scope) ?? "\"b\""), \(path(.string, scope) ?? "\"c\""))"
    case 6, 7:
      let type = random.element(of: [GraphValueType.date, .integer, .double, .decimal, .bool, .uuid])
      return path(type, scope).map { "string(\($0))" } ?? "\"a\""
    case 8:
      let other = choice("NULL", "\"a\"", "\"\"")
      return "oneOf(\(expression(.string, scope, depth: depth)), \(other), \"junior\", \"cat\", \"n\(number(1...9))\")"
    default: return ifNull(.string, scope)
    }
  }
}
