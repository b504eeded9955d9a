import GraphModel

extension Bench {
  private static let pathQueries = 10_000
  private static let pathPeople = 2_000

  private enum PathKind: String, CaseIterable {
    case toOne = "department.name == …"
    case toMany = "ANY skills.name == …"
    case count = "reports.@count == …"
    case sum = "reports.@sum.age == …"
    case subquery = "SUBQUERY(reports, $r, $r.name == … AND $r.age > 20).@count > 0"
    case either = "department.name == … OR manager.name BEGINSWITH …"
    case calculation = "manager.age - age > …"
    case part = "department.name CONTAINS[cd] …"
    case other = "ALL people.age != …"
    case all = "ALL people.age < …"
    case none = "NONE people.age == …"
    case range = "ANY people.age > …"

    /// The entity of the queries; each query matches none of its objects, or all of them.
    var entity: String { [.other, .all, .none, .range].contains(self) ? "Department" : "Person" }

    func predicate(_ number: Int) -> String {
      switch self {
      case .other: "ALL people.age != \(1_000_000 + number)"
      case .all: "ALL people.age < \(1_000_000 + number)"
      case .none: "NONE people.age == \(1_000_000 + number)"
      // A birthday of one person among twenty: another person is older than all of these bounds.
      case .range: "ANY people.age > \(number - 10_000)"
      case .toOne: "department.name == \"Nowhere \(number)\""
      case .toMany: "ANY skills.name == \"Nothing \(number)\""
      case .count: "reports.@count == \(1_000 + number)"
      case .sum: "reports.@sum.age == \(1_000_000 + number)"
      case .calculation: "manager.age - age > \(1_000_000 + number)"
      case .subquery: "SUBQUERY(reports, $r, $r.name == \"Nobody \(number)\" AND $r.age > 20).@count > 0"
      case .part: "department.name CONTAINS[cd] \"nowhere \(number)\""
      case .either: "department.name == \"Nowhere \(number)\" OR manager.name BEGINSWITH \"Nobody \(number)\""
      }
    }
  }

  /// Measures a commit beside 10,000 distinct live queries with key paths: a commit that touches none, one that
  /// changes values on their paths and touches none, and one that touches one.
  func measurePaths() throws {
    let (birthday, renaming) = (try pathCost(nil, renaming: false), try pathCost(nil, renaming: true))
    for kind in PathKind.allCases {
      Figure(
        name: "a person's age beside 10,000 \(kind.entity) queries `\(kind.rawValue)`", unit: "µs",
        ours: try pathCost(kind, renaming: false), baseline: try baseline?.pathCost(kind, renaming: false),
        limit: birthday, aim: .atMost(1.5)
      ).report()
    }
    // Twenty people work in the department, and no query uses either name.
    for kind in [PathKind.toOne, .part] {
      Figure(
        name: "a name of a department of 20 beside 10,000 × `\(kind.rawValue)`", unit: "µs",
        ours: try pathCost(kind, renaming: true), baseline: try baseline?.pathCost(kind, renaming: true),
        limit: renaming, aim: .atMost(1.5)
      ).report()
    }
    Figure(
      name: "– an age beside 10,000 × `\(PathKind.toOne.rawValue)` and one that it touches", unit: "µs",
      ours: try pathCost(.toOne, renaming: false, watched: true), limit: birthday
    ).report()
  }

  /// Returns the daemon's processor time for a commit, in microseconds.
  private func pathCost(_ kind: PathKind?, renaming: Bool, watched: Bool = false) throws -> Double {
    let data = place("paths")
    let people: [ObjectID]
    let departments: [ObjectID]
    do {
      let staff = try StaffStore(data)
      try staff.fill(people: Self.pathPeople, teams: Self.pathPeople / 20, skills: 100)
      people = try staff.ids(of: "Person")
      departments = Array(try staff.ids(of: "Department").prefix(Self.pathPeople / 20))
      try staff.close()
    }
    let daemon = try Daemon(self, data: data, schema: try Staff.folder(in: self))
    defer {
      daemon.stop()
      remove(data)
    }
    let writer = try WireClient(daemon.unix)
    let watchers = try (0..<10).map { part in
      let watcher = try WireClient(daemon.unix)
      if let kind {
        let each = Self.pathQueries / 10
        try watcher.subscribe(kind.entity, where: (0..<each).map { kind.predicate(part * each + $0) })
      }
      return watcher
    }
    let reader = try WireClient(daemon.unix)
    // The query matches only the person whom every commit then changes.
    if watched { try reader.subscribe("Person", where: "department.name == \"Department 0\"") }
    let chosen = watched ? people.indices.filter { $0 % (Self.pathPeople / 20) == 0 }.map { people[$0] } : people
    // Each value is new, because a commit without a change would cost less.
    var moves = 0
    let cost = try CommitCost.measure(daemon, data: data) {
      moves += 1
      let change =
        renaming
        ? try writer.update(
          departments[moves % departments.count], "Department", "name", .string("Another name \(moves)"))
        : try writer.update(chosen[moves % chosen.count], "Person", "age", .integer(Int64(100 + moves)))
      try writer.commit([change])
      if watched { try reader.skip(to: .delta) }
    }
    return withExtendedLifetime(watchers) { cost.processorMicroseconds }
  }
}
