/// One key of an order: what a path leads to, over to-one relationships only; null comes before everything else.
public struct SortKey: Hashable, Sendable {
  /// An attribute of the object or of one that it refers to, an id, a count or an aggregate.
  public var path: GraphPredicate.Path
  /// False turns the order of this key around.
  public var ascending: Bool
  /// How people would order the strings; nil for the order of their bytes.
  public var collation: Collation?
  /// What is ordered by in place of what the path leads to, one upon the other; none for the value itself.
  public var shown = [ShownName]()

  /// What the objects are ordered by.
  public var expression: GraphExpression { shown.reduce(.path(path)) { $1.expression(of: $0) } }

  /// Whether it goes by values as an index has them.
  public var isByStoredValue: Bool { collation == nil && shown.isEmpty }

  /// By what a path leads to.
  public init(_ path: GraphPredicate.Path, ascending: Bool = true, collation: Collation? = nil) {
    self.path = path
    self.ascending = ascending
    self.collation = collation
  }

  /// By an attribute of the object itself.
  public init(_ property: PropertyNumber, ascending: Bool = true, collation: Collation? = nil) {
    self.init(.property(property), ascending: ascending, collation: collation)
  }
}

/// An order ready to be asked many times.
public struct SortOrder: Sendable {
  private let keys: [(read: ExpressionEvaluator, key: SortKey)]
  /// Of each key: all that a comparison needs of it, without taking hold of the rest.
  private let ascending: [Bool]

  /// Resolves the keys' paths once.
  public init(_ keys: [SortKey], model: Model) {
    self.keys = keys.map { (ExpressionEvaluator($0.expression, model: model), $0) }
    ascending = keys.map(\.ascending)
  }

  /// The values that an object is ordered by; a string under a collation is its key.
  public func values(of image: ObjectImage, in source: any ImageSource = NoImageSource()) -> [Value] {
    keys.map { read, key in
      let value = read.value(of: image, in: source)
      guard let collation = key.collation, case .string(let text) = value else { return value }
      return .data(collation.key(text))
    }
  }

  /// Whether an object with the values `left` comes before one with the values `right`; ids settle ties.
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

  /// The objects in their order.
  public func sorted(_ images: some Sequence<ObjectImage>, in source: any ImageSource = NoImageSource())
    -> [ObjectImage]
  {
    images.map { (values(of: $0, in: source), $0) }.sorted { precedes($0.0, $0.1.id, $1.0, $1.1.id) }.map(\.1)
  }
}

extension [SortKey] {
  /// Reads `created`, `-created`, `manager.name[localized]`, `tags.@count`, or several with commas between.
  /// - Throws: `PredicateSyntaxError`, with the column of the key that is none.
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
      // What is shown has a question mark in it.
      if name.hasSuffix("]"), let start = name.lastIndex(of: "["), !name[start...].contains("?") {
        let word = String(name[name.index(after: start)...].dropLast())
        collation = Collation(rawValue: word)
        guard collation != nil else {
          throw fail(
            "there is no order \"\(word)\"; there are " + Collation.allCases.map(\.rawValue).joined(separator: ", "))
        }
        name = String(name[..<start])
      }
      var shown = [ShownName]()
      while name.hasSuffix("]"), let start = name.lastIndex(of: "[") {
        guard let form = ShownName(parsing: name[name.index(after: start)...].dropLast()) else {
          throw fail("in brackets stands an order, or which names are shown: state[open?open|done]")
        }
        shown.insert(form, at: 0)
        guard shown.count <= ShownName.maximumDepth else {
          throw fail("at most \(ShownName.maximumDepth) such brackets stand behind a key")
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
      guard case .path(let path) = expression else { throw fail("an order goes by paths, such as created or -name") }
      let type = path.type(in: model)
      if case .object = type, path.end != .identifier {
        throw fail("objects have no order: name one of their attributes")
      }
      if collation != nil, type != .string { throw fail("[natural] and [localized] go with text only") }
      if !shown.isEmpty, type != .string { throw fail("what is shown in its place is known of text only") }
      var key = SortKey(path, ascending: !descending, collation: collation)
      key.shown = shown
      append(key)
      column += part.unicodeScalars.count + 1
    }
  }

  /// An order's keys, at most.
  public static let maximumCount = 16

  /// As `init(parsing:entity:model:)` reads it.
  public func text(in model: Model) -> String {
    map { key in
      (key.ascending ? "" : "-") + GraphExpression.path(key.path).text(in: model)
        + key.shown.map { "[\($0.text)]" }.joined() + (key.collation.map { "[\($0.rawValue)]" } ?? "")
    }.joined(separator: ",")
  }
}
