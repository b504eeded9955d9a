import GraphModel
import GraphTesting
import Testing

/// The law of a lens: the graph that an older client sees through it is exactly the graph that would exist without a
/// newer version. Two graphs, one of each version, get the same transactions. Meanwhile, other clients of the newer one
/// change the parts that the older version does not have.
@Suite struct ModelLensTwinTests {
  /// Two versions of one model: each property and entity may be renamed, widened and joined by others.
  private static func versions(_ random: inout SeededGenerator) throws -> (old: Model, new: Model) {
    var (old, new) = ([String](), [String]())
    func letter(_ random: inout SeededGenerator) -> String {
      String("abcdefghijklmnopqrstuvwxyz".randomElement(using: &random) ?? "a")
    }
    let renamesEntity = random.chance(50)
    let entity = renamesEntity ? letter(&random).uppercased() + "Thing" : "Item"
    for index in 0..<(2 + random.below(5)) {
      let kind = ["integer", "string", "text", "bool", "enumeration", "date"][random.below(6)]
      let isOptional = random.chance(40)
      let value =
        [
          "integer": "4", "string": #""s""#, "text": #""t""#, "bool": "true", "enumeration": #""calm""#,
          "date": #""2026-01-01""#,
        ][kind] ?? "0"
      let more = (kind == "enumeration" ? #", "enumeration": "Mood""# : "") + #", "default": \#(value)"#
      var wider = kind
      if random.chance(50), kind == "integer" { wider = random.chance(50) ? "double" : "decimal" }
      let isRelaxed = !isOptional && wider == kind && random.chance(50)
      let name = "p\(index)"
      let newName = random.chance(50) ? "\(letter(&random))\(index)" : name
      let renamed = newName == name ? "" : #", "renamed": "\#(name)""#
      old.append(#"{"name": "\#(name)", "type": "\#(kind)", "optional": \#(isOptional)\#(more)}"#)
      new.append(
        #"{"name": "\#(newName)", "type": "\#(wider)", "optional": \#(isOptional || isRelaxed)\#(renamed)\#(more)}"#)
    }
    for index in 0..<(1 + random.below(3)) {
      new.insert(
        #"{"name": "\#(letter(&random))x\#(index)", "type": "string", "default": "new"}"#,
        at: random.below(new.count + 1))
    }
    func relationships(_ name: String, _ many: String) -> (String, String) {
      (
        #"{"name": "box", "destination": "Box", "inverse": "items"}, {"name": "\#(many)", "destination": "Box", "inverse": "marked", "toMany": true}"#,
        #"{"name": "items", "destination": "\#(name)", "inverse": "box", "toMany": true, "deleteRule": "cascade"}, {"name": "marked", "destination": "\#(name)", "inverse": "\#(many)", "toMany": true}"#
      )
    }
    func model(
      _ version: Int, _ name: String, _ renamed: String, _ attributes: [String], _ moods: String, _ more: String
    ) throws -> Model {
      let (item, box) = relationships(name, "marks")
      return try Model(
        parsing: """
          {"format": 1, "name": "Twin", "version": \(version), "enumerations": [{"name": "Mood", "cases": [\(moods)]}],
           "entities": [{"name": "\(name)"\(renamed), "attributes": [\(attributes.joined(separator: ", "))],
             "relationships": [\(item)]}, {"name": "Box", "relationships": [\(box)]}\(more)]}
          """.utf8)
    }
    let added = random.chance(50) ? #", {"name": "Added", "attributes": [{"name": "a", "type": "string"}]}"# : ""
    return (
      try model(1, "Item", "", old, #""calm", "cross""#, ""),
      try model(
        2, entity, renamesEntity ? #", "renamed": "Item""# : "", new,
        random.chance(50) ? #""calm", "cross""# : #""calm", "merry", "cross""#, added)
    )
  }

  private static func value(_ attribute: Attribute, _ random: inout SeededGenerator) -> Value {
    switch attribute.kind {
    case .integer: .integer(Int64(random.below(5)) - 2)
    case .bool: .bool(random.chance(50))
    case .enumeration: .string(attribute.cases[random.below(attribute.cases.count)])
    case .date: .date(Int64(random.below(3)))
    default: .string(["", "one", "two", "three"][random.below(4)])
    }
  }

  private static func outcome(_ body: () throws -> TransactionPlan) throws -> String {
    do {
      let plan = try body()
      return
        "\(plan.changes.filter { !$0.edits.isEmpty || $0.kind != .updated }.map(\.id)) \(plan.conflicts.map { ($0.kind, $0.id, $0.mineWon) })"
    } catch let refusal as Refusal {
      return "\(refusal.code) \(refusal.conflicts.count) \(refusal.violations.map(\.rule))"
    }
  }

  @Test(arguments: 1...60 as ClosedRange<UInt64>) func olderClientBehavesAsWithoutNewerVersion(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed &* 0x9E37_79B9)
    let (old, new) = try Self.versions(&random)
    let lens: ModelLens
    do {
      lens = try ModelLens(over: [old, new])
    } catch {
      Issue.record("seed \(seed): \(error)\n\(old.source)\n\(new.source)")
      return
    }
    let (alone, shared) = (MemoryGraph(old), MemoryGraph(new))
    // For each revision of the older graph, the revision of the newer graph with the same effect.
    var shown: [Revision] = [0]
    var refusals = 0
    for step in 0..<80 {
      let live = alone.images.keys.sorted()
      if random.chance(30), let id = live.isEmpty ? nil : live[random.below(live.count)], let image = shared.images[id],
        let entity = new.entity(image.id.entity)
      {
        let hidden = entity.attributes.filter { lens.unseen.contains($0.number) }
        guard let property = hidden.isEmpty ? nil : hidden[random.below(hidden.count)] else { continue }
        try shared.commit(
          [Change(.update, image.id, base: image.revision, edits: [Edit(property.number, .set(.string("\(step)")))])],
          replica: 9)
        continue
      }
      let (changes, replica) = Self.changes(alone, live, old, step, &random)
      let policy = MergePolicy.allCases[random.below(MergePolicy.allCases.count)]
      let transaction = Transaction(
        id: TransactionID(replica: .zero, sequence: 1),
        changes: changes.map { change in
          // The client read the same state of the other graph.
          var change = change
          change.base = change.base == 0 ? 0 : shown[Int(change.base)]
          return change
        })
      let later = try lens.upgraded(transaction)
      let one = try Self.outcome { try alone.commit(changes, replica: replica, policy: policy) }
      let other = try Self.outcome {
        try shared.commit(later.changes, replica: replica, policy: policy, unseen: later.unseen)
      }
      #expect(one == other, "seed \(seed), step \(step)")
      if alone.revision == Revision(shown.count) { shown.append(shared.revision) } else { refusals += 1 }
      let seen = shared.images.values.compactMap { lens.downgraded($0) }.sorted { $0.id < $1.id }
      let expected = alone.images.values.sorted { $0.id < $1.id }
      try #require(seen.map(\.id) == expected.map(\.id), "seed \(seed), step \(step)")
      for (left, right) in zip(seen, expected) {
        try #require(left.values == right.values && left.id.entity == right.id.entity, "seed \(seed), step \(step)")
      }
    }
    #expect(alone.revision > 20 && refusals < 80, "seed \(seed) committed too little")
  }

  private static func changes(
    _ graph: MemoryGraph, _ live: [ObjectID], _ model: Model, _ step: Int, _ random: inout SeededGenerator
  ) -> (changes: [Change], replica: UInt64) {
    let replica = UInt64(1 + random.below(2))
    let boxes = live.filter { graph.images[$0]?.id.entity == model.entity(named: "Box")?.number }
    if live.count < 4 || random.chance(20) {
      let entity = model.entity(named: random.chance(70) ? "Item" : "Box")
      let number = entity?.number ?? 0
      let edits = edits(entity, boxes, &random)
      return ([Change(.insert, .temporary(1, entity: number), edits: edits)], replica)
    }
    let id = live[random.below(live.count)]
    guard let image = graph.images[id] else { return ([], replica) }
    // The present state, or a state some commits ago.
    let base = min(max(graph.born(id), graph.revision - Revision(random.below(6))), graph.revision)
    if random.chance(10) { return ([Change(.delete, image.id, base: base)], replica) }
    return (
      [Change(.update, image.id, base: base, edits: edits(model.entity(image.id.entity), boxes, &random))], replica
    )
  }

  private static func edits(_ entity: Entity?, _ boxes: [ObjectID], _ random: inout SeededGenerator) -> [Edit] {
    (entity?.properties ?? []).compactMap { property in
      guard random.chance(40) else { return nil }
      switch property.kind {
      case .attribute(let attribute):
        return Edit(property.number, .set(property.isOptional && random.chance(20) ? .null : value(attribute, &random)))
      case .relationship(let relationship):
        guard relationship.storage != .inverse, !boxes.isEmpty else { return nil }
        let box = boxes[random.below(boxes.count)]
        if !relationship.isToMany { return Edit(property.number, .set(random.chance(20) ? .null : .object(box))) }
        return Edit(
          property.number, random.chance(50) ? .members(added: [box], removed: []) : .members(added: [], removed: [box])
        )
      }
    }
  }
}
