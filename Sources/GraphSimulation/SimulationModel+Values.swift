import GraphModel

/// Values of every type, and predicates about them. Each type has few values, so that equal values are frequent in
/// predicates, in sort keys and in concurrent edits.
extension SimulationModel {
  /// The fixed value of `now()` in all predicates: half of all dates are earlier.
  static let now: Timestamp = 43_200_000_000

  /// Parses and binds a predicate; an empty text matches all objects.
  static func predicate(_ text: String, _ entity: Entity, _ model: Model) throws -> GraphPredicate {
    text.isEmpty ? .always : try GraphPredicate(parsing: text, entity: entity, model: model).bound(now: now)
  }

  /// The attributes of a thing for which `value(of:_:)` returns values.
  static let valued = ["at", "price", "share", "token", "photo", "link", "extra", "done"]

  /// A random valid value of an attribute; never null.
  static func value(of name: String, _ random: inout SeededRandom) -> Value {
    switch name {
    // Noon and midnight around the beginning of 1970, and the adjacent microseconds.
    case "at": .date(Int64(random.below(13) - 6) * 43_200_000_000 + Int64(random.below(3) - 1))
    case "price": DecimalValue("\(random.below(9) - 4).\(random.below(4) * 25)").map(Value.decimal) ?? .null
    case "share": .double(Double(random.below(17) - 8) / 2)
    case "token": .uuid(UniqueID(high: 0, low: UInt64(random.below(4))))
    case "photo": .data(Array([0, 1, 255].prefix(random.below(4))))
    case "link": .string(random.element(of: ["a:b", "a:É", "urn:c"]))
    case "extra": .string(random.element(of: ["{\"a\":1}", "[]", "true", "\"é\"", "1.5"]))
    default: .bool(random.chance(50))
    }
  }

  /// Whether each of those attributes has a value in some object.
  static func hasEveryType(_ objects: [ObjectImage], _ model: Model) -> Bool {
    let properties = valued.compactMap { model.entity(named: "Thing")?.property(named: $0) }
    return properties.count == valued.count
      && properties.allSatisfy { property in
        objects.contains { model.entity($0.id.entity)?.property(property.number) != nil && !$0[property].isNull }
      }
  }

  /// A random predicate, rarely one of `values`.
  ///
  /// Most of those are about all things, and a client that follows all things has no faults among them.
  static func randomQuery(_ random: inout SeededRandom) -> (entity: String, predicate: String)? {
    random.pick(random.chance(8) ? values : queries)
  }

  static let values: [(entity: String, predicate: String)] = [
    ("Thing", "at < \"1970-01-01\""), ("Thing", "at BETWEEN {now() - days(1), now()}"), ("Thing", "hour(at) == 12"),
    ("Thing", "at > updated"), ("Thing", "updated - at < hours(36)"), ("Thing", "second(at) == 59 OR at == NULL"),
    ("Thing", "at IN {\"1970-01-02\", \"1969-12-31T12:00:00Z\", NULL}"), ("Thing", "now() - at > days(1) * 2"),
    ("Thing", "ifNull(at, now()) + hours(12) > date(\"1970-01-02\")"), ("Thing", "price > 1.5"),
    ("Thing", "price * 2 < share"), ("Thing", "share >= 0.5 AND done == FALSE"), ("Thing", "round(share) == share"),
    ("Thing", "token IN {\"00000000-0000-0000-0000-000000000001\", NULL}"), ("Thing", "photo == \"AAE=\""),
    ("Thing", "photo > \"AA==\""), ("Thing", "link BEGINSWITH \"a:\""), ("Thing", "extra == \"[]\""),
    ("Thing", "extra CONTAINS[cd] \"E\""), ("Thing", "day == \"1970-01-01\""), ("Thing", "cost > 3"),
    ("Thing", "ANY children.at > \"1970-01-01\""), ("Thing", "children.@max.at >= at"),
    ("Thing", "children.@sum.price > 2"), ("Thing", "parent.done == TRUE"), ("Thing", "parent.at < at"),
    ("Item", "folder.items.@avg.share > 0"), ("Folder", "items.@min.price < 0"), ("Folder", "ALL items.done == FALSE"),
    ("Label", "ANY items.day < now()"),
  ]
}
