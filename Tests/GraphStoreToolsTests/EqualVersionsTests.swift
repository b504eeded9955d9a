import GraphModel
import GraphStore
import GraphStoreTools
import GraphTesting
import Testing

/// Versions that differ only in limits, defaults, `renamed` or a mapping have one hash: a store fits all of them, and
/// keeps the text of the version with which it was created or migrated.
@Suite struct EqualVersionsTests {
  private static func model(_ version: Int, _ entity: String, _ more: String = "") throws -> Model {
    try ShopVersions.model(
      #"{"format": 1, "name": "Box", "version": \#(version), \#(more) "entities": [\#(entity)]}"#)
  }

  private func expectSound(_ store: TestStore, sourceLocation: SourceLocation = #_sourceLocation) throws {
    let findings = try StoreCheckRun(store).findings
    #expect(findings.isEmpty, "\(findings)", sourceLocation: sourceLocation)
  }

  // MARK: - Limits

  /// The rules of a version: for a value, for a number of objects, for an object.
  private static let limits = [
    (attribute: #", "maximum": 10"#, relationship: "", rules: ""),
    (attribute: "", relationship: #", "maximumCount": 1"#, rules: ""),
    (attribute: "", relationship: "", rules: #", "rules": [{"name": "low", "predicate": "n < 10"}]"#),
  ]

  /// - Parameter limit: its place in `limits`; nil for a version that asks nothing.
  private static func box(_ limit: Int?, _ more: String = "") -> String {
    let limit = limit.map { limits[$0] }
    return #"""
      {"name": "Box", "attributes": [{"name": "n", "type": "integer"\#(limit?.attribute ?? "")}\#(more)], "relationships": [
        {"name": "inner", "destination": "Box", "inverse": "outer", "toMany": true\#(limit?.relationship ?? "")},
        {"name": "outer", "destination": "Box", "inverse": "inner", "optional": true}]\#(limit?.rules ?? "")}
      """#
  }

  private static let label = #", {"name": "label", "type": "string", "optional": true}"#

  /// A store that was created with a limit and served without it: one box breaks every limit.
  private func loosened(_ limit: Int) throws -> (directory: TemporaryDirectory, served: Model, box: ObjectID) {
    let old = try TestStore(try Self.model(1, Self.box(limit)))
    try old.store.close()
    let served = try Self.model(2, Self.box(nil))
    let store = try ShopVersions.opened(served, old.directory)
    let box = try store.insert("Box", ["n": .integer(50)])
    for number in 1...2 { _ = try store.insert("Box", ["n": .integer(Int64(number)), "outer": .object(box)]) }
    try store.store.close()
    return (old.directory, served, box)
  }

  @Test(arguments: 0..<3) func storeIsMigratedToLooserLimits(limit: Int) throws {
    let (directory, served, box) = try loosened(limit)
    let model = try Self.model(3, Self.box(nil, Self.label))
    let report = try ShopVersions.migrate(directory, to: [served, model])
    #expect(report.backup != nil)
    let store = try ShopVersions.opened(model, directory)
    #expect(try store.value(box, "Box.n") == .integer(50))
    #expect(try store.all("Box", "outer.n == 50").count == 2)
    try expectSound(store)
  }

  /// The next version tightens nothing that the store's version has, and yet an object breaks it.
  @Test(arguments: 0..<3, [true, false])
  func valuesAboveRestoredLimitAreReported(limit: Int, makesBackup: Bool) throws {
    let (directory, served, box) = try loosened(limit)
    var options = StoreMigration.Options()
    options.makesBackup = makesBackup
    let models = [served, try Self.model(3, Self.box(limit, Self.label))]
    let migration = StoreMigration(
      directory: directory.path, models: models, now: 1_800_000_000_000_000, options: options)
    let refusal = try #require(throws: MigrationRefusal.self) { try migration.run() }
    #expect(refusal.breaches.map(\.object) == [box], "\(refusal)")
    let store = try ShopVersions.opened(served, directory)
    #expect(try store.value(box, "Box.n") == .integer(50))
    try expectSound(store)
  }

  // MARK: - The text of a migrated version

  private static func row(_ attributes: String...) -> String {
    #"{"name": "Row", "attributes": [\#(attributes.joined(separator: ", "))]}"#
  }

  private static let number = #"{"name": "n", "type": "integer"}"#
  private static let text = #"{"name": "t", "type": "string", "default": ""}"#
  private static let doubling = #""mapping": {"Row.t": "n * 2"},"#

  /// A version, the one that it is migrated to, and a later text of that version.
  private struct Files: Sendable {
    let first: String
    let second: String
    var mapping = ""
    let third: String
    /// The values of a row before and after the migration.
    let property: String
    let value: Value
  }

  private static let files = [
    "another default": Files(
      first: row(number, text), second: row(number, text, #"{"name": "color", "type": "string", "default": "grey"}"#),
      third: row(number, text, #"{"name": "color", "type": "string", "default": "white"}"#), property: "color",
      value: .string("grey")),
    "no renamed": Files(
      first: row(number, text), second: row(#"{"name": "m", "renamed": "n", "type": "integer"}"#, text),
      third: row(#"{"name": "m", "type": "integer"}"#, text), property: "m", value: .integer(7)),
    "no mapping": Files(
      first: row(number, text), second: row(number, #"{"name": "t", "type": "integer"}"#), mapping: doubling,
      third: row(number, #"{"name": "t", "type": "integer"}"#), property: "t", value: .integer(14)),
  ]

  /// Checked, backed up, and read before the migration, as with the file that it was migrated with.
  @Test(arguments: ["another default", "no renamed", "no mapping"])
  func cleanedModelFileAfterMigrationChangesNothing(name: String) throws {
    let files = try #require(Self.files[name])
    let old = try TestStore(try Self.model(1, files.first))
    let row = try old.insert("Row", ["n": .integer(7), "t": .string("x")])
    let token = try old.store.head
    try old.store.close()
    let second = try Self.model(2, files.second, files.mapping)
    try ShopVersions.migrate(old.directory, to: [second])
    let third = try Self.model(3, files.third)
    #expect(third.hash == second.hash)

    let store = try ShopVersions.opened(third, old.directory)
    try expectSound(store)
    let folder = try TemporaryDirectory()
    let report = try StoreBackup.run(
      directory: store.directory.path, model: third, file: folder.path + "/copy.sqlite")
    #expect(report.objects == 1)

    let property = try store.property("Row.\(files.property)")
    var request = FetchRequest(entity: row.entity)
    for revision in [nil, 1] as [Revision?] {
      request.at = revision
      var images = [ObjectImage]()
      _ = try store.store.fetch(request) { images.append($0) }
      #expect(images.map { $0[property] } == [files.value], "at \(revision ?? 0)")
    }
    if files.mapping.isEmpty {
      #expect(try store.store.follow(FollowRequest(since: token)).at.revision == 2)
    } else {
      let refusal = #expect(throws: Refusal.self) { _ = try store.store.follow(FollowRequest(since: token)) }
      #expect(refusal?.code == .limit)
    }
    // New objects have the defaults of the present file.
    if name == "another default" {
      let fresh = try store.insert("Row", ["n": .integer(1)])
      #expect(try store.value(fresh, "Row.color") == .string("white"))
    }
    let more = #"{"name": "z", "type": "bool", "default": true}, "#
    let fourth = try Self.model(
      4, files.third.replacing(#""attributes": ["#, with: #""attributes": ["# + more))
    try store.store.close()
    try ShopVersions.migrate(store.directory, to: [third, fourth])
    try expectSound(try ShopVersions.opened(fourth, store.directory))
  }
}
