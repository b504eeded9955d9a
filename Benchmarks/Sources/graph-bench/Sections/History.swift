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
  /// The aim itself, in milliseconds.
  private static let questionLimit = 10.0
  private static let body = String(repeating: "One line of a page that somebody writes.\n", count: 20)

  /// What the past of an object with 10,000 changes costs to ask, in the store; and what one changed property costs to
  /// remember.
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
    // The title changes once in a thousand, the visits otherwise.
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

  /// A kind of change: the change of a number, and how many bytes its old value has in history.
  private struct Remembered: Sendable {
    let name: String
    let oldBytes: Int
    let edit: @Sendable (StaffStore, Int) throws -> Edit
  }

  private static let remembered = [
    // A tag, the zigzag number of three bytes.
    Remembered(name: "an integer", oldBytes: 4) { pages, number in
      try pages.edit("Page", "visits", .integer(Int64(100_000 + number)))
    },
    // A tag, a length and the characters.
    Remembered(name: "a string of 12 bytes", oldBytes: 14) { pages, number in
      try pages.edit("Page", "title", .string("Page \(1_000_000 + number)"))
    },
    // One character gives way to another.
    Remembered(name: "a splice of one character in a text of 820", oldBytes: 2) { pages, number in
      // Another one whenever a place has its turn again.
      let letter = number / body.utf8.count % 2 == 0 ? "x" : "y"
      let splice = TextSplice(offset: number * 13 % body.utf8.count, length: 1, insertion: letter)
      return Edit(try pages.property("Page", "body").number, .splice([splice]))
    },
  ]

  /// Bytes by which history grows with a change, its old value not counted, beside twice the change's own wire form and 64
  /// bytes more.
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

  /// What a change adds to the frame of a transaction.
  private static func wireSize(_ change: Change) -> Int {
    func size(_ changes: [Change]) -> Int {
      let id = TransactionID(replica: UniqueID(high: 1, low: 1), sequence: 1_000)
      return Frame.encode(
        ToServer(1, .commit(Transaction(id: id, policy: .overwrite, changes: changes), acknowledged: 0))
      )
      .count
    }
    return size([change]) - size([])
  }

  /// Bytes of the pages that hold commits, and of the file.
  private func historySize(_ pages: StaffStore, _ data: String) throws -> (commits: Int64, file: Int64) {
    let database = try RawDatabase(data + "/graph.sqlite")
    // The module that counts pages is a part of most builds of SQLite, and of none that must be.
    let commits = try database.integer("SELECT sum(pgsize) FROM dbstat WHERE name = '_commit'")
    return (commits, try database.integer("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"))
  }
}
