import GraphModel
import GraphStore

import struct GraphModel.FetchRequest

extension Bench {
  private static let pastPeople = 100_000
  private static let pastCommits = 1_000
  private static let objectChanges = 10_000

  /// Measures a fetch of the graph as of 1,000 commits ago beside the same fetch of the present, in the store; and
  /// reading one object with 10,000 changes at a revision, wherever that is.
  func measurePast() throws {
    let data = place("past")
    let teams = Self.pastPeople / 20
    let staff = try StaffStore(data)
    try staff.fill(people: Self.pastPeople, teams: teams)
    let people = try staff.ids(of: "Person")
    for number in 0..<Self.pastCommits {
      let person = people[number * 7_919 % people.count]
      let edits = [try staff.edit("Person", "age", .integer(Int64(number % 90)))]
      try staff.commit([Change(.update, person, base: .max, edits: edits)])
    }
    let head = try staff.store.head.revision
    let then = head - Revision(Self.pastCommits)
    let all = FetchRequest(entity: try staff.entity("Person").number)
    let team = GraphPredicate.equal(try staff.property("Person", "team"), .integer(Int64(teams / 2)))
    let some = FetchRequest(entity: all.entity, predicate: team)
    var counted = all
    counted.result = .count
    for (name, request, expected) in [
      ("all of 100,000 objects", all, Self.pastPeople), ("20 of them by an index", some, 20),
      ("– how many of them there are", counted, Self.pastPeople),
    ] {
      var (present, first, again) = ([Double](), [Double](), [Double]())
      for round in 0..<Self.rounds {
        present.append(try pastTime(staff, request, nil, expected))
        // A revision that no connection shows yet.
        first.append(try pastTime(staff, request, then + Revision(2 * round), expected))
        _ = try pastTime(staff, request, then + Revision(2 * round) + 1, expected)
        again.append(try pastTime(staff, request, then + Revision(2 * round) + 1, expected))
      }
      Figure(
        name: "\(name), as of 1,000 commits ago", unit: "ms", ours: median(again) * 1e3, limit: median(present) * 1e3,
        aim: request.result == .count ? .none : .atMost(2)
      ).report()
      Figure(
        name: "– the first fetch of that revision", unit: "ms", ours: median(first) * 1e3, limit: median(present) * 1e3,
        aim: expected == Self.pastPeople && request.result != .count ? .atMost(2) : .none
      ).report()
    }
    try measureObjectsPast(staff)
    try staff.close()
    remove(data)
  }

  private func pastTime(
    _ staff: StaffStore, _ request: FetchRequest, _ revision: Revision?, _ expected: Int
  ) throws -> Double {
    var request = request
    request.at = revision
    return try timed {
      let count = try staff.store.answer(request) { _ in }.count
      guard count == expected else { throw BenchmarkError(description: "\(count) objects were found") }
    }
  }

  private func measureObjectsPast(_ staff: StaffStore) throws {
    let person = try staff.ids(of: "Person")[0]
    for number in 0..<Self.objectChanges {
      let edits = [try staff.edit("Person", "age", .integer(Int64(number % 90)))]
      try staff.commit([Change(.update, person, base: .max, edits: edits)])
    }
    let head = try staff.store.head.revision
    let times = try (0..<200).map { place in
      let revision = head - Revision(place * 7_919 % Self.objectChanges)
      let request = FetchRequest(entity: person.entity, predicate: .identifiers([person]))
      return try pastTime(staff, request, revision, 1) * 1e3
    }
    Figure(name: "an object with 10,000 changes at a revision, median", unit: "ms", ours: median(times)).report()
    Figure(
      name: "– the slowest of 200", unit: "ms", ours: times.max() ?? .nan, limit: 10, aim: .atMost(1)
    ).report()
  }
}
