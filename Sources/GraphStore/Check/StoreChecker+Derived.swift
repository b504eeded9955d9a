// Tests: CheckTests.swift, BitFlipTests.swift
import GraphModel

/// Recomputation of derived attributes: counts from the stored relationships, expressions from the object.
extension StoreChecker {
  mutating func checkDerived(_ image: ObjectImage, _ place: StoreCheck.Place) throws {
    for property in model.attributes(of: image.id.entity) where property.attribute?.isDerived == true {
      let expected = try model.derivedValue(of: property, in: image) { relationship in
        guard relationship.relationship?.storage == .inverse,
          let inverse = (relationship.relationship?.inverse).flatMap({ model.property($0) })
        else { return image[relationship].objectIDs.count }
        return try objects.readReferrers(to: image.id, through: inverse).count
      }
      if image[property] != expected {
        report(.derived, place, "has a \(property.name) that differs from its calculated value")
      }
    }
  }
}
