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
      let isStored = isComparableAsStored(comparison)
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
    case .function(let function, let arguments):
      if let path = pathWithoutFallback(function, arguments) {
        return .function(function, [.path(try upgraded(path))] + arguments.dropFirst())
      }
      return .function(function, try upgraded(arguments))
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
      if let shown = enumerationFallback(key.path) {
        let next = moved.fallbacks.first
        let isKnown = if let next { isOmitted(at: key.path, before: next.fallback, next.names) } else { false }
        if !isKnown { moved.fallbacks.insert(shown, at: 0) }
      }
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

  /// The path in `oneOf(path, other, names…)`, if its result is the same for the stored values as for the shown ones.
  private func pathWithoutFallback(_ function: GraphFunction, _ arguments: [GraphExpression]) -> GraphPredicate.Path? {
    guard function == .oneOf, arguments.count > 2, case .path(let path) = arguments[0],
      case .value(let other) = arguments[1], other.isNull || other.stringValue != nil
    else { return nil }
    let names = arguments.dropFirst(2)
    guard names.allSatisfy({ $0.constantText != nil }) else { return nil }
    return isOmitted(at: path, before: other.stringValue, names.lazy.compactMap(\.constantText)) ? path : nil
  }

  /// Whether the mapping of names at the end of a path can be left out before another one.
  private func isOmitted(at path: GraphPredicate.Path, before next: String?, _ names: some Sequence<String>) -> Bool {
    guard case .property(let number) = path.end, let known = knownNames[number],
      let shown = enumerationFallback(path)
    else { return false }
    return shown.isOmitted(known: known, before: next, names: names)
  }

  // MARK: - Size

  /// The bytes by which the translation of a predicate can be longer. Counting stops as soon as the text is certainly
  /// too long.
  func growth(of predicate: GraphPredicate) -> Int {
    var bytes = 0
    predicate.forEachComparison { comparison, _ in
      if bytes > TranslationWork.maximumGrowth || isComparableAsStored(comparison) { return }
      bytes += growth(of: comparison.left) + growth(of: comparison.right)
    }
    return bytes
  }

  /// The bytes by which the translation of columns and groups can be longer.
  func growth(of rows: RowRequest) -> Int {
    var expressions = rows.groups
    for column in rows.columns {
      switch column.value {
      case .count: break
      case .expression(let expression), .aggregate(_, let expression): expressions.append(expression)
      }
    }
    return expressions.reduce(0) { $0 > TranslationWork.maximumGrowth ? $0 : $0 + growth(ofWhole: $1) }
  }

  /// The bytes by which the translation of an expression can be longer, with the conditions of its subqueries.
  func growth(ofWhole expression: GraphExpression) -> Int {
    var bytes = growth(of: expression)
    expression.forEachSubquery { if bytes <= TranslationWork.maximumGrowth { bytes += growth(of: $0) } }
    return bytes
  }

  private func growth(of expression: GraphExpression) -> Int {
    switch expression {
    case .value, .list, .variable, .subquery: return 0
    case .expressions(let parts): return growth(of: parts)
    case .arithmetic(_, _, let left, let right): return growth(of: left) + growth(of: right)
    case .path(let path):
      guard case .property(let number) = path.end, conversions[number] != nil else { return 0 }
      guard let shown = enumerationFallback(path) else { return Self.callBytes }
      return shown.names.reduce(2 * Self.callBytes) { $0 + $1.utf8.count + Self.quotesBytes }
    case .function(let function, let arguments):
      if pathWithoutFallback(function, arguments) != nil { return 0 }
      return growth(of: arguments)
    }
  }

  private func growth(of parts: [GraphExpression]) -> Int {
    parts.reduce(0) { $0 > TranslationWork.maximumGrowth ? $0 : $0 + growth(of: $1) }
  }

  /// The name and the brackets of a function, and a default.
  private static let callBytes = 32
  /// A name's quotes and comma.
  private static let quotesBytes = 4

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
    // A full-text index exists for the stored property only.
    if comparison.comparator == .search { return true }
    guard comparison.options.isEmpty, case .path(let path) = comparison.left, let shown = enumerationFallback(path),
      case .property(let number) = path.end, let known = knownNames[number]
    else {
      return false
    }
    func isEqual(_ text: String) -> Bool { shown.isEqual(shown: text, known: known) }
    switch (comparison.comparator, comparison.right) {
    case (.equal, .value(.string(let text))), (.notEqual, .value(.string(let text))): return isEqual(text)
    case (.in, .list(let values)): return values.allSatisfy { $0.stringValue.map(isEqual) == true }
    default: return false
    }
  }
}

extension GraphExpression {
  fileprivate var constantText: String? {
    if case .value(.string(let text)) = self { text } else { nil }
  }
}
