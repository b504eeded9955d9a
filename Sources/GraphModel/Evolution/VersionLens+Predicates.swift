/// Translating predicates, sort keys and columns through a lens: paths get the newer version's properties. If a value
/// is shown differently than it is stored, the condition applies to the shown value, as far as the language can
/// express it.
extension VersionLens {
  func upgraded(_ predicate: GraphPredicate) throws(Refusal) -> GraphPredicate {
    switch predicate {
    case .always, .never: return predicate
    case .and(let parts): return .and(try upgraded(parts))
    case .or(let parts): return .or(try upgraded(parts))
    case .not(let inner): return .not(try upgraded(inner))
    case .comparison(var comparison):
      // A full-text index exists for the stored property only.
      let isStored = comparison.comparator == .search || isComparableAsStored(comparison)
      comparison.left = try upgraded(comparison.left, asStored: isStored)
      comparison.right = try upgraded(comparison.right, asStored: isStored)
      return .comparison(comparison)
    }
  }

  private func upgraded(_ parts: [GraphPredicate]) throws(Refusal) -> [GraphPredicate] {
    var result = [GraphPredicate]()
    for part in parts { result.append(try upgraded(part)) }
    return result
  }

  func upgraded(_ expression: GraphExpression, asStored: Bool = false) throws(Refusal) -> GraphExpression {
    switch expression {
    case .value, .list, .variable: return expression
    case .expressions(let parts): return .expressions(try upgraded(parts))
    case .function(let function, let arguments): return .function(function, try upgraded(arguments))
    case .arithmetic(let operation, let kind, let left, let right):
      return .arithmetic(operation, kind, try upgraded(left), try upgraded(right))
    case .path(let path):
      let moved = GraphExpression.path(try upgraded(path))
      return asStored ? moved : shownExpression(moved, path)
    case .subquery(let level, let hops, let predicate):
      return .subquery(level: level, hops: try upgraded(hops), try upgraded(predicate))
    }
  }

  private func upgraded(_ parts: [GraphExpression]) throws(Refusal) -> [GraphExpression] {
    var result = [GraphExpression]()
    for part in parts { result.append(try upgraded(part)) }
    return result
  }

  private func upgraded(_ numbers: [PropertyNumber]) throws(Refusal) -> [PropertyNumber] {
    var result = [PropertyNumber]()
    for number in numbers { result.append(try upgraded(number)) }
    return result
  }

  func upgraded(_ path: GraphPredicate.Path) throws(Refusal) -> GraphPredicate.Path {
    var path = path
    path.hops = try upgraded(path.hops)
    switch path.end {
    case .identifier: break
    case .property(let number): path.end = .property(try upgraded(number))
    case .count(let number): path.end = .count(try upgraded(number))
    case .aggregate(let aggregate, let number, let attribute):
      path.end = .aggregate(aggregate, try upgraded(number), attribute: try upgraded(attribute))
    }
    return path
  }

  func upgraded(_ keys: [SortKey]) throws(Refusal) -> [SortKey] {
    var result = [SortKey]()
    for key in keys {
      var moved = key
      moved.path = try upgraded(key.path)
      if let shown = enumerationFallback(key.path) { moved.fallbacks.insert(shown, at: 0) }
      result.append(moved)
    }
    return result
  }

  func upgraded(_ rows: RowRequest) throws(Refusal) -> RowRequest {
    var result = rows
    result.groups = try upgraded(rows.groups)
    for index in result.columns.indices {
      switch rows.columns[index].value {
      case .count: break
      case .expression(let expression): result.columns[index].value = .expression(try upgraded(expression))
      case .aggregate(let aggregate, let expression):
        result.columns[index].value = .aggregate(aggregate, try upgraded(expression))
      }
    }
    return result
  }

  /// The value that the older version shows at the end of a path to one value. A path to many is compared as stored,
  /// because functions take single values only.
  private func shownExpression(_ moved: GraphExpression, _ path: GraphPredicate.Path) -> GraphExpression {
    guard case .property(let number) = path.end, let form = conversions[number], let property = old.property(number),
      path.hops.allSatisfy({ old.property($0)?.relationship?.isToMany == false })
    else { return moved }
    if let shown = enumerationFallback(path) { return shown.expression(of: moved) { Self.substitute($0, at: moved) } }
    switch form {
    case .truncated: return .function(.integer, [moved])
    case .fallback(let standIn) where !property.isOptional && !standIn.isNull:
      guard upgradedProperties[number].flatMap({ new.property($0) })?.isOptional == true else { return moved }
      return .function(.ifNull, [moved, Self.substitute(.value(standIn), at: moved)])
    case .fallback, .same: return moved
    }
  }

  /// A substitute for null at the end of a path; if the path leads nowhere, the result stays null.
  private static func substitute(_ value: GraphExpression, at path: GraphExpression) -> GraphExpression {
    guard case .path(var way) = path, let last = way.hops.popLast() else { return value }
    way.end = .property(last)
    return .function(.given, [.path(way), value])
  }

  /// The shown names at the end of a path to a single enumeration whose cases differ in the newer version.
  private func enumerationFallback(_ path: GraphPredicate.Path) -> EnumerationFallback? {
    guard case .property(let number) = path.end, case .fallback(let standIn)? = conversions[number],
      let property = old.property(number), let attribute = property.attribute, attribute.kind == .enumeration,
      path.hops.allSatisfy({ old.property($0)?.relationship?.isToMany == false })
    else { return nil }
    let mayBeNull = upgradedProperties[number].flatMap { new.property($0) }?.isOptional == true
    return EnumerationFallback(
      standIn.stringValue, names: attribute.cases, replacesNull: mayBeNull && !property.isOptional)
  }

  /// Whether the stored values can be compared instead, which allows the use of an index. This holds for an equality
  /// with a name that replaces no other.
  private func isComparableAsStored(_ comparison: GraphPredicate.Comparison) -> Bool {
    guard comparison.options.isEmpty, case .path(let path) = comparison.left, let shown = enumerationFallback(path)
    else {
      return false
    }
    switch (comparison.comparator, comparison.right) {
    case (.equal, .value(.string(let text))), (.notEqual, .value(.string(let text))): return shown.isEqual(shown: text)
    case (.in, .list(let values)): return values.allSatisfy { $0.stringValue.map(shown.isEqual(shown:)) == true }
    default: return false
    }
  }
}
