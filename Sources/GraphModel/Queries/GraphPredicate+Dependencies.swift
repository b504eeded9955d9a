extension GraphPredicate {
  /// All paths that the result depends on, starting at the evaluated object. The paths of a subquery begin with the
  /// hops to its objects; a count or an aggregate includes its relationship as the last hop.
  func dependencies() -> [Path] {
    var found = [Path]()
    collect(&found, prefixes: [[]])
    return found
  }

  /// The properties that these paths read, of any object.
  package func reads(in model: Model) -> Set<PropertyNumber> { dependencies().reads(in: model) }

  fileprivate func collect(_ found: inout [Path], prefixes: [[PropertyNumber]]) {
    switch self {
    case .always, .never: break
    case .and(let parts), .or(let parts): for part in parts { part.collect(&found, prefixes: prefixes) }
    case .not(let inner): inner.collect(&found, prefixes: prefixes)
    case .comparison(let comparison):
      comparison.left.collect(&found, prefixes: prefixes)
      comparison.right.collect(&found, prefixes: prefixes)
    }
  }

  fileprivate static func add(_ path: Path, _ found: inout [Path], prefixes: [[PropertyNumber]]) {
    let hops = prefixes[max(0, prefixes.count - 1 - path.level)] + path.hops
    switch path.end {
    case .count(let number): found.append(Path(hops: hops + [number], end: .identifier))
    case .aggregate(_, let number, let attribute): found.append(Path(hops: hops + [number], end: .property(attribute)))
    case .property, .identifier: found.append(Path(hops: hops, end: path.end))
    }
  }
}

extension GraphExpression {
  /// The properties that the value depends on, of any object.
  /// - Parameter prefix: the hops to the object that the expression applies to.
  package func reads(after prefix: [PropertyNumber] = [], in model: Model) -> Set<PropertyNumber> {
    var found = [GraphPredicate.Path(hops: prefix, end: .identifier)]
    collect(&found, prefixes: [prefix])
    return found.reads(in: model)
  }

  fileprivate func collect(_ found: inout [GraphPredicate.Path], prefixes: [[PropertyNumber]]) {
    switch self {
    case .value, .list, .variable: break
    case .path(let path): GraphPredicate.add(path, &found, prefixes: prefixes)
    case .expressions(let parts), .function(_, let parts):
      for part in parts { part.collect(&found, prefixes: prefixes) }
    case .arithmetic(_, _, let left, let right):
      left.collect(&found, prefixes: prefixes)
      right.collect(&found, prefixes: prefixes)
    case .subquery(let level, let hops, let predicate):
      GraphPredicate.add(GraphPredicate.Path(level: level, hops: hops, end: .identifier), &found, prefixes: prefixes)
      predicate.collect(&found, prefixes: prefixes + [prefixes[max(0, prefixes.count - 1 - level)] + hops])
    }
  }
}

extension [GraphPredicate.Path] {
  fileprivate func reads(in model: Model) -> Set<PropertyNumber> {
    var numbers = Set<PropertyNumber>()
    for path in self {
      if case .property(let number) = path.end { numbers.insert(number) }
      // One of the two ends stores the reference.
      for hop in path.hops {
        guard let relationship = model.property(hop)?.relationship else { continue }
        numbers.insert(relationship.storage == .inverse ? relationship.inverse : hop)
      }
    }
    return numbers
  }
}

extension IndexedExpression {
  /// The properties that the values depend on, of any object.
  func reads(in model: Model) -> Set<PropertyNumber> {
    switch self {
    case .path(let path): GraphExpression.path(path).reads(in: model)
    case .calculation(let prefix, let expression): expression.reads(after: prefix, in: model)
    }
  }
}
