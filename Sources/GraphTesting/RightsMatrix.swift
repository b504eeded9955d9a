import Foundation
import GraphModel
import GraphStore

/// The table of docs/threat-model.md: role × operation × object. A test compares each row with what a client meets.
///
/// The objects are notes on a board on which the user has the role, or were; on another board it is an editor, so that
/// the role decides for each object and not for the connection.
public struct RightsMatrix {
  /// A row of the table.
  public struct Row: Sendable {
    /// The role on the board; nil for none.
    public let role: Role?
    /// One of `operations`.
    public let operation: String
    /// The results for the user's own object, another user's, one that was moved away, a deleted one, and an own one
    /// that was moved away.
    public let results: [String]
    /// The statuses of the same requests over HTTP; empty if HTTP lacks the operation.
    public let statuses: [Int]

    /// The name of the role in the table.
    public var name: String { if let role { role.rawValue } else { "none" } }
  }

  /// The objects of the columns.
  public struct Objects: Sendable {
    /// The ids, in the order of `columns`.
    public fileprivate(set) var ids = [ObjectID]()
    /// The revision at which all of them were on the user's board.
    public fileprivate(set) var before: Revision = 0
  }

  /// The table can't be read.
  public struct Malformed: Error {
    let reason: String
  }

  /// The names of the columns.
  public static let columns = ["own", "others'", "moved", "deleted", "once own"]
  /// The operations that a row may have.
  public static let operations: Set = ["read", "read the past", "change", "delete", "restore"]
  /// The id of the user.
  public static let user = "user:ann"

  /// The rows, in the order of the table.
  public let rows: [Row]
  /// The store with the objects.
  public let store: TestStore
  private let here: ObjectID
  private let there: ObjectID
  private let elsewhere: ObjectID

  /// Reads the table, and makes the boards.
  public init() throws {
    rows = try Self.read()
    store = try TestStore(try Fixtures.team())
    here = try store.insert("Board", ["name": .string("here")])
    there = try store.insert("Board", ["name": .string("there")])
    elsewhere = try store.insert("Board", ["name": .string("elsewhere")])
  }

  private static func read() throws -> [Row] {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let page = try String(contentsOf: root.appendingPathComponent("docs/threat-model.md"), encoding: .utf8)
    let lines = page.split(separator: "\n").map { line in
      line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
    }
    let head = ["role", "operation"] + columns + ["over HTTP"]
    guard let start = lines.firstIndex(of: head) else { throw Malformed(reason: "the page has no table") }
    let rows = try lines[(start + 2)...].prefix { $0.count == head.count }.map { cells in
      let role = Role(rawValue: cells[0])
      guard role != nil || cells[0] == "none" else { throw Malformed(reason: "\(cells[0]) is no role") }
      return Row(
        role: role, operation: cells[1], results: Array(cells[2..<7]),
        statuses: cells[7].split(separator: " ").compactMap { Int($0) })
    }
    guard Set(rows.map(\.operation)) == operations, rows.count == (Role.allCases.count + 1) * operations.count else {
      throw Malformed(reason: "the table has no row for each role and operation")
    }
    return rows
  }

  /// The rights of the user with a role on the board.
  public func rights(_ role: Role?) -> Rights {
    var grants = [Grant(.editor, on: elsewhere.key)]
    if let role { grants.append(Grant(role, on: here.key)) }
    return Rights(user: Self.user, grants: grants)
  }

  /// Makes the objects of a row.
  public func makeObjects() throws -> Objects {
    func note(by user: String) throws -> ObjectID {
      try store.by(user) { try store.insert("Note", ["board": .object(here), "text": .string("before")]) }
    }
    var objects = Objects()
    for creator in [Self.user, "bob", "bob", Self.user, Self.user] { objects.ids.append(try note(by: creator)) }
    objects.before = try store.store.head.revision
    try store.by("bob") {
      for id in objects.ids { try store.must([try store.update(id, "Note.text", .string("now"))]) }
      for index in [2, 4] { try store.must([try store.update(objects.ids[index], "Note.board", .object(there))]) }
      try store.must([Change(.delete, objects.ids[3], base: .max)])
    }
    return objects
  }
}
