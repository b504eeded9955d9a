/// Violations of unique keys, with a common wording.
extension Violation {
  /// The kind of object that already has a unique key.
  public enum KeyHolder: Sendable {
    /// An existing object.
    case stored
    /// A new object of the same commit.
    case new
    /// An existing object that gets the key in the same commit.
    case changed
  }

  /// Creates a violation of a unique key.
  /// - Parameters:
  ///   - values: one for each property of the constraint.
  ///   - holder: the kind of object that has the key.
  public init(
    _ id: ObjectID, meets constraint: [PropertyNumber], of owner: Entity, values: [Value], _ model: Model,
    by holder: KeyHolder = .stored
  ) {
    precondition(!constraint.isEmpty && constraint.count == values.count, "a unique key has a value for each property")
    let names = constraint.compactMap { model.property($0)?.name }.joined(separator: " and ")
    let message =
      switch holder {
      case .stored: "there is already \(owner.nameWithArticle) with this \(names)"
      case .new: "another new \(owner.name) has the same \(names)"
      case .changed: "another \(owner.name) gets the same \(names)"
      }
    self.init(
      id: id, property: constraint[0], rule: "unique", value: values[0],
      others: zip(constraint, values).dropFirst().map { KeyPart($0, $1) },
      message: message)
  }
}
