/// What stands in the way of a delete, in the same words wherever it is found.
extension Violation {
  /// So many objects a refused delete names for each relationship.
  public static let maximumDenials = 100

  /// A rule that denies it: one of `count` objects that are left at the other end.
  public static func denied(
    _ id: ObjectID, _ entity: String, by other: ObjectID, of count: Int, _ property: Property
  ) -> Violation {
    Violation(
      id: id, property: property.number, rule: "deny", value: .object(other),
      message: "this \(entity) can't be deleted while \(count) of its \(property.name) remain")
  }

  /// Nobody lets go of the object: the first of `count` that refer to it.
  public static func dangling(
    _ id: ObjectID, _ entity: String, from other: ObjectID, of count: Int, _ property: Property
  ) -> Violation {
    let references = count == 1 ? "a reference" : "\(count) references"
    return Violation(
      id: id, property: property.number, rule: "dangling", value: .object(other),
      message: "deleting this \(entity) would leave \(references) to it (\(property.name))")
  }
}
