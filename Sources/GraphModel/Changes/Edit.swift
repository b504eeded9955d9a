/// A change of one property of one object.
public struct Edit: Hashable, Sendable {
  /// The change that an edit makes to the property.
  public enum Action: Hashable, Sendable {
    /// Sets the property to this value.
    case set(Value)
    /// Changes a text at these places.
    case splice([TextSplice])
    /// Adds and removes members of a to-many; edits of two clients merge.
    case members(added: [ObjectID], removed: [ObjectID])
    /// Moves the objects of an ordered to-many, in this order, directly after `after`. Objects that are not members
    /// yet are added. Nil means the beginning. If `after` is not a member, for example because another client removed
    /// it, the objects go to the end.
    case place([ObjectID], after: ObjectID?)
  }

  /// The property, by its number in the model.
  public var property: PropertyNumber
  /// The change.
  public var action: Action

  /// An edit of one property.
  public init(_ property: PropertyNumber, _ action: Action) {
    self.property = property
    self.action = action
  }
}

extension Value {
  /// The text that splices apply to: null counts as empty.
  var textToSplice: String { if let text = stringValue { text } else { "" } }
}

extension Edit {
  package var approximateSize: Int {
    switch action {
    case .set(let value): 24 + value.approximateSize
    case .splice(let splices): splices.reduce(24) { $0 + 40 + $1.insertion.utf8.count }
    case .members(let added, let removed): 24 + 24 * (added.count + removed.count)
    case .place(let objects, _): 48 + 24 * objects.count
    }
  }

  /// The value after the edit of `value`; nil if a splice does not fit. Members are in ascending order; a change of
  /// an ordered to-many is stated as the complete list.
  public func applied(to value: Value) -> Value? {
    switch action {
    case .set(let new): return new
    case .splice(let splices):
      guard let text = TextSplice.apply(splices, to: value.textToSplice) else { return nil }
      return .string(text)
    case .members(let added, let removed):
      let gone = Set(removed)
      return .objects(Set(value.objectIDs.filter { !gone.contains($0) } + added).sorted())
    case .place(let objects, let anchor):
      return .objects(ListReorderer.placing(objects, after: anchor, in: value.objectIDs))
    }
  }

  /// The edit that turns `old` into `new`, in its most mergeable form. A text gets a single splice, which is found in
  /// linear time; `TextSplice.differences` finds several, at a higher cost.
  public static func difference(of property: Property, from old: Value, to new: Value) -> Edit {
    if let relationship = property.relationship, relationship.isToMany, !relationship.isOrdered {
      let (before, after) = (Set(old.objectIDs), Set(new.objectIDs))
      return Edit(
        property.number,
        .members(added: after.subtracting(before).sorted(), removed: before.subtracting(after).sorted()))
    }
    if property.attribute?.kind == .text, let old = old.stringValue, let new = new.stringValue {
      return Edit(property.number, .splice([TextSplice.smallest(from: old, to: new)]))
    }
    return Edit(property.number, .set(new))
  }
}
