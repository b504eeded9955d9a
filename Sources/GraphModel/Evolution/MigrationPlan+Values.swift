extension MigrationPlan {
  /// The values of a migrated object, by the new slots; the same as SQL computes for a table. Nil for values that
  /// depend on more than the object: derived ones, positions, and expressions over relationships.
  public func values(from image: ObjectImage) -> [Value?]? {
    guard let number = entities.first(where: { $0.value == image.id.entity })?.key, let entity = new.entity(number)
    else {
      return nil
    }
    return entity.storedProperties.map { value(of: $0, from: image) }
  }

  private func value(of property: Property, from image: ObjectImage) -> Value? {
    let value: Value? =
      switch origins[property.number] {
      case .kept(let earlier): old.property(earlier).map { property.widened(image[$0]) }
      case .converted(let earlier): old.property(earlier).map { property.converted(image[$0], of: $0) }
      case .constant(let value): value
      case .empty: property.relationship?.storage == .members ? .objects([]) : .null
      case .mapped(let expression) where expression.readsOnlyOwnImage(in: old):
        property.attribute?.converted(ExpressionEvaluator(expression, model: old).value(of: image))
      case .mapped, .derived, .place, nil: nil
      }
    // Null may become the default.
    if let value, value.isNull, let fill = fills.first(where: { $0.property.number == property.number }) {
      return fill.value
    }
    return value
  }
}
