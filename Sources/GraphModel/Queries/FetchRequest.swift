/// Which objects to read, and in which order.
public struct FetchRequest: Hashable, Sendable {
  /// Objects of this entity and of all that inherit from it.
  public var entity: EntityNumber
  /// Which of them.
  public var predicate: GraphPredicate
  /// Ties, and an empty list, are settled by id.
  public var sort: [SortKey]
  /// Nil for all of them.
  public var limit: Int?
  /// So many objects of the result are passed over, in its order.
  public var offset: Int

  public init(
    entity: EntityNumber, predicate: GraphPredicate = .always, sort: [SortKey] = [], limit: Int? = nil,
    offset: Int = 0
  ) {
    self.entity = entity
    self.predicate = predicate
    self.sort = sort
    self.limit = limit
    self.offset = offset
  }
}

/// One key of an order: an attribute of the object itself.
public struct SortKey: Hashable, Sendable {
  /// The attribute; null comes before everything else.
  public var property: PropertyNumber
  /// False turns the order of this key around.
  public var ascending: Bool

  public init(_ property: PropertyNumber, ascending: Bool = true) {
    self.property = property
    self.ascending = ascending
  }
}

extension [SortKey] {
  /// Whether `left` comes before `right`; ids settle ties.
  public func precedes(_ left: ObjectImage, _ right: ObjectImage, in model: Model) -> Bool {
    for descriptor in self {
      guard let property = model.property(descriptor.property) else { continue }
      switch Value.order(left[property], right[property]) {
      case .same: continue
      case .ascending: return descriptor.ascending
      case .descending: return !descriptor.ascending
      }
    }
    return left.id < right.id
  }

  /// Reads `created`, `-created`, or several with commas between.
  /// - Throws: `PredicateSyntaxError`, with the column of the name that is not one.
  public init(parsing text: String, entity: Entity) throws(PredicateSyntaxError) {
    self = []
    var column = 1
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      let name = part.filter { !$0.isWhitespace }
      let descending = name.hasPrefix("-")
      guard let property = entity.property(named: String(name.drop { $0 == "-" || $0 == "+" })),
        property.attribute != nil
      else {
        let names = entity.attributes.map(\.name).joined(separator: ", ")
        throw PredicateSyntaxError(
          scalar: column, reason: "\(entity.name) has no attribute \"\(name)\"; it has \(names)", text: text)
      }
      append(SortKey(property.number, ascending: !descending))
      column += part.unicodeScalars.count + 1
    }
  }

  /// As `init(parsing:entity:)` reads it.
  public func text(in model: Model) -> String {
    map { ($0.ascending ? "" : "-") + (model.property($0.property)?.name ?? "?") }.joined(separator: ",")
  }
}
