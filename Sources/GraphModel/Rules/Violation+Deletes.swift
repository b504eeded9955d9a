/// Violations that prevent a delete, with a common wording.
extension Violation {
  /// The most objects that a refused delete lists per relationship.
  public static let maximumDenials = 100

  /// A violation of a `deny` rule: one of `count` objects that remain at the other end.
  public static func denied(
    _ id: ObjectID, _ entity: String, by other: ObjectID, of count: Int, _ property: Property
  ) -> Violation {
    Violation(
      id: id, property: property.number, rule: "deny", value: .object(other),
      message: "this \(entity) can't be deleted while \(count) of its \(property.name) remain")
  }

  /// A violation by dangling references: the first of `count` objects that still refer to the deleted one.
  public static func dangling(
    _ id: ObjectID, _ entity: String, from other: ObjectID, of count: Int, _ property: Property
  ) -> Violation {
    let references = count == 1 ? "a reference" : "\(count) references"
    return Violation(
      id: id, property: property.number, rule: "dangling", value: .object(other),
      message: "deleting this \(entity) would leave \(references) to it (\(property.name))")
  }
}
