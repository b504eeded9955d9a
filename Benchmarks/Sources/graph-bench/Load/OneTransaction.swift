import Foundation
import GraphModel

/// Runs one large transaction in its own process, so that the peak of memory is that of the transaction. Prints the
/// seconds and the peak growth of the process in KiB.
enum OneTransaction {
  enum Kind: String, CaseIterable {
    case insert, update, delete
    /// Deletes a node of a ring in which each node cascades to both neighbors.
    case cascade
  }

  /// Creates the store for the transaction.
  static func prepare(_ kind: Kind, count: Int, data: String) throws {
    let staff = try StaffStore(data)
    switch kind {
    case .insert: try staff.fill(people: 0, teams: 1)
    case .update, .delete: try staff.fill(people: count, teams: max(1, count / 20))
    case .cascade:
      let entity = try staff.entity("Node").number
      try staff.commit(
        (0..<count).map { number in
          let next = ObjectID.temporary(UInt64((number + 1) % count + 1), entity: entity)
          return try staff.insertion("Node", number, [("next", .object(next))])
        })
    }
    try staff.close()
  }

  /// - Parameter words: the kind, the number of objects, and the store's folder.
  static func run(_ words: [String]) throws {
    guard words.count == 3, let kind = Kind(rawValue: words[0]), let count = Int(words[1]) else {
      throw BenchmarkError(description: "no such transaction: \(words)")
    }
    let staff = try StaffStore(words[2])
    let request = staff.transaction(try changes(kind, count, staff))
    try ProcessFigures.forgetPeak(getpid())
    let before = ProcessFigures.value(of: "VmRSS", in: "/proc/self/status")
    let seconds = try timed { try staff.perform(request) }
    let growth = ProcessFigures.value(of: "VmHWM", in: "/proc/self/status") - before
    let left = try staff.ids(of: kind == .cascade ? "Node" : "Person").count
    guard left == (kind == .delete || kind == .cascade ? 0 : count) else {
      throw BenchmarkError(description: "after the transaction there are \(left) objects")
    }
    try staff.close()
    say("\(seconds) \(growth)")
  }

  private static func changes(_ kind: Kind, _ count: Int, _ staff: StaffStore) throws -> [Change] {
    switch kind {
    case .insert:
      let departments = try staff.ids(of: "Department")
      return try (0..<count).map { number in
        let home = Value.object(departments[number % departments.count])
        return try staff.insertion(
          "Person", number, Staff.values(ofPerson: number, teams: 500) + [("department", home)])
      }
    case .update:
      let head = try staff.store.head.revision
      return try staff.ids(of: "Person").map { id in
        Change(.update, id, base: head, edits: [try staff.edit("Person", "age", .integer(99))])
      }
    case .delete:
      let head = try staff.store.head.revision
      return try staff.ids(of: "Person").map { Change(.delete, $0, base: head) }
    case .cascade:
      let head = try staff.store.head.revision
      return try staff.ids(of: "Node", limit: 1).map { Change(.delete, $0, base: head) }
    }
  }

  /// Measures a transaction on a prepared store, in a new process.
  static func measure(_ kind: Kind, count: Int, data: String) throws -> (seconds: Double, kibibytes: Double) {
    let process = try ServerProcess(mode: ["transaction", kind.rawValue, "\(count)", data])
    let words = try process.line(timeoutSeconds: 600).split(separator: " ").compactMap { Double($0) }
    process.wait()
    guard words.count == 2 else { throw BenchmarkError(description: "the transaction of \(count) objects fails") }
    return (words[0], words[1])
  }
}
