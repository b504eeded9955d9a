import GraphModel
import GraphStore
import GraphWire

import struct GraphModel.FetchRequest

extension Bench {
  private static let pageModel = """
    {"format": 1, "name": "Pages", "version": 1, "entities": [
      {"name": "Page", "attributes": [
        {"name": "title", "type": "string", "default": ""}, {"name": "body", "type": "text", "default": ""},
        {"name": "visits", "type": "integer", "default": 0}, {"name": "untouched", "type": "string", "default": ""}]}]}
    """
  private static let pageChanges = 10_000
  private static let questions = 200
  /// The required time in milliseconds.
  private static let questionLimit = 10.0
  private static let body = String(repeating: "One line of a page that somebody writes.\n", count: 20)

  /// Measures queries of the history of an object with 10,000 changes, in the store, and the space for one changed
  /// property in history.
  func measureHistory() throws {
    try measureQuestions()
    try measureRemembering()
  }

  private func page(_ data: String) throws -> (store: StaffStore, id: ObjectID) {
    let store = try StaffStore(data, source: Self.pageModel)
    let ids = try store.commit([
      try store.insertion("Page", 0, [("title", .string("Page 0000000")), ("body", .string(Self.body))])
    ])
    return (store, ids[0])
  }

  private func set(_ name: String, _ value: Value, of page: ObjectID, in store: StaffStore) throws -> Change {
    Change(.update, page, base: .max, edits: [try store.edit("Page", name, value)])
  }

  // MARK: - Asking

  private func measureQuestions() throws {
    let data = place("history")
    let (pages, id) = try page(data)
    // The title changes once in a thousand commits, the visits in all others.
    for number in 0..<Self.pageChanges {
      let change =
        number % 1_000 == 0
        ? try set("title", .string("Page \(number)"), of: id, in: pages)
        : try set("visits", .integer(Int64(number)), of: id, in: pages)
      try pages.commit([change])
    }
    for name in ["visits", "title", "untouched"] {
      let property = try pages.property("Page", name).number
      let times = try (0..<Self.questions).map { _ in
        try timed { _ = try pages.store.origin(of: property, of: id) } * 1e3
      }
      let what = name == "visits" ? "changed last" : name == "title" ? "changed 1,000 commits ago" : "never changed"
      report("`why` of a property that \(what), of an object with 10,000 changes", times)
    }
    let head = try pages.store.head.revision
    let times = try (0..<Self.questions).map { number in
      var request = FetchRequest(entity: id.entity, predicate: .identifiers([id]))
      request.at = head - Revision(number * 7_919 % Self.pageChanges)
      return try timed {
        guard try pages.store.answer(request, { _ in }).count == 1 else {
          throw BenchmarkError(description: "the page is not there")
        }
      } * 1e3
    }
    report("`show --at` of an object with 10,000 changes", times)
    try pages.store.close()
    remove(data)
  }

  private func report(_ name: String, _ milliseconds: [Double]) {
    Figure(name: name + ", median", unit: "ms", ours: median(milliseconds)).report()
    Figure(
      name: "– the slowest of \(Self.questions)", unit: "ms", ours: milliseconds.max() ?? .nan,
      limit: Self.questionLimit, aim: .atMost(1)
    ).report()
  }

  // MARK: - Remembering

  /// A kind of change with its edit and the encoded size of its old value in history.
  private struct Remembered: Sendable {
    let name: String
    let oldBytes: Int
    let edit: @Sendable (StaffStore, Int) throws -> Edit
  }

  private static let remembered = [
    // A tag and a zigzag number of three bytes.
    Remembered(name: "an integer", oldBytes: 4) { pages, number in
      try pages.edit("Page", "visits", .integer(Int64(100_000 + number)))
    },
    // A tag, a length and the characters.
    Remembered(name: "a string of 12 bytes", oldBytes: 14) { pages, number in
      try pages.edit("Page", "title", .string("Page \(1_000_000 + number)"))
    },
    // Replaces one character.
    Remembered(name: "a splice of one character in a text of 820", oldBytes: 2) { pages, number in
      // Another letter each time an offset recurs.
      let letter = number / body.utf8.count % 2 == 0 ? "x" : "y"
      let splice = TextSplice(offset: number * 13 % body.utf8.count, length: 1, insertion: letter)
      return Edit(try pages.property("Page", "body").number, .splice([splice]))
    },
  ]

  /// Measures the bytes that a change adds to history, without its old value, beside twice the change's wire form
  /// plus 64 bytes.
  private func measureRemembering() throws {
    for kind in Self.remembered {
      let data = place("remembered")
      let (pages, id) = try page(data)
      var wire = 0
      let before = try historySize(pages, data)
      for number in 0..<Self.pageChanges {
        let change = Change(.update, id, base: try pages.store.head.revision, edits: [try kind.edit(pages, number)])
        wire += Self.wireSize(change)
        try pages.commit([change])
      }
      let after = try historySize(pages, data)
      try pages.close()
      let changes = Double(Self.pageChanges)
      Figure(
        name: "history of a change of \(kind.name)", unit: "bytes",
        ours: Double(after.commits - before.commits) / changes - Double(kind.oldBytes),
        limit: 2 * Double(wire) / changes + 64, aim: .atMost(1)
      ).report()
      Figure(name: "– the change on the wire", unit: "bytes", ours: Double(wire) / changes).report()
      Figure(
        name: "– the store's growth, indexes and all", unit: "bytes", ours: Double(after.file - before.file) / changes
      ).report()
      remove(data)
    }
  }

  /// Returns the bytes that a change adds to a transaction's frame.
  private static func wireSize(_ change: Change) -> Int {
    func size(_ changes: [Change]) -> Int {
      let id = TransactionID(replica: UniqueID(high: 1, low: 1), sequence: 1_000)
      return Frame.encode(
        ToServer(1, .commit(Transaction(id: id, policy: .overwrite, changes: changes)))
      )
      .count
    }
    return size([change]) - size([])
  }

  /// Returns the size of the pages with commits, and of the file, in bytes.
  private func historySize(_ pages: StaffStore, _ data: String) throws -> (commits: Int64, file: Int64) {
    let database = try RawDatabase(data + "/graph.sqlite")
    // The dbstat module is in most builds of SQLite, but not in all.
    let commits = try database.integer("SELECT sum(pgsize) FROM dbstat WHERE name = '_commit'")
    return (commits, try database.integer("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"))
  }
}
