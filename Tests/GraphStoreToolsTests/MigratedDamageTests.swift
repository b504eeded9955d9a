import Foundation
import GRDB
import GraphModel
import GraphTesting
import Testing

/// Damaged rows that no commit has written since a migration, so that their checksum is that of an older version.
@Suite struct MigratedDamageTests {
  /// Migrates the shop, and returns an article that the migration did not rewrite, and another one.
  private func migrated() throws -> (TemporaryDirectory, Model, damaged: ObjectID, sound: ObjectID) {
    let old = try ShopVersions.filled()
    try old.store.close()
    let model = try ShopVersions.model(ShopVersions.second)
    try ShopVersions.migrate(old.directory, to: [model])
    let store = try ShopVersions.opened(model, old.directory)
    let articles = try store.all("Article", sort: "number")
    try #require(articles.count == 4)
    try store.store.close()
    return (old.directory, model, articles[1].id, articles[3].id)
  }

  /// Changes one row of a closed store.
  private func damage(_ directory: TemporaryDirectory, _ sql: String) throws {
    try DatabaseQueue(path: directory.path + "/graph.sqlite").inDatabase { database in
      try database.execute(sql: sql)
      #expect(database.changesCount == 1, "\(sql)")
    }
  }

  private func endedColumn(_ directory: TemporaryDirectory) throws -> String {
    try DatabaseQueue(path: directory.path + "/graph.sqlite").read { database in
      let name = try String.fetchOne(
        database, sql: "SELECT name FROM pragma_table_info('Article') WHERE name LIKE '\\_ended%' ESCAPE '\\'")
      return try #require(name)
    }
  }

  /// Values that a version keeps, adds, computes, and no longer has.
  @Test(arguments: [
    ("title", "'x'"), ("text", "'x'"), ("number", "77"), ("active", "0"), ("label", "'x'"), (nil, "77"),
  ])
  func damagedRowIsRefusedAndOthersAreServed(property: String?, value: String) throws {
    let (directory, model, damaged, sound) = try migrated()
    let column = if let property { property } else { try endedColumn(directory) }
    let key = damaged.key.bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    try damage(directory, "UPDATE Article SET \"\(column)\" = \(value) WHERE _id = x'\(key)'")
    let store = try ShopVersions.opened(model, directory)
    let refusal = try #require(throws: Refusal.self) { try store.image(damaged) }
    #expect(refusal.code == .unavailable && refusal.message.contains("\(damaged.key)"), "\(refusal)")
    #expect(try store.image(sound) != nil)
    #expect(throws: Refusal.self) { try store.all("Article") }
    var request = FetchRequest(entity: damaged.entity)
    request.omitsDamage = true
    let answer = try store.answer(request)
    #expect(answer.parts.count == 3 && answer.end.damage.objects == [damaged])
    // An edit of another object does not depend on it.
    try store.must([try store.update(sound, "Article.active", .bool(false))])
    #expect(try store.value(sound, "Article.active") == .bool(false))
  }

  private static func person(_ version: Int, _ more: String) throws -> Model {
    try Model(
      parsing: #"""
        {"format": 1, "name": "Club", "version": \#(version), "entities": [
          {"name": "P", "attributes": [{"name": "n", "type": "integer"}\#(more)]}]}
        """#.utf8)
  }

  /// Comparing such a row takes another read of it, so that an answer of many rows compares only the first ones.
  @Test(arguments: [(0, true), (1_000, false)]) func answerComparesItsFirstRows(number: Int, isFound: Bool) throws {
    let old = try TestStore(try Self.person(1, ""))
    try old.must(try (0...1_000).map { try old.insertion("P", ["n": .integer(Int64($0))]) })
    try old.store.close()
    let model = try Self.person(2, #", {"name": "m", "type": "integer", "default": 5}"#)
    try ShopVersions.migrate(old.directory, to: [model])
    try damage(old.directory, "UPDATE P SET m = 6 WHERE n = \(number)")
    let store = try ShopVersions.opened(model, old.directory)
    if isFound {
      #expect(throws: Refusal.self) { try store.all("P", sort: "n") }
    } else {
      let all = try store.all("P", sort: "n")
      let last = try #require(all.last)
      #expect(all.count == 1_001)
      #expect(throws: Refusal.self) { try store.image(last.id) }
    }
  }
}
