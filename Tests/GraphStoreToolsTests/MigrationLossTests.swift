import GraphModel
import GraphStore
import GraphStoreTools
import GraphTesting
import Testing

/// The values that a migration reports as lost or changed.
@Suite struct MigrationLossTests {
  private static let first = """
    {"format": 1, "name": "Desk", "version": 1, "entities": [{"name": "Thing", "attributes": [
      {"name": "visits", "type": "integer", "optional": true}, {"name": "code", "type": "string", "default": "1"},
      {"name": "label", "type": "string", "default": ""}, {"name": "length", "type": "integer", "default": 4}]}]}
    """

  private static func second(_ mapping: String, visits: String = "double") -> String {
    """
    {"format": 1, "name": "Desk", "version": 2, "mapping": {\(mapping)}, "entities": [{"name": "Thing", "attributes": [
      {"name": "count", "renamed": "visits", "type": "\(visits)", "optional": true},
      {"name": "code", "type": "string", "default": "1"}, {"name": "label", "type": "string", "default": ""},
      {"name": "length", "type": "integer", "default": 4}]}]}
    """
  }

  private func filled(_ rows: [[String: Value]]) throws -> (store: TestStore, ids: [ObjectID]) {
    let store = try TestStore(try ShopVersions.model(Self.first))
    let ids = try rows.map { try store.insert("Thing", $0) }
    try store.store.close()
    return (store, ids)
  }

  private func lost(_ store: TestStore, _ source: String, isRehearsal: Bool = false) throws -> [MigrationLoss] {
    var options = StoreMigration.Options()
    options.isRehearsal = isRehearsal
    return try StoreMigration(
      directory: store.directory.path, models: [try ShopVersions.model(source)], now: 0, options: options
    ).run().lost
  }

  @Test func numbersNotRepresentableAsDoubleAreReported() throws {
    let limit: Int64 = 1 << 53
    let numbers: [Value] = [
      .integer(limit), .integer(limit + 1), .integer(-limit), .integer(-limit - 1), .integer(limit + 2), .null,
      .integer(.max), .integer(.min), .integer(7), .integer(limit + 3),
    ]
    let (store, ids) = try filled(numbers.map { ["visits": $0] })
    let expected = ["Thing.visits rounded 4 \(ids[1]) \(ids[3]) \(ids[6])"]
    #expect(try lost(store, Self.second(""), isRehearsal: true).map(\.words) == expected)
    #expect(try lost(store, Self.second("")).map(\.words) == expected)
    let opened = try ShopVersions.opened(try ShopVersions.model(Self.second("")), store.directory)
    #expect(try opened.value(ids[1], "Thing.count") == .double(Double(limit)))
  }

  @Test func decimalRepresentsEveryNumber() throws {
    let (store, _) = try filled([["visits": .integer(.max)], ["visits": .integer(.min)]])
    #expect(try lost(store, Self.second("", visits: "decimal")).isEmpty)
  }

  @Test func valuesReplacedByMappingAreReported() throws {
    let (store, ids) = try filled([
      ["code": .string("a"), "label": .string("a")], ["code": .string("b"), "label": .string("was")],
      ["code": .string("c"), "label": .string("c")],
    ])
    let lost = try lost(store, Self.second(#""Thing.label": "code", "Thing.count": "length""#))
    #expect(lost.map(\.words) == ["Thing.label replaced 1 \(ids[1])"])
  }

  @Test func textNotInCanonicalNumberFormIsReportedAsLoss() throws {
    let source = Self.second(#""Thing.code": "length(code)""#)
      .replacing(
        #""name": "code", "type": "string", "default": "1""#, with: #""name": "code", "type": "integer", "default": 1"#)
    let (store, ids) = try filled([["code": .string("1")], ["code": .string("02")], ["code": .string("x")]])
    #expect(try lost(store, source).map(\.words) == ["Thing.code replaced 2 \(ids[1]) \(ids[2])"])
  }
}

extension MigrationLoss {
  /// Without the entities' numbers, which may differ between two versions.
  fileprivate var words: String { "\(path) \(kind) \(count) \(first.map(\.description).joined(separator: " "))" }
}
