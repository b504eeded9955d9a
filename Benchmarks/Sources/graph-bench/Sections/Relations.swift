import GraphModel

extension Bench {
  private static let relatedCounts = [10, 1_000]

  /// The object whose property is changed, and the relationship to the related objects.
  private struct Related: Sendable {
    let name: String
    let entity: String
    let relationship: String
    let others: String
    /// The property that the commits change, and its value for a number.
    let property: String
    let value: @Sendable (Int) -> Value
  }

  private static let relations = [
    Related(
      name: "a department's people", entity: "Department", relationship: "people", others: "Person",
      property: "name", value: { .string("Name \($0)") }),
    Related(
      name: "a person's skills", entity: "Person", relationship: "skills", others: "Skill",
      property: "age", value: { .integer(Int64($0 % 100)) }),
    Related(
      name: "a skill's people", entity: "Skill", relationship: "people", others: "Person",
      property: "name", value: { .string("Name \($0)") }),
    Related(
      name: "a person's ordered tasks", entity: "Person", relationship: "tasks", others: "Task",
      property: "age", value: { .integer(Int64($0 % 100)) }),
  ]

  /// Measures the cost of saving one changed property against the number of related objects, and the rows that such a
  /// commit writes.
  func measureRelations() throws {
    for bench in builds { try bench.measureRelationsOfBuild() }
  }

  private func measureRelationsOfBuild() throws {
    for relation in Self.relations {
      var curve = Curve("one property, against \(relation.name)\(suffix)")
      var rows = [Int64]()
      for count in Self.relatedCounts {
        let data = place("related")
        let owner = try makeRelated(relation, count, data: data)
        let daemon = try Daemon(self, data: data, schema: try Staff.folder(in: self))
        defer {
          daemon.stop()
          remove(data)
        }
        let client = try WireClient(daemon.unix)
        var changes = 0
        curve.add(
          Figure.text(Double(count)),
          try .measure(daemon, data: data) {
            changes += 1
            try client.commit([
              try client.update(owner, relation.entity, relation.property, relation.value(changes))
            ])
          })
        rows.append(try newestRows(data))
      }
      curve.report()
      say("| rows with the commit's revision | \(rows.map { "\($0)" }.joined(separator: " | ")) | |")
    }
  }

  private func makeRelated(_ relation: Related, _ count: Int, data: String) throws -> ObjectID {
    let staff = try StaffStore(data)
    let others = try staff.commit(
      (0..<count).map {
        try staff.insertion(relation.others, $0, [(Self.label(relation.others), .string("Other \($0)"))])
      })
    let values: [(name: String, value: Value)] = [
      (Self.label(relation.entity), .string("The one")), (relation.relationship, .objects(others)),
    ]
    let owner = try staff.commit([try staff.insertion(relation.entity, 0, values)])
    try staff.close()
    return owner[0]
  }

  private static func label(_ entity: String) -> String { entity == "Task" ? "title" : "name" }

  /// Returns the number of object and history rows that the newest commit wrote; each contains its revision.
  /// Tests/GraphStoreTests also counts the rows of other tables.
  private func newestRows(_ data: String) throws -> Int64 {
    let database = try RawDatabase(data + "/graph.sqlite")
    let head = try database.integer("SELECT max(revision) FROM _commit")
    return try ["Department", "Person", "Skill", "Task"].reduce(1) { sum, table in
      sum + (try database.integer("SELECT count(*) FROM \(table) WHERE _revision = \(head)"))
    }
  }
}
