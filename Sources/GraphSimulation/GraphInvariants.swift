import GraphModel

/// The invariants of a committed graph, computed from all of its objects, slowly and without the store's own code.
struct GraphInvariants {
  private let model: Model
  private let images: [ObjectID: ObjectImage]
  /// Sorted by id.
  private let objects: [ObjectImage]

  init(_ objects: [ObjectImage], model: Model) {
    self.model = model
    self.objects = objects.sorted { $0.id < $1.id }
    images = Dictionary(uniqueKeysWithValues: objects.map { ($0.id, $0) })
  }

  /// Describes the first violation; nil if there is none.
  func failure() -> String? {
    for object in objects {
      guard let entity = model.entity(object.id.entity), !entity.isAbstract else { return "\(object.id) has no entity" }
      for property in entity.properties {
        if let reason = reference(property, of: object) ?? count(property, of: object) ?? place(property, of: object) {
          return "\(entity.name) \(object.id), \(property.name): \(reason)"
        }
      }
      if let reason = rules(object, entity) { return "\(entity.name) \(object.id): \(reason)" }
    }
    return keys()
  }

  // MARK: - Any model

  /// Checks that references lead to existing objects of the right entity and agree with their inverses.
  private func reference(_ property: Property, of object: ObjectImage) -> String? {
    guard let relationship = property.relationship, property.slot != nil,
      let destination = model.entity(relationship.destination)
    else { return nil }
    let others = object[property].objectIDs
    if others.isEmpty, !relationship.isToMany, !property.isOptional { return "is null" }
    if Set(others).count != others.count { return "names an object twice" }
    for other in others {
      guard let image = images[other] else { return "names \(other), which does not exist" }
      guard image.id == other, model.entity(other.entity)?.isKind(of: destination) == true else {
        return "names \(other), which is not a \(destination.name)"
      }
      if let inverse = model.property(relationship.inverse), inverse.relationship?.storage == .reference,
        image[inverse].objectID != object.id
      {
        return "names \(other), which names \(image[inverse])"
      }
    }
    if let most = relationship.maximumCount, others.count > most { return "has \(others.count) members" }
    if let least = relationship.minimumCount, others.count < least { return "has \(others.count) members" }
    return nil
  }

  private func count(_ property: Property, of object: ObjectImage) -> String? {
    guard let counted = property.attribute?.derivation?.counted.flatMap({ model.property($0) }),
      let relationship = counted.relationship, let inverse = model.property(relationship.inverse)
    else { return nil }
    let number =
      counted.slot != nil
      ? object[counted].objectIDs.count
      : objects.filter { other in
        model.entity(other.id.entity)?.property(inverse.number) != nil && other[inverse].objectIDs.contains(object.id)
      }.count
    return object[property] == .integer(Int64(number)) ? nil : "says \(object[property]), there are \(number)"
  }

  /// Checks that the members of an ordered relationship have valid positions. Equal positions are sorted by id.
  private func place(_ property: Property, of object: ObjectImage) -> String? {
    guard let position = property.relationship?.position.flatMap({ model.property($0) }), property.slot != nil else {
      return nil
    }
    if object[property].isNull { return object[position].isNull ? nil : "has the place \(object[position]) nowhere" }
    guard case .integer(let place) = object[position], PositionAllocator.bounds.contains(place) else {
      return "has the place \(object[position])"
    }
    return nil
  }

  // MARK: - The simulation's model

  private func rules(_ object: ObjectImage, _ entity: Entity) -> String? {
    func value(_ name: String) -> Value { entity.property(named: name).map { object[$0] } ?? .null }
    switch entity.name {
    case "Crew":
      guard let title = value("title").stringValue, (2...8).contains(title.utf8.count) else {
        return "the title is \(value("title"))"
      }
      return nil
    case "Folder":
      let caption = value("name").stringValue?.uppercased()
      return value("caption").stringValue == caption ? nil : "the caption is \(value("caption"))"
    case "Item":
      guard case .integer(let size) = value("size"), (-5...90).contains(size) else {
        return "the size is \(value("size"))"
      }
      if value("weight") != .integer(size * 3 + 1) { return "the weight is \(value("weight")) of the size \(size)" }
      let heading = value("memo").stringValue?.lowercased()
      if value("heading").stringValue != heading { return "the heading is \(value("heading")) of \(value("memo"))" }
    case "Task":
      if case (.integer(let starts), .integer(let due)) = (value("starts"), value("due")), starts > due {
        return "it starts at \(starts) and is due at \(due)"
      }
      if let code = value("code").stringValue, !Self.isCode(code) { return "the code is \(code)" }
    default: break
    }
    if case .double(let share) = value("share"), !(-4...4).contains(share) { return "the share is \(share)" }
    if let reason = derivedValues(at: value("at"), day: value("day"), price: value("price"), cost: value("cost")) {
      return reason
    }
    if !value("place.row").isNull, value("place.column").isNull { return "it has a row but no column" }
    return nil
  }

  private func derivedValues(at: Value, day: Value, price: Value, cost: Value) -> String? {
    switch (at, day) {
    case (.null, .null): break
    case (.date(let at), .date(let day)):
      if !(day...(day + 86_399_999_999)).contains(at) || day % 86_400_000_000 != 0 {
        return "\(at) is of the day \(day)"
      }
    default: return "\(at) is of the day \(day)"
    }
    switch (price, cost) {
    case (.null, .null): return nil
    case (.decimal(let price), .decimal(let cost)) where price.adding(price) == cost: return nil
    default: return "the cost is \(cost) of the price \(price)"
    }
  }

  /// Matches the model's pattern without a regular expression.
  private static func isCode(_ code: String) -> Bool {
    let parts = code.unicodeScalars.split(separator: "-", omittingEmptySubsequences: false)
    return parts.count == 2 && (1...2).contains(parts[0].count) && parts[0].allSatisfy { ("A"..."C").contains($0) }
      && !parts[1].isEmpty && parts[1].allSatisfy { ("0"..."9").contains($0) }
  }

  private func keys() -> String? {
    let keys = [
      ("Folder", ["name"]), ("Label", ["name"]), ("Thing", ["number"]), ("Task", ["about", "code"]),
      ("Crew", ["title", "shift"]),
    ]
    for (name, properties) in keys {
      guard let entity = model.entity(named: name) else { continue }
      var seen = Set<[Value]>()
      for object in objects where entity.family.contains(object.id.entity) {
        let key = properties.compactMap { entity.property(named: $0).map { object[$0] } }
        if !key.contains(.null), !seen.insert(key).inserted { return "two of \(name) have the key \(key)" }
      }
    }
    return nil
  }
}
