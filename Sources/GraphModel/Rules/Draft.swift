/// An object as the transaction will leave it. A class, because it is changed in place, one property at a time.
///
/// Exclusivity checks are disabled: a draft belongs to a single planner, a value on one thread, and no step calls
/// another one while it has `inout` access to a property of a draft. The checks cost a fortieth of a large
/// transaction.
final class Draft {
  let entity: Entity
  /// Nil for an insert.
  @exclusivity(unchecked) var before: ObjectImage?
  @exclusivity(unchecked) var after: ObjectImage
  @exclusivity(unchecked) var isDeleted = false
  /// Whether the object is a revived one.
  @exclusivity(unchecked) var isRevived = false
  /// The merged splices of text properties, which history and deltas use.
  @exclusivity(unchecked) var splices = [PropertyNumber: [TextSplice]]()
  /// Position attributes that changed only to make space for other members.
  @exclusivity(unchecked) var spacing = Set<PropertyNumber>()

  init(entity: Entity, before: ObjectImage? = nil, after: ObjectImage) {
    self.entity = entity
    self.before = before
    self.after = after
  }

  /// The slots that the transaction changed, ascending; for a new object, all slots.
  func findChangedSlots(into slots: inout [Int]) {
    if let before {
      after.findChangedSlots(since: before, into: &slots)
    } else {
      slots.removeAll(keepingCapacity: true)
      slots += after.values.indices
    }
  }

  /// The edits of an updated object's changed slots.
  func edits(since before: ObjectImage, _ changed: [Int]) -> [Edit] {
    var edits = [Edit]()
    // A new parent means a new place, even if the position is the same number.
    let places = changed.compactMap { slot in
      entity.storedProperties[slot].relationship?.position.flatMap { entity.property($0)?.slot }
    }
    for slot in places.isEmpty ? changed : Set(changed + places).sorted() {
      let property = entity.storedProperties[slot]
      if let splices = splices[property.number] {
        edits.append(Edit(property.number, .splice(splices)))
      } else {
        edits.append(Edit.difference(of: property, from: before.values[slot], to: after.values[slot]))
      }
    }
    return edits
  }

  /// Moves the new image out of the draft and into the plan.
  func takeImage() -> ObjectImage {
    var image = ObjectImage(id: after.id, revision: after.revision, values: [])
    swap(&image, &after)
    return image
  }
}
