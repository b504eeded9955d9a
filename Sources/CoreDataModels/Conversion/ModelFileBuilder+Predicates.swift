/// Paths and predicates in the names of the model file.
extension ModelFileBuilder {
  /// A path in the names of the model file; names that the source does not have stay as they are.
  func path(_ path: String, in entity: String) -> String {
    let parts = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    return walk(parts[...], from: entity).names.joined(separator: ".")
  }

  /// A predicate with the names of the model file. Strings and variables stay as they are.
  func predicate(_ text: String, of entity: String) -> String {
    var converter = PredicateConverter(builder: self, entity: entity, rest: text[...])
    return converter.run()
  }

  /// The converted parts of a path, and the entity at its end; nil if the path leaves the model or ends at a value.
  /// - Parameter entity: the entity at the start of the path; nil if it is not known, and the parts stay as they are.
  fileprivate func walk(_ parts: ArraySlice<String>, from entity: String?) -> (names: [String], end: String?) {
    var current = entity
    var composite: CompositeDraft?
    let names = parts.map { source -> String in
      // The operator of `books.@sum.pages` applies to the objects before it.
      if source.hasPrefix("@") { return source }
      if let owner = composite {
        composite = nil
        let isMember = owner.attributes.contains { $0.source == source }
        return isMember ? self.names.member(source, of: owner, in: draft.number) : source
      }
      guard let start = current, let owner = owner(of: source, from: start) else {
        if source.uppercased() != "SELF" { current = nil }
        return source
      }
      current = owner.relationships.first { $0.source == source }?.destination
      composite = owner.attributes.first { $0.source == source }.flatMap { draft.composite(of: $0) }
      return self.names.property(source, of: owner.source, in: draft.number)
    }
    return (names, current)
  }

  private func owner(of property: String, from entity: String) -> EntityDraft? {
    draft.lineage(of: entity).first { entity in
      entity.attributes.contains { $0.source == property } || entity.relationships.contains { $0.source == property }
    }
  }
}

/// Converts the names of a predicate. It tracks the variables of subqueries: in `SUBQUERY(books, $b, $b.id != nil)`,
/// a path after `$b` starts at the destination of `books`, and not at the entity of the request.
private struct PredicateConverter {
  private struct Subquery {
    /// The parentheses around its parts.
    let depth: Int
    /// Whether its first part, the path to the objects, was read.
    var hasCollection = false
    /// The entity of the objects; nil if the path leaves the model.
    var entity: String?
    /// The variable with its `$`; nil before it was read.
    var variable: String?
  }

  let builder: ModelFileBuilder
  let entity: String
  var rest: Substring
  private var result = ""
  private var depth = 0
  /// The subqueries around the current place, outermost first.
  private var subqueries = [Subquery]()

  init(builder: ModelFileBuilder, entity: String, rest: Substring) {
    (self.builder, self.entity, self.rest) = (builder, entity, rest)
  }

  mutating func run() -> String {
    while let first = rest.first {
      if first == "\"" || first == "'" {
        copyString(quotedBy: first)
      } else if first == "%" {
        result.append(rest.removeFirst())
        copy(rest.prefix(while: Self.isPart))
      } else if Self.isPart(first) {
        let word = rest.prefix(while: Self.isPart)
        let isFunction = rest.dropFirst(word.count).first { !$0.isWhitespace } == "("
        if isFunction || first.isNumber || first == "." || first == "@" {
          if isFunction, word.uppercased() == "SUBQUERY" { subqueries.append(Subquery(depth: depth + 1)) }
          copy(word)
        } else {
          rest = rest.dropFirst(word.count)
          result += path(word)
        }
      } else {
        if first == "(" { depth += 1 }
        if first == ")" {
          depth -= 1
          subqueries.removeAll { $0.depth > depth }
        }
        result.append(rest.removeFirst())
      }
    }
    return result
  }

  private static func isPart(_ character: Character) -> Bool {
    character.isLetter || character.isNumber || "_.$@#".contains(character)
  }

  private mutating func copy(_ text: Substring) {
    result += text
    rest = rest.dropFirst(text.count)
  }

  private mutating func copyString(quotedBy mark: Character) {
    result.append(rest.removeFirst())
    while let next = rest.popFirst() {
      result.append(next)
      if next == "\\", let escaped = rest.popFirst() { result.append(escaped) }
      if next == mark { break }
    }
  }

  private mutating func path(_ word: Substring) -> String {
    // Core Data writes a name that is a keyword with a #.
    let parts = word.split(separator: ".", omittingEmptySubsequences: false).map { part in
      String(part.first == "#" && part.count > 1 ? part.dropFirst() : part)
    }
    let converted: (names: [String], end: String?)
    if let first = parts.first, first.hasPrefix("$") {
      if parts.count == 1, let last = subqueries.indices.last, subqueries[last].hasCollection,
        subqueries[last].variable == nil
      {
        subqueries[last].variable = first
        return first
      }
      // The variable of a template has no entity.
      let start = subqueries.last { $0.variable == first }.flatMap(\.entity)
      let after = builder.walk(parts.dropFirst(), from: start)
      converted = ([first] + after.names, after.end)
    } else {
      converted = builder.walk(parts[...], from: entity)
    }
    if let last = subqueries.indices.last, !subqueries[last].hasCollection {
      subqueries[last].hasCollection = true
      subqueries[last].entity = converted.end
    }
    return converted.names.joined(separator: ".")
  }
}
