import Foundation
import GRDB
import GraphModel
import GraphStoreTools
import GraphTesting
import Testing

@testable import GraphStore

/// Search in the index and in the texts that the index lacks, compared with memory.
@Suite struct SearchTests {
  private static let texts = [
    "毎日牛乳を買う", "京都と東京", "東京都", "今天买iPhone手机", "ซื้อนมสด", "Straße", "STRASSE", "ﬁnal", "ＦＩＮＡＬ", "İstanbul", "ıstanbul",
    "メガネ", "ﾒｶﾞﾈ", "Λόγος", "milk",
  ]
  private static let queries = [
    "牛乳", "乳", "東京", "東京都", "買う 毎日", "手机", "phone", "iph", "นม", "strass", "straß", "fin", "ist", "ガネ", "ﾒｶ", "ΛΌΓΟΣ",
    "milk", "牛乳を買", "日牛乳を買う", "京都東京",
  ]

  @Test(arguments: [1, 1_000]) func indexAndMemoryAgree(wordLimit: Int) throws {
    let store = try TestStore(try Fixtures.company(), wordLimit: wordLimit)
    for (number, text) in Self.texts.enumerated() {
      _ = try store.insert("Person", ["name": .string("p\(number)"), "bio": .string(text)])
    }
    let bio = try store.property("Person.bio")
    for query in Self.queries {
      for (predicate, isWanted) in [("bio SEARCH \"\(query)\"", true), ("NOT (bio SEARCH \"\(query)\")", false)] {
        let found = try store.all("Person", predicate).compactMap { $0[bio].stringValue }
        let expected = Self.texts.filter { $0.hasWords(beginningWith: query.words) == isWanted }
        #expect(found.map { Array($0.utf8) } == expected.map { Array($0.utf8) }, "\(predicate)")
      }
    }
    #expect(try store.all("Person", "bio SEARCH \"牛乳\"").count == 1)
    #expect(try store.all("Person", "bio SEARCH \"straß\"").count == 2)
    #expect(try store.all("Person", "bio SEARCH \"東京都\"").count == 1)
    #expect(try store.all("Person", "bio ==[c] \"strasse\"").count == 2)
    #expect(try store.all("Person", "bio CONTAINS[cd] \"fina\"").count == 2)
    try store.store.close()
    #expect(try StoreCheck.run(directory: store.directory.path, model: store.model).isEmpty)
  }

  /// An index has the beginnings of long words only, and is asked for a few of many words.
  @Test(arguments: [1, 1_000]) func longAndNumerousWordsAreMatched(wordLimit: Int) throws {
    let store = try TestStore(try Fixtures.company(), wordLimit: wordLimit)
    let long = String(repeating: "a", count: WordSplitter.maximumTermSize)
    let many = (0..<1_000).map { "w\($0)" }
    let texts = [long, long + "b", long + "c", many.joined(separator: " "), many.dropLast().joined(separator: " ")]
    for (number, text) in texts.enumerated() {
      _ = try store.insert("Person", ["name": .string("p\(number)"), "bio": .string(text)])
    }
    let name = try store.property("Person.name")
    func found(_ words: String) throws -> [String] {
      try store.all("Person", "bio SEARCH \"\(words)\"").compactMap { $0[name].stringValue }
    }
    #expect(try found(long) == ["p0", "p1", "p2"])
    #expect(try found(long + "b") == ["p1"])
    #expect(try found(long + "bb") == [])
    #expect(try found(many.joined(separator: " ")) == ["p3"])
    #expect(try found(many.dropLast().reversed().joined(separator: " ")) == ["p3", "p4"])
  }

  /// The state that a program with the previous splitter left.
  private static func makeOld(_ store: TestStore) throws {
    try store.store.close()
    try DatabaseQueue(path: store.directory.path + "/graph.sqlite").inDatabase { database in
      try database.execute(sql: "INSERT INTO \"Person.bio.words\" (\"Person.bio.words\") VALUES ('delete-all')")
      let rows = try GRDB.Row.fetchAll(database, sql: "SELECT _row, \"Person.bio\" FROM Party ORDER BY _row")
      for row in rows {
        try database.execute(
          sql: "INSERT INTO \"Person.bio.words\" (rowid, words) VALUES (?, ?)",
          arguments: [row[0] as Int64, (row[1] as String).lowercased()])
      }
      try database.execute(sql: "PRAGMA user_version = \(StoreLayout.version)")
    }
  }

  @Test func indexOfOlderSplitterIsRebuiltAtOpening() throws {
    let store = try TestStore(try Fixtures.company(), wordLimit: 1)
    for (number, text) in Self.texts.enumerated() {
      _ = try store.insert("Person", ["name": .string("p\(number)"), "bio": .string(text)])
    }
    try Self.makeOld(store)
    #expect(try StoreCheck.run(directory: store.directory.path, model: store.model).isEmpty)
    try store.reopen()
    #expect(try store.all("Person", "bio SEARCH \"牛乳\"").count == 1)
    #expect(try store.all("Person", "bio SEARCH \"straß\"").count == 2)
    // The new words are removed again.
    let person = try #require(try store.all("Person", "bio SEARCH \"牛乳\"").first)
    try store.must([store.update(person.id, "Person.bio", .string("bread"))])
    try store.reopen()
    #expect(try store.all("Person", "bio SEARCH \"牛乳\"").isEmpty)
    try store.store.close()
    #expect(try StoreCheck.run(directory: store.directory.path, model: store.model).isEmpty)
    let mark = try DatabaseQueue(path: store.directory.path + "/graph.sqlite").read { try LayoutVersion.read($0) }
    #expect(mark == LayoutVersion(layout: StoreLayout.version))
  }

  /// The pending update of a text whose new bytes are canonically equivalent to the indexed ones.
  @Test func textInAnotherNormalizationIsIndexedAfterReopening() throws {
    let store = try TestStore(try Fixtures.company(), wordLimit: 2)
    let person = try store.insert("Person", ["name": .string("p"), "bio": .string("caf\u{E9} \u{212B}")])
    _ = try store.insert("Person", ["name": .string("q"), "bio": .string("tea")])
    try store.must([store.update(person, "Person.bio", .string("cafe\u{301} A\u{30A}"))])
    try store.reopen()
    _ = try store.insert("Person", ["name": .string("r"), "bio": .string("milk")])
    #expect(try store.all("Person", "bio SEARCH \"caf\u{E9}\"").count == 1)
    #expect(try store.all("Person", "bio SEARCH \"cafe\u{301}\"").count == 1)
    try store.store.close()
    #expect(try StoreCheck.run(directory: store.directory.path, model: store.model).isEmpty)
  }
}
