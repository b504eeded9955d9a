import GraphModel

/// A fetch of rows, with its expected answer computed without the store's code.
struct ExpectedRowFetch: Sendable {
  let event: CoverageEvent
  let entity: String
  let properties: String
  var groups = ""
  var isDistinct = false
  var sort = ""
  /// Computes the rows from the matching objects, sorted by id.
  let rows: @Sendable ([ObjectImage], RecordedGraph) -> [[Value]]

  static let all = [
    ExpectedRowFetch(
      event: .fetchedGroups, entity: "Item", properties: "kind, @count, @sum.size, @max.size", groups: "kind"
    ) { items, graph in
      groups(items) { [graph.value("kind", of: $0)] }.map { key, items in
        let sizes = items.map { graph.value("size", of: $0) }
        return key + [.integer(Int64(items.count)), sum(sizes), most(sizes)]
      }
    },
    ExpectedRowFetch(
      event: .fetchedGroups, entity: "Item", properties: "folder.name, @count AS n", groups: "folder.name",
      sort: "-n,folder.name"
    ) { items, graph in
      groups(items) { [graph.value("name", of: $0, through: "folder")] }
        .map { $0.key + [.integer(Int64($0.members.count))] }
        .sorted { $0[1] == $1[1] ? precedes([$0[0]], [$1[0]]) : precedes([$1[1]], [$0[1]]) }
    },
    ExpectedRowFetch(
      event: .fetchedGroups, entity: "Thing", properties: "done, @min.price, @max.at", groups: "done"
    ) { things, graph in
      groups(things) { [graph.value("done", of: $0)] }.map { key, things in
        key + [least(things.map { graph.value("price", of: $0) }), most(things.map { graph.value("at", of: $0) })]
      }
    },
    ExpectedRowFetch(event: .fetchedDistinct, entity: "Item", properties: "kind, folder.name", isDistinct: true) {
      items, graph in
      groups(items) { [graph.value("kind", of: $0), graph.value("name", of: $0, through: "folder")] }.map(\.key)
    },
    ExpectedRowFetch(
      event: .fetchedAggregate, entity: "Item", properties: "@count, @sum.size, @min.size, @max.size"
    ) { items, graph in
      let sizes = items.map { graph.value("size", of: $0) }
      return [[.integer(Int64(items.count)), sum(sizes), least(sizes), most(sizes)]]
    },
    ExpectedRowFetch(
      event: .fetchedRows, entity: "Thing", properties: "number, length(memo) AS letters", sort: "-number"
    ) { things, graph in
      things.map { thing -> [Value] in
        let memo = graph.value("memo", of: thing).stringValue
        return [graph.value("number", of: thing), memo.map { .integer(Int64($0.unicodeScalars.count)) } ?? .null]
      }.sorted { precedes([$1[0]], [$0[0]]) }
    },
  ]

  /// The objects grouped by a key, sorted by key.
  private static func groups(
    _ objects: [ObjectImage], _ key: (ObjectImage) -> [Value]
  ) -> [(key: [Value], members: [ObjectImage])] {
    Dictionary(grouping: objects, by: key).sorted { precedes($0.key, $1.key) }.map { ($0.key, $0.value) }
  }

  static func precedes(_ left: [Value], _ right: [Value]) -> Bool {
    for (left, right) in zip(left, right) where left != right { return Value.order(left, right) == .ascending }
    return false
  }

  private static func sum(_ values: [Value]) -> Value {
    .integer(values.reduce(0) { if case .integer(let number) = $1 { $0 + number } else { $0 } })
  }

  private static func most(_ values: [Value]) -> Value {
    values.reduce(.null) { precedes([$0], [$1]) ? $1 : $0 }
  }

  private static func least(_ values: [Value]) -> Value {
    values.filter { !$0.isNull }.reduce(.null) { $0.isNull || precedes([$1], [$0]) ? $1 : $0 }
  }
}

extension RecordedGraph {
  /// The value of a named property, of the object or at the end of a to-one relationship; null if there is none.
  func value(_ name: String, of image: ObjectImage, through relationship: String? = nil) -> Value {
    guard let relationship else {
      return model.entity(image.id.entity)?.property(named: name).map { image[$0] } ?? .null
    }
    return value(relationship, of: image).objectID.flatMap { images[$0] }.map { value(name, of: $0) } ?? .null
  }
}
