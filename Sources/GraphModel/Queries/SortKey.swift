/// A sort key: the value at the end of a path over to-one relationships; null sorts first.
public struct SortKey: Hashable, Sendable {
  /// The path to an attribute of the object or of a referenced object, or to an id, a count or an aggregate.
  public var path: GraphPredicate.Path
  /// Whether the order is ascending.
  public var ascending: Bool
  /// The collation for strings; nil for their byte order.
  public var collation: Collation?
  /// The mappings to apply to the value before it is compared, in order; empty for the value itself.
  public var fallbacks = [EnumerationFallback]()

  /// The expression that the objects are ordered by.
  public var expression: GraphExpression { fallbacks.reduce(.path(path)) { $1.expression(of: $0) } }

  /// Whether the key orders by the stored values, as an index does.
  public var isByStoredValue: Bool { collation == nil && fallbacks.isEmpty }

  /// Creates a sort key for the value at the end of a path.
  public init(_ path: GraphPredicate.Path, ascending: Bool = true, collation: Collation? = nil) {
    self.path = path
    self.ascending = ascending
    self.collation = collation
  }

  /// Creates a sort key for an attribute of the object itself.
  public init(_ property: PropertyNumber, ascending: Bool = true, collation: Collation? = nil) {
    self.init(.property(property), ascending: ascending, collation: collation)
  }
}

/// An object and its sort values.
public struct SortedObject: Sendable {
  /// The object.
  public let image: ObjectImage
  /// The values that ``SortOrder/values(of:in:)`` returns, one for each sort key.
  public let key: [Value]

  /// Creates an object with its values, which must be those of the order in which it is sorted.
  public init(image: ObjectImage, key: [Value]) {
    self.image = image
    self.key = key
  }
}

/// A compiled order, for repeated comparisons.
public struct SortOrder: Sendable {
  private let keys: [(read: ExpressionEvaluator, key: SortKey)]
  /// The direction of each key; separate, so that a comparison does not retain the keys.
  private let ascending: [Bool]

  /// Compiles the keys' paths.
  public init(_ keys: [SortKey], model: Model) {
    self.keys = keys.map { (ExpressionEvaluator($0.expression, model: model), $0) }
    ascending = keys.map(\.ascending)
  }

  /// The number of sort keys.
  public var count: Int { ascending.count }

  /// The object's sort values; a string with a collation is replaced by its collation key.
  public func values(of image: ObjectImage, in source: any ImageSource = NoImageSource()) -> [Value] {
    keys.map { read, key in
      let value = read.value(of: image, in: source)
      guard let collation = key.collation, case .string(let text) = value else { return value }
      return .data(collation.key(text))
    }
  }

  /// Whether an object with the values `left` precedes one with the values `right`; ids break ties.
  public func precedes(_ left: [Value], _ leftID: ObjectID, _ right: [Value], _ rightID: ObjectID) -> Bool {
    for index in ascending.indices {
      switch Value.order(left[index], right[index]) {
      case .same: continue
      case .ascending: return ascending[index]
      case .descending: return !ascending[index]
      }
    }
    return leftID < rightID
  }

  /// The objects in order.
  public func sorted(_ images: some Sequence<ObjectImage>, in source: any ImageSource = NoImageSource())
    -> [ObjectImage]
  {
    sortedWithKeys(images, in: source).map(\.image)
  }

  /// The objects in order, with their sort values.
  public func sortedWithKeys(_ images: some Sequence<ObjectImage>, in source: any ImageSource = NoImageSource())
    -> [SortedObject]
  {
    images.map { SortedObject(image: $0, key: values(of: $0, in: source)) }
      .sorted { precedes($0.key, $0.image.id, $1.key, $1.image.id) }
  }
}

extension [SortKey] {
  /// Parses `created`, `-created`, `manager.name[localized]`, `tags.@count`, or several keys separated by commas.
  /// - Throws: `PredicateSyntaxError`, with the column of the invalid key.
  public init(parsing text: String, entity: Entity, model: Model) throws(PredicateSyntaxError) {
    self = []
    var column = 1
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      var name = part.filter { !$0.isWhitespace }
      let descending = name.hasPrefix("-")
      name = String(name.drop { $0 == "-" || $0 == "+" })
      var collation: Collation?
      func fail(_ reason: String) -> PredicateSyntaxError {
        PredicateSyntaxError(scalar: column, reason: reason, text: text)
      }
      // A mapping of names contains a question mark.
      if name.hasSuffix("]"), let start = name.lastIndex(of: "["), !name[start...].contains("?") {
        let word = String(name[name.index(after: start)...].dropLast())
        collation = Collation(rawValue: word)
        guard collation != nil else {
          throw fail(
            "there is no order \"\(word)\"; there are " + Collation.allCases.map(\.rawValue).joined(separator: ", "))
        }
        name = String(name[..<start])
      }
      var shown = [EnumerationFallback]()
      while name.hasSuffix("]"), let start = name.lastIndex(of: "[") {
        guard let form = EnumerationFallback(parsing: name[name.index(after: start)...].dropLast()) else {
          throw fail("the brackets need a collation, or the names to show: state[open?open|done]")
        }
        shown.insert(form, at: 0)
        guard shown.count <= EnumerationFallback.maximumDepth else {
          throw fail("a key can have at most \(EnumerationFallback.maximumDepth) such brackets")
        }
        name = String(name[..<start])
      }
      guard count < Self.maximumCount else { throw fail("an order has at most \(Self.maximumCount) keys") }
      let expression: GraphExpression
      do {
        expression = try GraphExpression(parsing: name, entity: entity, model: model)
      } catch {
        throw fail(name.isEmpty ? "the name of an attribute is expected here" : error.reason)
      }
      guard case .path(let path) = expression else { throw fail("an order needs paths, such as created or -name") }
      let type = path.type(in: model)
      if case .object = type, path.end != .identifier {
        throw fail("objects have no order: name one of their attributes")
      }
      if collation != nil, type != .string { throw fail("[natural] and [localized] are only allowed for text") }
      if !shown.isEmpty, type != .string { throw fail("only text can have names to show") }
      var key = SortKey(path, ascending: !descending, collation: collation)
      key.fallbacks = shown
      append(key)
      column += part.unicodeScalars.count + 1
    }
  }

  /// The maximum number of sort keys.
  public static let maximumCount = 16

  /// The text form, which `init(parsing:entity:model:)` parses.
  public func text(in model: Model) -> String {
    map { key in
      (key.ascending ? "" : "-") + GraphExpression.path(key.path).text(in: model)
        + key.fallbacks.map { "[\($0.text)]" }.joined() + (key.collation.map { "[\($0.rawValue)]" } ?? "")
    }.joined(separator: ",")
  }
}
