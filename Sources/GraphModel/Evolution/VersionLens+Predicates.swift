/// Translating predicates, sort keys and columns through a lens: paths get the newer version's properties. If a value
/// is shown differently than it is stored, the condition applies to the shown value, as far as the language can
/// express it.
extension VersionLens {
  func later(_ predicate: GraphPredicate) throws(Refusal) -> GraphPredicate {
    switch predicate {
    case .always, .never: return predicate
    case .and(let parts): return .and(try later(parts))
    case .or(let parts): return .or(try later(parts))
    case .not(let inner): return .not(try later(inner))
    case .comparison(var comparison):
      // A full-text index exists for the stored property only.
      let isStored = comparison.comparator == .search || saysTheSame(comparison)
      comparison.left = try later(comparison.left, asStored: isStored)
      comparison.right = try later(comparison.right, asStored: isStored)
      return .comparison(comparison)
    }
  }

  private func later(_ parts: [GraphPredicate]) throws(Refusal) -> [GraphPredicate] {
    var result = [GraphPredicate]()
    for part in parts { result.append(try later(part)) }
    return result
  }

  func later(_ expression: GraphExpression, asStored: Bool = false) throws(Refusal) -> GraphExpression {
    switch expression {
    case .value, .list, .variable: return expression
    case .expressions(let parts): return .expressions(try later(parts))
    case .function(let function, let arguments): return .function(function, try later(arguments))
    case .arithmetic(let operation, let kind, let left, let right):
      return .arithmetic(operation, kind, try later(left), try later(right))
    case .path(let path):
      let moved = GraphExpression.path(try later(path))
      return asStored ? moved : seen(moved, path)
    case .subquery(let level, let hops, let predicate):
      return .subquery(level: level, hops: try later(hops), try later(predicate))
    }
  }

  private func later(_ parts: [GraphExpression]) throws(Refusal) -> [GraphExpression] {
    var result = [GraphExpression]()
    for part in parts { result.append(try later(part)) }
    return result
  }

  private func later(_ numbers: [PropertyNumber]) throws(Refusal) -> [PropertyNumber] {
    var result = [PropertyNumber]()
    for number in numbers { result.append(try later(number)) }
    return result
  }

  func later(_ path: GraphPredicate.Path) throws(Refusal) -> GraphPredicate.Path {
    var path = path
    path.hops = try later(path.hops)
    switch path.end {
    case .identifier: break
    case .property(let number): path.end = .property(try later(number))
    case .count(let number): path.end = .count(try later(number))
    case .aggregate(let aggregate, let number, let attribute):
      path.end = .aggregate(aggregate, try later(number), attribute: try later(attribute))
    }
    return path
  }

  func later(_ keys: [SortKey]) throws(Refusal) -> [SortKey] {
    var result = [SortKey]()
    for key in keys {
      var moved = key
      moved.path = try later(key.path)
      if let shown = shown(key.path) { moved.shown.insert(shown, at: 0) }
      result.append(moved)
    }
    return result
  }

  func later(_ rows: RowRequest) throws(Refusal) -> RowRequest {
    var result = rows
    result.groups = try later(rows.groups)
    for index in result.columns.indices {
      switch rows.columns[index].value {
      case .count: break
      case .expression(let expression): result.columns[index].value = .expression(try later(expression))
      case .aggregate(let aggregate, let expression):
        result.columns[index].value = .aggregate(aggregate, try later(expression))
      }
    }
    return result
  }

  /// The value that the older version shows at the end of a path to one value. A path to many is compared as stored,
  /// because functions take single values only.
  private func seen(_ moved: GraphExpression, _ path: GraphPredicate.Path) -> GraphExpression {
    guard case .property(let number) = path.end, let form = forms[number], let property = old.property(number),
      path.hops.allSatisfy({ old.property($0)?.relationship?.isToMany == false })
    else { return moved }
    if let shown = shown(path) { return shown.expression(of: moved) { Self.there($0, at: moved) } }
    switch form {
    case .whole: return .function(.integer, [moved])
    case .settled(let standIn) where !property.isOptional && !standIn.isNull:
      guard later[number].flatMap({ new.property($0) })?.isOptional == true else { return moved }
      return .function(.ifNull, [moved, Self.there(.value(standIn), at: moved)])
    case .settled, .same: return moved
    }
  }

  /// A substitute for null at the end of a path; if the path leads nowhere, the result stays null.
  private static func there(_ value: GraphExpression, at path: GraphExpression) -> GraphExpression {
    guard case .path(var way) = path, let last = way.hops.popLast() else { return value }
    way.end = .property(last)
    return .function(.given, [.path(way), value])
  }

  /// The shown names at the end of a path to a single enumeration whose cases differ in the newer version.
  private func shown(_ path: GraphPredicate.Path) -> EnumerationFallback? {
    guard case .property(let number) = path.end, case .settled(let standIn)? = forms[number],
      let property = old.property(number), let attribute = property.attribute, attribute.kind == .enumeration,
      path.hops.allSatisfy({ old.property($0)?.relationship?.isToMany == false })
    else { return nil }
    let mayBeNull = later[number].flatMap { new.property($0) }?.isOptional == true
    return EnumerationFallback(
      standIn.stringValue, names: attribute.cases, standsForNull: mayBeNull && !property.isOptional)
  }

  /// Whether the stored values can be compared instead, which allows the use of an index. This holds for an equality
  /// with a name that replaces no other.
  private func saysTheSame(_ comparison: GraphPredicate.Comparison) -> Bool {
    guard comparison.options.isEmpty, case .path(let path) = comparison.left, let shown = shown(path) else {
      return false
    }
    switch (comparison.comparator, comparison.right) {
    case (.equal, .value(.string(let text))), (.notEqual, .value(.string(let text))): return shown.isEqual(shown: text)
    case (.in, .list(let values)): return values.allSatisfy { $0.stringValue.map(shown.isEqual(shown:)) ?? false }
    default: return false
    }
  }
}
