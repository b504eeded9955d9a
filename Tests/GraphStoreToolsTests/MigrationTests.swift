import Foundation
import GraphModel
import GraphStore
import GraphStoreFaults
import GraphStoreTools
import GraphTesting
import Testing

/// Migrations of stores to the next version of their model.
@Suite struct MigrationTests {
  private func expectSound(_ store: TestStore, sourceLocation: SourceLocation = #_sourceLocation) throws {
    let findings = try StoreCheckRun(store).findings
    #expect(findings.isEmpty, "\(findings)", sourceLocation: sourceLocation)
    if let differences = try store.redoDifferences() { #expect(differences == [], sourceLocation: sourceLocation) }
  }

  private func texts(_ store: TestStore, _ entity: String, _ property: String) throws -> [Value] {
    let property = try store.property("\(entity).\(property)")
    return try store.all(entity, sort: "number").map { $0[property] }
  }

  // MARK: - Results

  @Test func valuesAreMovedToNewVersion() throws {
    let old = try ShopVersions.filled()
    try old.store.close()
    let model = try ShopVersions.model(ShopVersions.second)
    let report = try ShopVersions.migrate(old.directory, to: [model])
    #expect(report.lost.map { "\($0.path) \($0.count)" } == ["Waste 1", "Item.origin 3"])
    #expect(report.revision == 12)
    let store = try ShopVersions.opened(model, old.directory)
    #expect(try texts(store, "Article", "title") == ["item 0", "renamed", "item 2", "item 3"].map(Value.string))
    #expect(
      try texts(store, "Article", "label")
        == ["item 0-farm 0", "renamed-farm 1", "item 2-?", "item 3-farm 3"].map(Value.string))
    #expect(try texts(store, "Article", "price") == [0, 1, 2, 3].map { .decimal($0) })
    #expect(try texts(store, "Article", "active") == [.bool(true), .bool(true), .bool(true), .bool(true)])
    #expect(try store.all("Article", "text SEARCH 'words' AND active == TRUE AND price > 0").count == 3)
    #expect(try store.all("Article", "ANY labels.label == 'fresh'").count == 1)
    #expect(try store.all("Shop", "title SEARCH 'corner' AND count == 4").count == 1)
    let places = try texts(store, "Article", "shop.order").compactMap {
      if case .integer(let place) = $0 { place } else { nil }
    }
    #expect(places.count == 4 && places == places.sorted())
    try expectSound(store)
  }

  @Test func migratedStoreIsFullyUsable() throws {
    let old = try ShopVersions.filled()
    try old.store.close()
    let model = try ShopVersions.model(ShopVersions.second)
    try ShopVersions.migrate(old.directory, to: [model])
    let store = try ShopVersions.opened(model, old.directory)
    let shop = try #require(try store.all("Shop").first?.id)
    let items = try store.all("Article", sort: "number").map(\.id)
    let fresh = try store.insert("Article", ["title": .string("new"), "label": .string("l"), "shop": .object(shop)])
    // The sequence continues after the deleted object's number.
    #expect(try store.value(fresh, "Article.number") == .integer(6))
    try store.must([try store.update(items[2], "Article.title", .string("again"))])
    let tag = try #require(try store.all("Tag").first?.id)
    let labels = try store.property("Article.labels").number
    try store.must([Change(.update, items[1], base: .max, edits: [Edit(labels, .members(added: [tag], removed: []))])])
    try store.must([Change(.delete, items[3], base: .max)])
    guard case .committed = try store.undo().outcome else { return #expect(Bool(false), "nothing was undone") }
    #expect(try store.value(items[3], "Article.label") == .string("item 3-farm 3"))
    try store.reopen()
    #expect(try store.value(items[1], "Article.labels") == .objects([tag]))
    #expect(try store.all("Article", "ANY labels.label == 'fresh'").count == 2)
    try expectSound(store)
    try store.must([Change(.delete, shop, base: .max)])
    #expect(try store.all("Article", "shop == NULL").count == 5)
    try expectSound(store)
  }

  /// The time of its insert is unknown, and so is the number that it would have had.
  @Test func assignedAttributeStaysEmptyInOldObjects() throws {
    let source =
      #"{"format": 1, "name": "Desk", "version": 1, "entities": [{"name": "Thing", "attributes": [{"name": "k", "type": "integer"}]}]}"#
    let old = try TestStore(try ShopVersions.model(source))
    let thing = try old.insert("Thing", ["k": .integer(1)])
    try old.store.close()
    let model = try ShopVersions.model(
      source.replacing(#""version": 1"#, with: #""version": 2"#)
        .replacing(
          #""integer"}]"#,
          with: """
            "integer"}, {"name": "made", "type": "date", "assigned": "created", "optional": true},
            {"name": "touched", "type": "date", "assigned": "updated", "optional": true},
            {"name": "number", "type": "integer", "assigned": "sequence", "optional": true}]
            """))
    try ShopVersions.migrate(old.directory, to: [model])
    let store = try ShopVersions.opened(model, old.directory)
    try store.must([try store.update(thing, "Thing.k", .integer(2))])
    func isEmpty() throws -> Bool {
      try store.value(thing, "Thing.made").isNull && store.value(thing, "Thing.number").isNull
    }
    #expect(try isEmpty() && !store.value(thing, "Thing.touched").isNull)
    try store.must([Change(.delete, thing, base: .max)])
    try store.taken(store.undo())
    #expect(try isEmpty())
    let fresh = try store.insert("Thing", ["k": .integer(3)])
    #expect(try store.value(fresh, "Thing.number") == .integer(1))
    #expect(try !store.value(fresh, "Thing.made").isNull)
    try expectSound(store)
  }

  @Test func additionsAndRenamesRewriteNoRows() throws {
    let old = try ShopVersions.filled()
    try old.store.close()
    let source = ShopVersions.first.replacing(#""version": 1"#, with: #""version": 2"#)
      .replacing(
        #"{"name": "name", "type": "string"}"#,
        with:
          #"{"name": "aaa", "type": "string", "default": "it's"}, {"name": "title", "renamed": "name", "type": "string"},"#
          + #"{"name": "zzz", "type": "date", "optional": true}"#)
    let model = try ShopVersions.model(source)
    let report = try ShopVersions.migrate(old.directory, to: [model])
    #expect(report.rewritten == 0)
    let store = try ShopVersions.opened(model, old.directory)
    #expect(try texts(store, "Item", "aaa") == [Value](repeating: .string("it's"), count: 4))
    #expect(try store.all("Item", "aaa == \"it's\" AND title == 'renamed' AND zzz == NULL").count == 1)
    try expectSound(store)
  }

  /// Two thousand objects lie in more pages than the disk takes writes here.
  @Test func additionsAndRenamesTakeConstantWrites() throws {
    let directory = try TemporaryDirectory()
    CrashableFiles.watch(directory.path)
    defer { CrashableFiles.unwatch(directory.path) }
    let old = try TestStore(try ShopVersions.model(ShopVersions.first), directory: directory, sliceObjects: 1_000)
    let name = try old.property("Item.name").number
    let long = String(repeating: "a long name ", count: 40)
    let rows = (0..<2_000).map { [Value.string("\(long)\($0)")] }
    _ = try old.batch("Item", .insert([name], rows: rows.count), rows: rows)
    try old.store.close()
    let pages = (try #require(FileManager.default.contents(atPath: directory.path + "/graph.sqlite"))).count / 4_096
    let writes = 150
    #expect(pages > 2 * writes)
    let model = try ShopVersions.model(
      ShopVersions.first.replacing(#""version": 1"#, with: #""version": 2"#)
        .replacing(
          #"{"name": "name", "type": "string"}"#,
          with:
            #"{"name": "aaa", "type": "integer", "default": 7}, {"name": "title", "renamed": "name", "type": "string"}"#
        ))
    CrashableFiles.fail(directory.path, with: .fullAfter(operations: writes))
    var options = StoreMigration.Options()
    options.makesBackup = false
    try StoreMigration(directory: directory.path, models: [model], now: 0, options: options).run()
    CrashableFiles.fail(directory.path, with: nil)
    let store = try ShopVersions.opened(model, directory)
    #expect(try store.all("Item", "aaa == 7 AND title BEGINSWITH 'a long name'").count == 2_000)
  }

  /// Equal pasts lead to equal fingerprints; the migration is one more commit.
  @Test func tokensContinueAndOlderOnesAreRefused() throws {
    let old = try ShopVersions.filled()
    let before = try old.store.head
    try old.store.close()
    let model = try ShopVersions.model(ShopVersions.second)
    try ShopVersions.migrate(old.directory, to: [model])
    let store = try ShopVersions.opened(model, old.directory)
    let head = try store.store.head
    #expect(head.revision == before.revision + 1 && head.store == before.store)
    #expect(try store.store.recognizes(head))
    #expect(try !store.store.recognizes(before))
  }

  @Test func earlierHistoryIsReadWithPresentNames() throws {
    let old = try ShopVersions.filled()
    try old.store.close()
    let model = try ShopVersions.model(ShopVersions.second)
    try ShopVersions.migrate(old.directory, to: [model])
    let store = try ShopVersions.opened(model, old.directory)
    let records = try store.store.commits(after: 0, through: nil, maximumChanges: 1_000)
    #expect(records.map(\.revision) == Array(1...12))
    let title = try store.property("Article.title").number
    #expect(records[8].changes.map(\.edits) == [[Edit(title, .set(.string("renamed")))]])
    #expect(records[8].changes.first?.before?[try store.property("Article.title")] == .string("item 1"))
    // A deleted object is reported with the values that still have a property, and under its entity's new name.
    let gone = try #require(records[9].changes.first?.before)
    #expect(model.entity(gone.id.entity)?.name == "Article")
    #expect(gone[try store.property("Article.title")] == .string("item 4"))
    // Objects of a removed entity are not reported, and the migration itself changed nothing.
    #expect(records[10].changes.isEmpty && records[11].changes.isEmpty)
    let refused = try store.undo(9)
    guard case .refused(let refusal) = refused.outcome else { return #expect(Bool(false), "undone across a migration") }
    #expect(refusal.code == .notAllowed || refusal.message.contains("before the model changed"))
  }

  @Test func storeIsMigratedThroughIntermediateVersions() throws {
    let old = try ShopVersions.filled()
    try old.store.close()
    let third = try ShopVersions.model(
      ShopVersions.second.replacing(#""version": 2"#, with: #""version": 3"#)
        .replacing(#""mapping": {"Article.label": "concat(name, '-', ifNull(origin, '?'))"},"#, with: "")
        .replacing(#""name": "label", "type": "string"}, "#, with: #""name": "label", "type": "string"}, "#)
        .replacing(
          #""name": "active", "type": "bool""#, with: #""name": "isActive", "renamed": "active", "type": "bool""#))
    let models = [try ShopVersions.model(ShopVersions.first), try ShopVersions.model(ShopVersions.second), third]
    let report = try ShopVersions.migrate(old.directory, to: models)
    #expect(report.from == 1 && report.to == 3 && report.revision == 13)
    let store = try ShopVersions.opened(third, old.directory)
    #expect(try store.all("Article", "isActive == TRUE AND label == 'item 2-?'").count == 1)
    try store.must([
      try store.update(try #require(try store.all("Article").first?.id), "Article.isActive", .bool(false))
    ])
    try expectSound(store)
    // Nothing remains to be migrated.
    try store.store.close()
    #expect(try ShopVersions.migrate(old.directory, to: models).steps.isEmpty)
  }

  @Test func copyContainsPreviousStore() throws {
    let old = try ShopVersions.filled()
    let head = try old.store.head
    try old.store.close()
    let report = try ShopVersions.migrate(old.directory, to: [try ShopVersions.model(ShopVersions.second)])
    let copy = try #require(report.backup)
    #expect(copy.hasSuffix("graph.sqlite.version-1.20270115T080000.backup"))
    let folder = try TemporaryDirectory()
    try FileManager.default.copyItem(atPath: copy, toPath: folder.path + "/graph.sqlite")
    let store = try TestStore(old.model, directory: folder)
    #expect(try store.store.head == head)
    try expectSound(store)
  }

  // MARK: - Refusals

  @Test func openingTheCopyLeavesNoFiles() throws {
    let old = try ShopVersions.filled()
    let first = old.model
    try old.store.close()
    let backup = try #require(
      try ShopVersions.migrate(old.directory, to: [try ShopVersions.model(ShopVersions.second)]).backup)
    let other = try TemporaryDirectory()
    _ = try StoreRestore.run(file: backup, directory: other.path, model: first, stamp: "1")
    let names = try FileManager.default.contentsOfDirectory(atPath: old.directory.path)
    let copy = try #require(backup.split(separator: "/").last.map(String.init))
    #expect(names.filter { $0.hasPrefix(copy) } == [copy])
  }

  @Test func rehearsalChangesNothing() throws {
    let old = try ShopVersions.filled()
    try old.store.close()
    let before = try FileState.of(old.directory)
    var options = StoreMigration.Options()
    options.isRehearsal = true
    let report = try StoreMigration(
      directory: old.directory.path, models: [try ShopVersions.model(ShopVersions.second)], now: 0, options: options
    ).run()
    #expect(report.steps.count > 10 && report.rewritten > 0 && report.lost.count == 2)
    #expect(try FileState.of(old.directory)["graph.sqlite"] == before["graph.sqlite"])
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: old.directory.path).sorted() == ["graph.sqlite", "lock"])
  }

  private func refusal(_ store: TestStore, _ model: Model) throws -> MigrationRefusal {
    try store.store.close()
    let refusal = #expect(throws: MigrationRefusal.self) { try ShopVersions.migrate(store.directory, to: [model]) }
    // The store is unchanged and opens.
    try store.reopen()
    try expectSound(store)
    return try #require(refusal)
  }

  private func copies(_ store: TestStore) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: store.directory.path).filter { $0.contains(".version-") }
  }

  @Test func leftoversOfKilledMigrationAreRemoved() throws {
    let store = try ShopVersions.filled()
    try store.store.close()
    let left = store.directory.path + "/graph.sqlite.version-1.20260101T000000.backup.new"
    for suffix in ["", "-journal"] { try Data("half".utf8).write(to: URL(fileURLWithPath: left + suffix)) }
    try ShopVersions.migrate(store.directory, to: [try ShopVersions.model(ShopVersions.second)])
    let copies = try copies(store)
    #expect(copies.count == 1 && copies[0].hasSuffix(".backup"))
  }

  @Test func duplicatesUnderNewKeyAreAllReported() throws {
    let store = try ShopVersions.filled()
    let items = try store.all("Item", sort: "number").map(\.id)
    try store.must([try store.update(items[2], "Item.name", .string("item 0"))])
    let refusal = try refusal(store, try ShopVersions.model(ShopVersions.second))
    #expect(Set(refusal.breaches.compactMap(\.object)) == [items[0], items[2]])
    #expect(refusal.breaches.map(\.text) == [items[2], items[0]].map { "shares its title with \($0.key)" })
    #expect(refusal.breaches.allSatisfy { $0.entity == "Article" })
    // An unchanged value is not copied.
    #expect(try copies(store).isEmpty)
  }

  @Test func duplicatesDoNotHideOtherViolations() throws {
    let store = try ShopVersions.filled()
    let items = try store.all("Item", sort: "number").map(\.id)
    try store.must([try store.update(items[2], "Item.name", .string("item 0"))])
    let model = try ShopVersions.model(
      ShopVersions.first.replacing(#""version": 1"#, with: #""version": 2"#)
        .replacing(#""unique": [["number"]]"#, with: #""unique": [["number"], ["name"]]"#)
        .replacing(
          #""name": "origin", "type": "string", "optional": true"#, with: #""name": "origin", "type": "string""#
        )
        .replacing(#""default": 1, "indexed""#, with: #""default": 2, "minimum": 2, "indexed""#))
    let refusal = try refusal(store, model)
    let texts = refusal.breaches.map { "\(items.firstIndex(of: $0.object ?? items[0]) ?? -1) \($0.text)" }
    #expect(
      Set(texts) == [
        "0 shares its name with \(items[2].key)", "2 shares its name with \(items[0].key)",
        "2 has no origin, which is required",
        "0 breaks a rule: price is less than 2", "1 breaks a rule: price is less than 2",
      ])
    #expect(refusal.more == 0)
  }

  @Test func violationsOfNewRuleAreAllReported() throws {
    let store = try ShopVersions.filled()
    let items = try store.all("Item", sort: "number").map(\.id)
    let model = try ShopVersions.model(
      ShopVersions.first.replacing(#""version": 1"#, with: #""version": 2"#)
        .replacing(#""cases": ["small", "large"]"#, with: #""cases": ["large", "huge"]"#)
        .replacing(#""default": "small""#, with: #""default": "huge""#)
        .replacing(
          #""name": "origin", "type": "string", "optional": true"#, with: #""name": "origin", "type": "string""#
        )
        .replacing(#""default": 1, "indexed""#, with: #""default": 1, "minimum": 1, "indexed""#))
    let refusal = try refusal(store, model)
    let texts = refusal.breaches.map { "\(items.firstIndex(of: $0.object ?? items[0]) ?? -1) \($0.text)" }
    #expect(texts.filter { $0.contains("price") } == ["0 breaks a rule: price is less than 1"])
    #expect(texts.filter { $0.contains("origin") } == ["2 has no origin, which is required"])
    #expect(texts.filter { $0.contains("size") }.count == 4)
  }

  /// A rule of the parent applies to a subentity with further rules, and its violation is reported once.
  @Test func violationOfSubentityIsReportedOnce() throws {
    func source(_ version: Int, weight: String, mane: String) -> String {
      """
      {"format": 1, "name": "Zoo", "version": \(version), "entities": [
        {"name": "Animal", "attributes": [{"name": "weight", "type": "integer"\(weight)}]},
        {"name": "Lion", "parent": "Animal", "attributes": [{"name": "mane", "type": "integer"\(mane)}]}]}
      """
    }
    let store = try TestStore(ShopVersions.model(source(1, weight: #", "optional": true"#, mane: #", "default": 1"#)))
    let (animal, lion) = (try store.insert("Animal", [:]), try store.insert("Lion", [:]))
    let refusal = try refusal(store, ShopVersions.model(source(2, weight: "", mane: #", "default": 2, "minimum": 2"#)))
    let texts = refusal.breaches.map {
      "\($0.object == lion ? "lion" : $0.object == animal ? "animal" : "?") \($0.text)"
    }
    #expect(
      texts.sorted() == [
        "animal has no weight, which is required", "lion breaks a rule: mane is less than 2",
        "lion has no weight, which is required",
      ])
  }

  @Test func unfillablePropertyIsReportedBeforeMigration() throws {
    let store = try ShopVersions.filled()
    let model = try ShopVersions.model(
      ShopVersions.first.replacing(#""version": 1"#, with: #""version": 2"#)
        .replacing(
          #"{"name": "label", "type": "string"}"#,
          with: #"{"name": "label", "type": "string"}, {"name": "code", "type": "string"}"#))
    let refusal = try refusal(store, model)
    #expect(
      refusal.problems == [
        "Tag.code: is required, and 1 objects of Tag have none: make it optional, or give it a default or a mapping"
      ])
  }

  @Test func nullBecomesDefaultOfRequiredProperty() throws {
    let old = try ShopVersions.filled()
    try old.store.close()
    let model = try ShopVersions.model(
      ShopVersions.first.replacing(#""version": 1"#, with: #""version": 2"#)
        .replacing(
          #""name": "origin", "type": "string", "optional": true"#,
          with: #""name": "origin", "type": "string", "default": "-""#))
    #expect(try ShopVersions.migrate(old.directory, to: [model]).rewritten == 1)
    let store = try ShopVersions.opened(model, old.directory)
    #expect(try store.all("Item", "origin == '-'").count == 1)
    try expectSound(store)
  }

  @Test func toOneBecomesToMany() throws {
    let old = try ShopVersions.filled()
    try old.store.close()
    let model = try ShopVersions.model(
      ShopVersions.first.replacing(#""version": 1"#, with: #""version": 2"#)
        .replacing(
          #""destination": "Shop", "inverse": "items"}"#,
          with: #""destination": "Shop", "inverse": "items", "toMany": true}"#))
    try ShopVersions.migrate(old.directory, to: [model])
    let store = try ShopVersions.opened(model, old.directory)
    #expect(try store.all("Item", "ANY shop.title == 'corner shop'").count == 4)
    let shop = try #require(try store.all("Shop").first?.id)
    try expectSound(store)
    try store.reopen()
    try store.must([Change(.delete, shop, base: .max)])
    try expectSound(store)
  }

  @Test func olderVersionAndOtherModelAreRefused() throws {
    let store = try ShopVersions.filled()
    try store.store.close()
    let second = try ShopVersions.model(ShopVersions.second)
    try ShopVersions.migrate(store.directory, to: [second])
    let older = #expect(throws: StoreFailure.self) { try ShopVersions.migrate(store.directory, to: [store.model]) }
    #expect(older?.code == .modelDiffers)
    let opening = #expect(throws: StoreFailure.self) {
      try SQLiteStore(directory: store.directory.path, model: store.model)
    }
    #expect(opening?.description.contains("The store is newer") == true)
    let another = #expect(throws: StoreFailure.self) {
      try ShopVersions.migrate(store.directory, to: [try Fixtures.company()])
    }
    #expect(another?.code == .modelDiffers)
  }

  @Test func olderStoreReportsMigrateCommand() throws {
    let store = try ShopVersions.filled()
    try store.store.close()
    let failure = #expect(throws: StoreFailure.self) {
      try SQLiteStore(directory: store.directory.path, model: try ShopVersions.model(ShopVersions.second))
    }
    #expect(failure?.sentence.contains("has Shop version 1, but the given model is version 2") == true)
    #expect(failure?.advice.contains("stickiesd migrate --dry-run") == true)
  }
}
