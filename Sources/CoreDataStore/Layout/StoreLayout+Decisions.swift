import GraphModel

/// Decisions that only the rows of a store suggest, or that the caller has made. The mapping of an import keeps them,
/// because the app may delete the rows that have led to one, and the values must not change therefore.
extension StoreLayout {
  package struct Decisions: Hashable, Sendable {
    /// Whether the bytes of an attribute have a tag of external storage, by `Entity.attribute`.
    package var tags = [String: Bool]()

    package init() {}
  }

  /// The decision of an earlier import about a property, also under one of its earlier names.
  func decision<Value>(_ property: Property, in decisions: [String: Value]) -> Value? {
    if decisions.isEmpty { return nil }
    guard let owner = model.entity(property.owner) else { preconditionFailure("a property's entity is in its model") }
    let entities = [owner.name] + earlierNames(of: owner)
    func decided(_ name: String) -> Value? { entities.lazy.compactMap { decisions["\($0).\(name)"] }.first }
    guard let own = decided(property.name) else {
      return earlierNames(of: property).lazy.compactMap(decided).first
    }
    // The name may have belonged to a property that has another name now.
    let isOfOther = owner.properties.contains { other in
      other.number != property.number && earlierNames(of: other).contains(property.name) && decided(other.name) == nil
    }
    return isOfOther ? nil : own
  }
}
