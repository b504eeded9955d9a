// Tests: MirrorStoreTests.swift
import GRDBSQLite
import GraphModel

/// The references of the objects of a mirror that is being loaded, in a TEMP table, until all objects have rows.
struct ReferenceTable {
  let connection: Connection

  static let creation = """
    CREATE TEMP TABLE _waiting (number INTEGER PRIMARY KEY, id BLOB NOT NULL, entity INTEGER NOT NULL,
      slots BLOB NOT NULL)
    """

  /// The references of one object.
  struct Waiting {
    var number: Int64
    var id: ObjectID
    var values: [(slot: Int, value: Value)]
  }

  /// Returns the image without references, which wait.
  func withoutReferences(_ image: ObjectImage) throws -> ObjectImage {
    var image = image
    var slots = [UInt8]()
    for slot in image.values.indices {
      let value = image.values[slot]
      switch value {
      case .object: image.values[slot] = .null
      case .objects(let ids) where !ids.isEmpty: image.values[slot] = .objects([])
      default: continue
      }
      let bytes = value.binary
      for number in [UInt32(slot), UInt32(bytes.count)] {
        withUnsafeBytes(of: number.littleEndian) { slots += $0 }
      }
      slots += bytes
    }
    if slots.isEmpty { return image }
    let row = try connection.statement("INSERT INTO temp._waiting (id, entity, slots) VALUES (?, ?, ?)")
    row.bind(1, image.id.key)
    row.bind(2, Int64(image.id.entity))
    row.bind(3, slots)
    try connection.run(row)
    return image
  }

  /// The next objects behind a number.
  func next(after number: Int64, limit: Int) throws -> [Waiting] {
    let row = try connection.statement(
      "SELECT number, id, entity, slots FROM temp._waiting WHERE number > ? ORDER BY number LIMIT ?")
    defer { sqlite3_reset(row.statement) }
    row.bind(1, number)
    row.bind(2, Int64(limit))
    var waiting = [Waiting]()
    while try connection.step(row) {
      let id = ObjectID(key: row.id(1), entity: EntityNumber(row.integer(2)))
      waiting.append(Waiting(number: row.integer(0), id: id, values: try Self.values(row.blob(3))))
    }
    return waiting
  }

  private static func values(_ bytes: [UInt8]) throws -> [(slot: Int, value: Value)] {
    var values = [(slot: Int, value: Value)]()
    var place = 0
    func number() throws -> Int {
      try invariant(place + 4 <= bytes.count, "the references of an object are complete")
      defer { place += 4 }
      return bytes[place..<(place + 4)].reversed().reduce(0) { $0 << 8 | Int($1) }
    }
    while place < bytes.count {
      let (slot, count) = (try number(), try number())
      try invariant(place + count <= bytes.count, "the references of an object are complete")
      values.append((slot, try Value(binary: bytes[place..<(place + count)])))
      place += count
    }
    return values
  }
}
