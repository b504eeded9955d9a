import GraphModel
import GraphStore
import GraphStoreTools
import GraphTesting
import Testing

/// Migrations after which a store must be sound, and migrations that must be refused: a removal has no hidden losses,
/// and computed values have the type of their property.
@Suite struct MigrationSoundnessTests {
  private static func model(_ version: Int, _ entities: String, _ more: String = "") throws -> Model {
    try ShopVersions.model(
      #"{"format": 1, "name": "Club", "version": \#(version), \#(more) "entities": [\#(entities)]}"#)
  }

  private static let member = #"{"name": "Member", "parent": "Being"}"#

  /// Animals of a house, which counts them, and a list that refers to them.
  private static func club(minimum: Bool = false) -> String {
    #"""
    {"name": "List", "relationships": [{"name": "beings", "destination": "Being", "inverse": "lists", "toMany": true}]},
    {"name": "Being", "attributes": [{"name": "name", "type": "string", "default": ""}], "relationships": [
      {"name": "house", "destination": "House", "inverse": "beings"},
      {"name": "lists", "destination": "List", "inverse": "beings", "toMany": true}]},
    {"name": "House", "attributes": [{"name": "count", "type": "integer", "derived": "beings.@count"}],
     "relationships": [{"name": "beings", "destination": "Being", "inverse": "house", "toMany": true\#(minimum ? #", "minimumCount": 1"# : "")}]}
    """#
  }

  private func filled(minimum: Bool = false, listed: Bool = false) throws -> TestStore {
    let store = try TestStore(try Self.model(1, Self.club(minimum: minimum) + "," + Self.member))
    let house = try store.temporary("House")
    let ids = try store.must([
      Change(.insert, house, edits: []),
      try store.insertion("Member", ["house": .object(house)]),
    ])
    if !minimum { _ = try store.insert("Being", ["house": .object(ids[0])]) }
    if listed { _ = try store.insert("List", ["beings": .objects([ids[1]])]) }
    try store.store.close()
    return store
  }

  @Test func countsAreRecomputedWithoutRemovedObjects() throws {
    let old = try filled()
    let model = try Self.model(2, Self.club())
    try ShopVersions.migrate(old.directory, to: [model])
    let store = try ShopVersions.opened(model, old.directory)
    #expect(try store.all("House", "count == 1").count == 1)
    let findings = try StoreCheckRun(store).findings
    #expect(findings.isEmpty, "\(findings)")
  }

  /// A sequence may have numbered objects of a removed entity, and may have been removed itself.
  @Test(arguments: [true, false]) func storeWithRemovedSequenceIsSound(isDropped: Bool) throws {
    func item(_ more: String) -> String {
      #"{"name": "Item", "attributes": [{"name": "n", "type": "integer"\#(more)}]}"#
    }
    let (sequence, successor) = (#", "assigned": "sequence""#, #"{"name": "Gadget", "parent": "Item"}"#)
    let old = try TestStore(try Self.model(1, item(sequence) + "," + successor))
    _ = try old.insert("Item")
    for _ in 0..<2 { _ = try old.insert("Gadget") }
    try old.store.close()
    let next = isDropped ? item("") + "," + successor : item(sequence)
    let model = try Self.model(2, next)
    let report = try ShopVersions.migrate(old.directory, to: [model])
    #expect(!report.steps.isEmpty)
    for isFollowed in [false, true] {
      let store = try ShopVersions.opened(model, old.directory)
      if isFollowed {
        let item = try store.insert("Item", isDropped ? ["n": .integer(9)] : [:])
        #expect(try store.value(item, "Item.n") == .integer(isDropped ? 9 : 4))
      }
      let findings = try StoreCheckRun(store).findings
      #expect(findings.isEmpty, "\(findings)")
      try store.store.close()
    }
  }

  /// It was deleted before its entity went, which is the last by its number, or an inner one.
  @Test(arguments: ["A", "B", "C"]) func tombstoneOutlivesItsEntity(gone: String) throws {
    func entities(_ names: [String]) -> String { names.map { #"{"name": "\#($0)"}"# }.joined(separator: ", ") }
    let all = ["A", "B", "C"]
    let old = try TestStore(try Self.model(1, entities(all)))
    for name in all {
      let id = try old.insert(name)
      try old.must([Change(.delete, id, base: .max)])
    }
    try old.store.close()
    let second = try Self.model(2, entities(all.filter { $0 != gone }))
    let third = try Self.model(3, entities(all.filter { $0 != gone } + ["D"]))
    for model in [second, third] {
      try ShopVersions.migrate(old.directory, to: [model])
      let store = try ShopVersions.opened(model, old.directory)
      let findings = try StoreCheckRun(store).findings
      #expect(findings.isEmpty, "\(findings)")
      try store.store.close()
    }
  }

  @Test(arguments: [(true, false, "needs 1"), (false, true, "refers to an object whose entity was removed")])
  func violationsByRemovedEntityAreReported(minimum: Bool, listed: Bool, words: String) throws {
    let old = try filled(minimum: minimum, listed: listed)
    let refusal = try #require(throws: MigrationRefusal.self) {
      try ShopVersions.migrate(old.directory, to: [try Self.model(2, Self.club(minimum: minimum))])
    }
    #expect(refusal.breaches.map(\.entity) == [listed ? "List" : "House"])
    #expect(refusal.breaches.allSatisfy { $0.text.contains(words) }, "\(refusal)")
    let store = try ShopVersions.opened(
      try Self.model(1, Self.club(minimum: minimum) + "," + Self.member), old.directory)
    #expect(try StoreCheckRun(store).findings.isEmpty)
  }

  /// The removed object had a reference, and a row after it is filled: its checksum is its own.
  @Test func rowsFilledAfterRemovedObjectsHaveValidChecksums() throws {
    let base = #"{"name": "Base", "attributes": [{"name": "v", "type": "string", %}]}"#
    let old = try TestStore(
      try Self.model(
        1,
        base.replacing("%", with: #""optional": true"#) + #"""
          , {"name": "Sub", "parent": "Base", "relationships": [{"name": "t", "destination": "T", "inverse": "subs"}]},
          {"name": "T", "relationships": [{"name": "subs", "destination": "Sub", "inverse": "t", "toMany": true}]}
          """#))
    _ = try old.insert("Sub", ["t": .object(try old.insert("T"))])
    for _ in 0..<2 { _ = try old.insert("Base") }
    try old.store.close()
    let model = try Self.model(2, base.replacing("%", with: #""default": "none""#) + #", {"name": "T"}"#)
    try ShopVersions.migrate(old.directory, to: [model])
    let store = try ShopVersions.opened(model, old.directory)
    #expect(try store.all("Base", "v == 'none'").count == 2)
    let findings = try StoreCheckRun(store).findings
    #expect(findings.isEmpty, "\(findings)")
  }

  private static func person(_ value: String, _ more: String) -> String {
    #"{"name": "P", "attributes": [{"name": "v", "type": "string", \#(value)}], \#(more)}"#
  }

  /// Null becomes the default, which violates a rule or a key: all violating objects are named.
  @Test(arguments: [
    (#""rules": [{"name": "r", "predicate": "v != 'none'"}]"#, "breaks the rule r"),
    (#""unique": [["v"]]"#, "shares its v with"),
  ])
  func filledValuesAreValidated(more: String, words: String) throws {
    let old = try TestStore(try Self.model(1, Self.person(#""optional": true"#, more)))
    let ids = try [old.insert("P"), old.insert("P")]
    _ = try old.insert("P", ["v": .string("x")])
    try old.store.close()
    let model = try Self.model(2, Self.person(#""default": "none""#, more))
    let refusal = try #require(throws: MigrationRefusal.self) {
      try ShopVersions.migrate(old.directory, to: [model])
    }
    #expect(Set(refusal.breaches.map(\.object)) == Set(ids))
    #expect(refusal.breaches.allSatisfy { $0.text.contains(words) }, "\(refusal)")
  }

  /// The versions have equal hashes, so nothing would be done, and nothing reported.
  @Test func unexecutableMappingIsRefused() throws {
    let entity = #"{"name": "A", "attributes": [{"name": "n", "type": "integer"}]}"#
    let old = try TestStore(try Self.model(1, entity))
    try old.store.close()
    let second = try Self.model(2, entity, #""mapping": {"A.n": "n * 2"},"#)
    let third = try Self.model(3, entity + #", {"name": "B"}"#)
    for models in [[second], [second, third]] {
      let refusal = try #require(throws: MigrationRefusal.self) {
        try ShopVersions.migrate(old.directory, to: models)
      }
      #expect(refusal.problems == ["version 2 has a mapping, but its hash is that of version 1"])
    }
    #expect(try ShopVersions.migrate(old.directory, to: [third]).revision == 1)
  }

  @Test(arguments: [#""mapping": {"Sum.m": "w * 10000"},"#, ""])
  func outOfRangeIntegerIsNull(mapping: String) throws {
    let attribute = #"{"name": "w", "type": "integer"}"#
    let old = try TestStore(try Self.model(1, #"{"name": "Sum", "attributes": [\#(attribute)]}"#))
    for number in [3, 9_007_199_254_740_993] as [Int64] { _ = try old.insert("Sum", ["w": .integer(number)]) }
    try old.store.close()
    let derived = mapping.isEmpty ? #", "derived": "w * 10000""# : ""
    let model = try Self.model(
      2,
      #"{"name": "Sum", "attributes": [\#(attribute), {"name": "m", "type": "integer", "optional": true\#(derived)}]}"#,
      mapping)
    try ShopVersions.migrate(old.directory, to: [model])
    let store = try ShopVersions.opened(model, old.directory)
    let property = try store.property("Sum.m")
    #expect(try store.all("Sum", sort: "w").map { $0[property] } == [.integer(30_000), .null])
    let findings = try StoreCheckRun(store).findings
    #expect(findings.isEmpty, "\(findings)")
  }
}
