import CSQLite
import GraphModel
import GraphWire

/// The limit of a snapshot: reads rows through SQLite's C functions and encodes them with the daemon's encoder.
struct RawSnapshot {
  private let database: RawDatabase
  private let entity: Welcome.EntityEntry
  private let boards: [Int64: ObjectID]

  /// - Parameter client: a client of a daemon with the same model, for the properties of a note.
  init(_ path: String, client: WireClient) throws {
    database = try RawDatabase(path)
    guard let entity = client.entities["Note"] else { throw BenchmarkError(description: "there are no notes") }
    self.entity = entity
    var boards = [Int64: ObjectID]()
    let rows = try Statement(database, "SELECT _row, _id, _entity FROM Board")
    while try rows.step() { boards[rows.integer(0)] = Self.id(rows, 1, 2) }
    self.boards = boards
  }

  private static func id(_ row: Statement, _ key: Int32, _ entity: Int32) -> ObjectID {
    let bytes = row.blob(key)
    guard bytes.count == 16 else { return ObjectID(key: .zero, entity: 0) }
    let high = UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))
    let low = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    return ObjectID(key: UniqueID(high: high, low: low), entity: EntityNumber(row.integer(entity)))
  }

  /// Reads and encodes all notes; returns their number and the encoded size.
  func run() throws -> (count: Int, bytes: Int) {
    let slots = entity.properties.filter(\.isStored)
    let names = slots.map { "t.\"\($0.name)\"" }.joined(separator: ", ")
    let rows = try Statement(
      database, "SELECT t._row, t._id, t._entity, t._revision, \(names) FROM Note AS t ORDER BY t._id")
    let types = slots.map(\.type)
    var encoder = ChunkEncoder(request: 1)
    var (count, bytes) = (0, 0)
    while try rows.step() {
      var values = [Value]()
      values.reserveCapacity(types.count)
      for (index, type) in types.enumerated() { values.append(value(rows, Int32(index + 4), type)) }
      let image = ObjectImage(id: Self.id(rows, 1, 2), revision: rows.integer(3), values: values)
      if let frame = encoder.append(image) { bytes += frame.count }
      count += 1
    }
    bytes += encoder.finish(at: Token(store: .zero, revision: 1, fingerprint: 1)).count
    return (count, bytes)
  }

  /// Converts a column of one of a note's types.
  private func value(_ row: Statement, _ column: Int32, _ type: String) -> Value {
    if row.isNull(column) { return type == "toMany" ? .objects([]) : .null }
    return switch type {
    case "bool": .bool(row.integer(column) != 0)
    case "integer": .integer(row.integer(column))
    case "date": .date(row.integer(column))
    case "double": .double(row.double(column))
    case "toOne": boards[row.integer(column)].map(Value.object) ?? .null
    case "toMany": .objects([])
    default: .string(row.text(column))
    }
  }
}
