// Tests: CommitTests.swift, PrincipalTests.swift
import GraphModel

/// The writer's cache of the numbers that `_author` and `_replica` give to principals and clients. It is emptied at a
/// limit, and after a rollback, which may have removed rows.
struct InternTable {
  private struct Author {
    let number: Int64
    /// The shown name, if it is not the id.
    let name: String?
  }

  private struct Replica {
    let number: Int64
    /// The highest sequence number that the replica has committed; a higher one is new without a lookup.
    var highest: Int64
  }

  /// By id. The keys are `Value`s because these compare strings by bytes: a name in another normalization is another
  /// author.
  private var authors = [Value: Author]()
  private var replicas = [UniqueID: Replica]()

  private static let internLimit = 10_000

  /// Returns the number of a principal, and records its shown name.
  /// - Parameter name: the shown name; nil if it is the id.
  mutating func number(
    ofAuthor id: String, name: String?, _ names: ShownNames, _ connection: Connection
  ) throws -> Int64 {
    let known = authors[.string(id)]
    if let known, name == nil || known.name == name { return known.number }
    let number =
      try known?.number ?? CommitAuthors(connection).number(of: id)
      ?? Self.insert("INSERT INTO _author (name) VALUES (?)", connection) { $0.bind(1, id) }
    if let name, names.name(of: id) != name { try names.record(name, of: id, number: number, connection) }
    if authors.count >= Self.internLimit { authors.removeAll() }
    authors[.string(id)] = Author(number: number, name: name)
    return number
  }

  /// Returns the number of the transaction's replica, and records the sequence number as committed.
  mutating func number(of id: TransactionID, isPruned: Bool, _ connection: Connection) throws -> Int64 {
    let sequence = Int64(bitPattern: id.sequence)
    if let place = replicas.index(forKey: id.replica) {
      replicas.values[place].highest = max(replicas.values[place].highest, sequence)
      return replicas.values[place].number
    }
    let table = ReplicaTable(connection)
    let number =
      try table.number(of: id.replica)
      ?? Self.insert("INSERT INTO _replica (id) VALUES (?)", connection) { $0.bind(1, id.replica) }
    let highest = try table.highestSequence(of: number, isPruned: isPruned)
    if replicas.count >= Self.internLimit { replicas.removeAll() }
    replicas[id.replica] = Replica(number: number, highest: highest.map { max($0, sequence) } ?? sequence)
    return number
  }

  /// Whether the transaction is known not to have been committed.
  func isNew(_ id: TransactionID) -> Bool {
    replicas[id.replica].map { Int64(bitPattern: id.sequence) > $0.highest } == true
  }

  /// Runs an insert into a table of interned names.
  /// - Returns: the new number.
  private static func insert(_ sql: String, _ connection: Connection, bind: (Row) -> Void) throws -> Int64 {
    let row = try connection.statement(sql)
    bind(row)
    try connection.run(row)
    return connection.lastRow
  }
}
