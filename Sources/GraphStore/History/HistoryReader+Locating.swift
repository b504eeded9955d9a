// Tests: PastOptionTests.swift, PastCostTests.swift
import GRDBSQLite
import GraphModel

/// Lookup of present and deleted objects by their ids.
extension HistoryReader {
  /// Returns an object's id with its concrete entity, and the revision of its delete; nil for a present object.
  /// - Parameter id: the id; its entity may be 0 if it is unknown.
  /// - Throws: `Refusal(.notFound)` if there never was such an object.
  func located(_ id: ObjectID) throws -> (id: ObjectID, deletion: Revision?) {
    if let found = try objects.find(id) { return (found.id, nil) }
    let row = try objects.connection.statement("SELECT entity, revision FROM _tombstone WHERE id = ?")
    row.bind(1, id.key)
    defer { sqlite3_reset(row.statement) }
    if try objects.connection.step(row) {
      return (ObjectID(key: id.key, entity: objects.layout.numbers.entity(row, 0)), row.integer(1))
    }
    for table in objects.layout.orderedTables {
      let other = ObjectID(key: id.key, entity: table.root.number)
      if let found = try objects.find(other) { return (found.id, nil) }
    }
    throw Self.neverExisted(id)
  }

  static func neverExisted(_ id: ObjectID) -> Refusal {
    Refusal(.notFound, "there is no object with the id \(id), and there never was one")
  }

  /// The revision of an object's last change, its delete included; 0 if history has none.
  /// - Parameter image: the present object; nil if it does not exist.
  func newestChange(of id: ObjectID, present image: ObjectImage?) throws -> Revision {
    if let image { return image.revision }
    if let deletion = try deletion(of: id) { return deletion.revision }
    return 0
  }

  /// Returns the one object, present or deleted, whose id begins with the prefix.
  /// - Parameter isVisible: whether the object may be named; another one counts as unknown.
  func located(prefix: String, where isVisible: (ObjectID) throws -> Bool = { _ in true }) throws -> ObjectID {
    guard !prefix.isEmpty, UniqueID.range(ofPrefix: prefix) != nil else {
      throw Refusal(.malformed, "\"\(prefix)\" is not the beginning of an id")
    }
    if let key = UniqueID(prefix) {
      let id = try located(ObjectID(key: key, entity: 0)).id
      guard try isVisible(id) else { throw Self.neverExisted(id) }
      return id
    }
    var found = [ObjectID]()
    func add(_ row: Row) {
      let key = row.id(0)
      if key.hasPrefix(prefix) { found.append(ObjectID(key: key, entity: objects.layout.numbers.entity(row, 1))) }
    }
    for table in objects.layout.orderedTables {
      let row = try objects.connection.statement("SELECT _id, _entity FROM \(quoted(table.name))")
      while try objects.connection.step(row) { add(row) }
    }
    let row = try objects.connection.statement("SELECT id, entity FROM _tombstone")
    while try objects.connection.step(row) { add(row) }
    found = try found.filter(isVisible)
    guard let first = found.first else {
      throw Refusal(.notFound, "there is no object whose id begins with \"\(prefix)\", and there never was one")
    }
    guard found.count == 1 else {
      let more = found.count > 10 ? ", …" : ""
      let names = found.sorted().prefix(10).map { "\($0)" }.joined(separator: ", ")
      throw Refusal(.malformed, "\"\(prefix)\" is the beginning of several ids: \(names)\(more)")
    }
    return first
  }
}
