/// What happens to one property of one object.
public struct Edit: Hashable, Sendable {
  /// How the property changes.
  public enum Action: Hashable, Sendable {
    /// The property becomes this value.
    case set(Value)
    /// A text changes at these places.
    case splice([TextSplice])
    /// A to-many gains and loses these; edits of two clients merge.
    case members(added: [ObjectID], removed: [ObjectID])
    /// These become members of an ordered to-many if they are none, and stand in this order right behind `after`: at
    /// the beginning for nil, at the end when that is no member, which somebody else may have seen to.
    case place([ObjectID], after: ObjectID?)
  }

  /// The property, by its number in the model.
  public var property: PropertyNumber
  /// What it becomes, or how it changes.
  public var action: Action

  /// An edit of one property.
  public init(_ property: PropertyNumber, _ action: Action) {
    self.property = property
    self.action = action
  }
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

  /// The value that the edit makes of `value`; nil when a splice does not fit it. Members come in ascending order: what
  /// happens to an ordered to-many is told as the whole list.
  public func applied(to value: Value) -> Value? {
    switch action {
    case .set(let new): return new
    case .splice(let splices):
      guard let text = TextSplice.apply(splices, to: value.stringValue ?? "") else { return nil }
      return .string(text)
    case .members(let added, let removed):
      let gone = Set(removed)
      return .objects(Set(value.objectIDs.filter { !gone.contains($0) } + added).sorted())
    case .place(let objects, let anchor):
      return .objects(OrderMoves.placing(objects, after: anchor, in: value.objectIDs))
    }
  }

  /// The edit that turns `old` into `new`, in its most mergeable form. A text changes in one place, for that takes time
  /// linear in it; who can take the time has `TextSplice.differences`.
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
