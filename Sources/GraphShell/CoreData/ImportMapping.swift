import CoreDataStore
import GraphModel

/// The record of earlier imports of a store: the object of each row, a checksum of each value that was sent, and the
/// rows of each relationship.
///
/// The file has a line for each event and is only ever extended, so that a killed import leaves at most one incomplete
/// line. Before a commit a line says which rows it sends. If no line contains its outcome, the next import
/// searches for it in the log of the graph.
struct ImportMapping {
  /// The identity of a row: the name of its root entity, and its primary key. The numbers of entities change between
  /// the versions of an app's model. The name stays that of the first import, also if the app renames the entity.
  struct Key: Comparable, Hashable {
    let root: String
    let key: Int64

    static func < (left: Key, right: Key) -> Bool { (left.root, left.key) < (right.root, right.key) }
  }

  /// The part of a row that was sent.
  struct Row: Hashable {
    var entity: String
    /// `Z_OPT` of the row when it was read.
    var version: Int64
    /// The revision of the commit that sent it last; 0 before its answer.
    var revision: Revision = 0
    /// The sent state of each property, by its name. A property that the store or the model did not have has none, nor
    /// has one whose value could not be read.
    var sent = [String: Sent]()
  }

  /// The state of a property that an import has sent. If the row has another one now, the app has changed it.
  enum Sent: Hashable {
    /// Null, or no members.
    case nothing
    /// A checksum of a value.
    case value(UInt64)
    /// The row at the other end of a to-one.
    case object(Key)
    /// The rows of a to-many without an order, sorted.
    case members([Key])
    /// The rows of an ordered to-many.
    case list([Key])

    /// The rows at the other end of a relationship.
    var rows: [Key] {
      switch self {
      case .nothing, .value: []
      case .object(let key): [key]
      case .members(let keys), .list(let keys): keys
      }
    }

    /// Rows in the form that a relationship has now; a migration can change its kind. The order of several rows that
    /// were sent without one is not known.
    func converted(for property: Property) -> Sent {
      guard let relationship = property.relationship, let first = rows.first else { return self }
      if !relationship.isToMany { return rows.count == 1 ? .object(first) : self }
      if !relationship.isOrdered { return .members(rows.sorted()) }
      return rows.count == 1 ? .list(rows) : self
    }
  }

  /// A commit whose outcome is not known yet.
  struct Sending {
    let replica: UniqueID
    /// The id of the user who sent it; nil for the owner of the daemon.
    let user: String?
    /// The revision before it, or an earlier one.
    let after: Revision
    /// Its new and its changed rows.
    let rows: [(key: Key, row: Row)]
  }

  /// The `Z_UUID` of the store.
  let source: String
  /// The id of the graph's store.
  let target: UniqueID
  private(set) var rows = [Key: (id: UniqueID, row: Row)]()
  /// The rows by their objects.
  private(set) var keys = [UniqueID: Key]()
  /// The names in ``Key/root`` by the names of root entities in the store, where they differ.
  private(set) var roots = [String: String]()
  /// The decisions of an import about the columns of the store.
  private(set) var decisions = StoreLayout.Decisions()
  /// The version and the hash of the graph's model at the last import that has seen all objects; nil before it.
  private(set) var model: String?
  private(set) var sending: Sending?
  /// The commits of all imports.
  private(set) var commits = Set<Revision>()
  /// The newest revision that an import has made.
  private(set) var revision: Revision = 0

  static let format: Int64 = 2

  init(source: String, target: UniqueID) { (self.source, self.target) = (source, target) }

  // MARK: - Lines

  /// An event of the file.
  enum Line {
    case sending(Sending)
    case row(Key, id: UniqueID, Row)
    /// The row's object was deleted.
    case gone(Key)
    /// The root entity of a name in the store has another name in the keys.
    case root(String, key: String)
    /// All decisions about the columns of the store.
    case decided(StoreLayout.Decisions)
    /// The model of the graph, by its version and hash.
    case model(String)
    /// The commit that was being sent has ended; nil if it was refused.
    case settled(Revision?)
  }

  /// The new names of root entities: an entity that the app has renamed since the last import keeps its name in the
  /// keys. A new entity with the name of an earlier one gets another.
  /// - Parameters:
  ///   - names: the root entities of the store.
  ///   - holders: the root entities of the store that may have the objects of a name in the keys, as the graph shows
  ///     them; none for a name without objects.
  ///   - earlier: the names that such an entity may have had at an earlier import.
  func rootLines(_ names: [String], holders: [String: [String]], earlier: (String) -> [String]) -> [Line] {
    let known = Set(rows.keys.map(\.root))
    // Objects keep their ids in a migration, so they prove a new name; an earlier name only suggests it.
    var given = rootsByObjects(names, known, holders)
    for name in names where given[name] == nil && roots[name] == nil && !known.contains(name) {
      // The keys of the entity that had the earlier name, unless another one has it.
      let keys = earlier(name).filter { $0 != name && !names.contains($0) }.map { roots[$0, default: $0] }
      given[name] = keys.first { key in
        known.contains(key) && !names.contains(key) && !given.values.contains(key)
          && holders[key].map { $0.contains(name) } != false
      }
    }
    var renamed = roots.merging(given) { _, new in new }
    var lines = given.sorted { $0.key < $1.key }.map { Line.root($0.key, key: $0.value) }
    for name in names where given[name] == nil {
      let key = renamed[name, default: name]
      let holders = holders[key, default: []]
      if holders.contains(name) { continue }
      let isTaken =
        given.values.contains(key) || renamed[name] == nil && renamed.values.contains(key)
        || names.contains { renamed[$0, default: $0] == key && holders.contains($0) }
      if !isTaken { continue }
      let other = Self.unused(name, known.union(renamed.values).union(names))
      renamed[name] = other
      lines.append(.root(name, key: other))
    }
    return lines
  }

  /// New names in the keys of the root entities whose objects have another one.
  private func rootsByObjects(
    _ names: [String], _ known: Set<String>, _ holders: [String: [String]]
  ) -> [String: String] {
    func hasObjects(_ name: String, of key: String) -> Bool { holders[key, default: []].contains(name) }
    var given = [String: String]()
    for (key, candidates) in holders.sorted(by: { $0.key < $1.key }) {
      if names.contains(where: { roots[$0, default: $0] == key && hasObjects($0, of: key) }) { continue }
      // Several entities may be the candidates for one name, if the graph has their objects in one table.
      let free = candidates.filter { name in
        let present = roots[name, default: name]
        return given[name] == nil
          && (!known.contains(present) || holders[present] != nil && !hasObjects(name, of: present))
      }
      if free.count == 1 { given[free[0]] = key }
    }
    return given
  }

  private static func unused(_ name: String, _ used: Set<String>) -> String {
    var number = 2
    while used.contains("\(name) \(number)") { number += 1 }
    return "\(name) \(number)"
  }

  mutating func apply(_ line: Line) {
    switch line {
    case .sending(let sending): self.sending = sending
    case .row(let key, let id, let row):
      rows[key] = (id, row)
      keys[id] = key
    case .gone(let key):
      if let gone = rows.removeValue(forKey: key) { keys[gone.id] = nil }
    case .root(let name, let key): roots[name] = key
    case .decided(let decisions): self.decisions = decisions
    case .model(let name): model = name
    case .settled(let made):
      sending = nil
      if let made {
        commits.insert(made)
        revision = max(revision, made)
      }
    }
  }

  var head: String {
    JSON.object([
      .init("coreData", .string(source)), .init("format", .integer(Self.format)),
      .init("store", .string(target.description)),
    ]).text
  }

  /// A line that can't be read.
  struct ParseError: Error {
    let reason: String
  }

  init(head: [UInt8]) throws(ParseError) {
    let json = try Self.json(head)
    guard let source = json["coreData"]?.stringValue, let format = json["format"]?.integerValue,
      let target = json["store"]?.stringValue.flatMap({ UniqueID($0) })
    else { throw ParseError(reason: "it is not the mapping of an import") }
    guard format == Self.format else {
      throw ParseError(reason: "it has format \(format); this program reads format \(Self.format)")
    }
    self.init(source: source, target: target)
  }

  private static func json(_ bytes: [UInt8]) throws(ParseError) -> JSON {
    do {
      return try JSON(parsing: bytes)
    } catch {
      throw ParseError(reason: "\(error)")
    }
  }
}

extension ImportMapping.Line {
  var text: String {
    let member: JSON.Member
    switch self {
    case .sending(let sending):
      member = .init(
        "sending",
        .object([
          .init("replica", .string(sending.replica.description)),
          .init("user", sending.user.map(JSON.string) ?? .null), .init("after", .integer(sending.after)),
          .init("rows", .array(sending.rows.map { .object(Self.members($0.key, $0.row)) })),
        ]))
    case .row(let key, let id, let row):
      return JSON.object([.init("id", .string(id.description))] + Self.members(key, row)).text
    case .gone(let key): member = .init("gone", Self.json(key))
    case .root(let name, let key): member = .init("root", .array([.string(name), .string(key)]))
    case .decided(let decisions): member = .init("decided", decisions.json)
    case .model(let name): member = .init("model", .string(name))
    case .settled(let revision): member = .init("settled", revision.map(JSON.integer) ?? .null)
    }
    return JSON.object([member]).text
  }

  init(_ bytes: [UInt8]) throws(ImportMapping.ParseError) {
    let json: JSON
    do {
      json = try JSON(parsing: bytes)
    } catch {
      throw ImportMapping.ParseError(reason: "\(error)")
    }
    if json["row"] != nil {
      guard let id = json["id"]?.stringValue.flatMap({ UniqueID($0) }) else { throw Self.unknown }
      let (key, row) = try Self.row(json)
      self = .row(key, id: id, row)
    } else if let key = json["gone"] {
      self = .gone(try Self.key(key))
    } else if let names = json["root"] {
      guard let names = names.arrayValue, names.count == 2, let name = names[0].stringValue,
        let key = names[1].stringValue
      else { throw Self.unknown }
      self = .root(name, key: key)
    } else if let decisions = json["decided"] {
      guard let decisions = StoreLayout.Decisions(decisions) else { throw Self.unknown }
      self = .decided(decisions)
    } else if let name = json["model"] {
      guard let name = name.stringValue else { throw Self.unknown }
      self = .model(name)
    } else if let revision = json["settled"] {
      self = .settled(revision.integerValue)
    } else if let sending = json["sending"] {
      guard let replica = sending["replica"]?.stringValue.flatMap({ UniqueID($0) }),
        let after = sending["after"]?.integerValue, let items = sending["rows"]?.arrayValue
      else { throw Self.unknown }
      var rows = [(key: ImportMapping.Key, row: ImportMapping.Row)]()
      for item in items { rows.append(try Self.row(item)) }
      self = .sending(
        ImportMapping.Sending(replica: replica, user: sending["user"]?.stringValue, after: after, rows: rows))
    } else {
      throw Self.unknown
    }
  }

  private static let unknown = ImportMapping.ParseError(reason: "it is not an event of an import")

  private static func json(_ key: ImportMapping.Key) -> JSON { .array([.string(key.root), .integer(key.key)]) }

  private static func key(_ json: JSON) throws(ImportMapping.ParseError) -> ImportMapping.Key {
    guard let parts = json.arrayValue, parts.count == 2, let root = parts[0].stringValue,
      let key = parts[1].integerValue
    else { throw unknown }
    return ImportMapping.Key(root: root, key: key)
  }

  private static func members(_ key: ImportMapping.Key, _ row: ImportMapping.Row) -> [JSON.Member] {
    [
      .init("row", json(key)), .init("entity", .string(row.entity)), .init("version", .integer(row.version)),
      .init("revision", .integer(row.revision)),
      .init("sent", .object(row.sent.sorted { $0.key < $1.key }.map { JSON.Member($0.key, json($0.value)) })),
    ]
  }

  private static func json(_ sent: ImportMapping.Sent) -> JSON {
    switch sent {
    case .nothing: .null
    case .value(let sum): .string(String(sum, radix: 16))
    case .object(let key): .object([.init("object", json(key))])
    case .members(let keys): .object([.init("members", .array(keys.map(json)))])
    case .list(let keys): .object([.init("list", .array(keys.map(json)))])
    }
  }

  private static func sent(_ json: JSON) throws(ImportMapping.ParseError) -> ImportMapping.Sent {
    if case .null = json { return .nothing }
    if let sum = json.stringValue.flatMap({ UInt64($0, radix: 16) }) { return .value(sum) }
    if let object = json["object"] { return .object(try key(object)) }
    if let members = json["members"]?.arrayValue { return .members(try keys(members)) }
    if let list = json["list"]?.arrayValue { return .list(try keys(list)) }
    throw unknown
  }

  private static func keys(_ rows: [JSON]) throws(ImportMapping.ParseError) -> [ImportMapping.Key] {
    var keys = [ImportMapping.Key]()
    for row in rows { keys.append(try key(row)) }
    return keys
  }

  private static func row(
    _ json: JSON
  ) throws(ImportMapping.ParseError) -> (key: ImportMapping.Key, row: ImportMapping.Row) {
    guard let place = json["row"], let entity = json["entity"]?.stringValue,
      let version = json["version"]?.integerValue, let revision = json["revision"]?.integerValue,
      let sent = json["sent"]?.members
    else { throw unknown }
    var row = ImportMapping.Row(entity: entity, version: version, revision: revision)
    for member in sent { row.sent[member.name] = try Self.sent(member.value) }
    return (try key(place), row)
  }
}

extension StoreLayout.Decisions {
  fileprivate var json: JSON {
    .object([
      .init("tags", .object(tags.sorted { $0.key < $1.key }.map { JSON.Member($0.key, .bool($0.value)) })),
      .init("version", .string(String(version, radix: 16))),
      .init("columns", .object(columns.sorted { $0.key < $1.key }.map { JSON.Member($0.key, .string($0.value)) })),
      .init("names", .object(names.sorted { $0.key < $1.key }.map { JSON.Member($0.key, .string($0.value)) })),
    ])
  }

  fileprivate init?(_ json: JSON) {
    self.init()
    guard let tags = json["tags"]?.members, let columns = json["columns"]?.members,
      let names = json["names"]?.members,
      let version = json["version"]?.stringValue.flatMap({ UInt64($0, radix: 16) })
    else { return nil }
    self.version = version
    for tag in tags {
      guard let isTagged = tag.value.boolValue else { return nil }
      self.tags[tag.name] = isTagged
    }
    for column in columns {
      guard let name = column.value.stringValue else { return nil }
      self.columns[column.name] = name
    }
    for part in names {
      guard let name = part.value.stringValue else { return nil }
      self.names[part.name] = name
    }
  }
}
