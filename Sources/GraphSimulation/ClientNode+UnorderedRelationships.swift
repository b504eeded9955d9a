import GraphModel
import GraphReplica

/// Unordered relationships, edited from either end: crews, which must have members, and labels that are near each
/// other. Also transient attributes, which are never stored.
extension ClientNode {
  /// Edits a crew. There are few crews of a few items each, so a deleted item is seldom the last one of a crew.
  func editCrew(_ random: inout SeededRandom) -> String {
    guard queries.contains(where: { $0.entity.name == "Crew" && $0.predicate == .always }) else {
      follow("Crew", "")
      return "follow crews"
    }
    let (crews, items) = (objects("Crew"), objects("Item"))
    guard let item = random.pick(items) else { return "no member for a crew" }
    guard let crew = random.pick(crews), crews.count >= 3, !(crews.count < 5 && random.chance(8)) else {
      return makeCrew(of: item, items, &random)
    }
    let present = members(of: crew, "members")
    switch random.below(10) {
    case 0...2:
      // Edited from the end that stores nothing.
      if present.count < 5, let crews = item.entity.property(named: "crews") { item.add(crew, to: crews.number) }
    case 3...5:
      guard let leaver = random.pick(present), present.count > 1 || random.chance(15),
        let property = crew.entity.property(named: "members")
      else { return "no member leaves" }
      crew.remove(leaver, from: property.number)
    case 6: crew["members"] = .objects(Array(items.map(\.id).shuffled(using: &random).prefix(1 + random.below(3))))
    case 7...8: name(crew, &random)
    default: context.delete(crew)
    }
    return save(&random, "gather")
  }

  private func makeCrew(of item: ManagedObject, _ items: [ManagedObject], _ random: inout SeededRandom) -> String {
    guard let crew = model.entity(named: "Crew").flatMap({ context.insert($0) }),
      let members = crew.entity.property(named: "members")
    else { return "no crew" }
    name(crew, &random)
    // Rarely a crew has no members and is refused.
    if random.chance(94) {
      crew.add(item, to: members.number)
      for _ in 0..<random.below(3) { if let other = random.pick(items) { crew.add(other, to: members.number) } }
    }
    return save(&random, "make a crew")
  }

  private func name(_ crew: ManagedObject, _ random: inout SeededRandom) {
    write(.string(random.chance(10) ? "x" : random.element(of: ["aa", "bb", "day"])), "title", crew)
    write(.integer(Int64(random.below(5))), "shift", crew)
  }

  /// Edits a relationship of labels to labels: an object may be related to itself, and each end has its own members.
  func editNearLabels(_ random: inout SeededRandom) -> String {
    guard let label = random.pick(objects("Label")), let other = random.pick(objects("Label")),
      let near = label.entity.property(named: "near"), let nearOf = label.entity.property(named: "nearOf")
    else { return "no label" }
    switch random.below(4) {
    case 0: if let old = random.pick(members(of: label, "near")) { label.remove(old, from: near.number) }
    case 1: label.add(other, to: nearOf.number)
    default: label.add(other, to: near.number)
    }
    return save(&random, "bring near")
  }

  // MARK: - Transient attributes

  func editTransient(_ random: inout SeededRandom) -> String {
    guard let thing = random.pick(objects("Thing").filter { !$0.isInserted }) else { return "nothing to choose" }
    let value = Value.bool(random.chance(70))
    thing["chosen"] = value
    // A value of the wrong type, which must have no effect.
    thing["chosen"] = .integer(1)
    unsaved.choose(thing, value)
    return "choose \(thing.id)"
  }
}
