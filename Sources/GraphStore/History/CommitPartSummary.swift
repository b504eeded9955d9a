// Tests: BatchHistoryTests.swift, DamagedHistoryTests.swift
import GRDBSQLite
import GraphModel

/// The content of a batch commit's `changes` column: a summary of its parts.
///
/// The changes themselves are in `_part`, one slice per row, so that neither writer nor readers hold all of them. The
/// row's fingerprint covers this summary, and the summary covers the parts. A batch may change an object in several
/// parts; so the past is read from the last part to the first.
package struct CommitPartSummary: Equatable {
  /// The number of parts; they are numbered from 1.
  package var count = 0
  /// The number of changes in all parts.
  package var changes = 0
  /// The chained checksum of the parts' bytes.
  package var sum = Checksum.seed
  /// The chained checksum after each part, by which reads verify single parts. Commits of earlier versions have none.
  package var sums = [UInt64]()
  /// The chained checksum of the parts' id ranges, by which reads select parts. Commits of earlier versions have none.
  package var boundsSum: UInt64?
  /// The concrete entities of the changed objects, ascending, in the store's numbers.
  package var entities = [EntityNumber]()

  /// Adds a part.
  package mutating func add(_ part: [UInt8], changes: Int, bounds: (low: UniqueID, high: UniqueID)) {
    count += 1
    self.changes += changes
    sum = Checksum.of(part, seed: sum)
    sums.append(sum)
    boundsSum = Self.sum(of: bounds.low, bounds.high, after: boundsSum ?? Checksum.seed)
  }

  private static func sum(of low: UniqueID, _ high: UniqueID, after sum: UInt64) -> UInt64 {
    Checksum.of(low.bytes + high.bytes, seed: sum)
  }

  /// Whether these are all parts, with the id ranges with which they were committed; without a checksum of the ranges,
  /// whether it is their number.
  func isAsWritten(_ places: [PartKey]) -> Bool {
    guard places.count == count else { return false }
    guard let boundsSum else { return true }
    return places.reduce(Checksum.seed) { Self.sum(of: $1.low, $1.high, after: $0) } == boundsSum
  }

  /// Whether a part has the bytes with which it was committed; true if only all parts together can be verified.
  func isAsWritten(_ part: [UInt8], number: Int) -> Bool {
    guard sums.count == count else { return true }
    guard number >= 1, number <= count else { return false }
    return Checksum.of(part, seed: number == 1 ? Checksum.seed : sums[number - 2]) == sums[number - 1]
  }

  func summary(_ numbers: NumberAssignment) -> ChangeSummary {
    ChangeSummary(count: changes, entities: entities.map { numbers.present(entity: $0) })
  }

  /// The number and the id range of one row of `_part`.
  package struct PartKey {
    package var number: Int
    /// The lowest id in the part; `high` is the highest.
    package var low: UniqueID
    package var high: UniqueID
  }

  /// The lowest and the highest id; nil for no ids.
  package static func bounds(_ ids: some Sequence<ObjectID>) -> (low: UniqueID, high: UniqueID)? {
    var bounds: (low: UniqueID, high: UniqueID)?
    for id in ids {
      bounds = bounds.map { (min($0.low, id.key), max($0.high, id.key)) } ?? (id.key, id.key)
    }
    return bounds
  }

  /// Decodes the summary; nil for the changes of an ordinary commit, whose first byte belongs to another field.
  package init?(_ bytes: [UInt8]) throws(MalformedMessage) {
    guard bytes.first == Self.firstByte else { return nil }
    var reader = BinaryReader(bytes)
    while let (number, field) = try reader.next() {
      switch number {
      case 2: count = try field.count()
      case 3: changes = try field.count()
      case 4: sum = try field.fixed64()
      case 5: entities.append(try field.uint32())
      case 6: sums.append(try field.fixed64())
      case 7: boundsSum = try field.fixed64()
      default: break
      }
    }
  }

  package init() {}

  /// The first byte of field 2, a number. `HistoryChange.encode` writes only messages, in field 1.
  private static let firstByte: UInt8 = 2 << 3

  var bytes: [UInt8] {
    var writer = BinaryWriter()
    writer.field(2, UInt64(count))
    writer.field(3, UInt64(changes))
    writer.fixed(4, sum)
    for entity in entities { writer.field(5, UInt64(entity)) }
    for sum in sums { writer.fixed(6, sum) }
    if let boundsSum { writer.fixed(7, boundsSum) }
    return writer.bytes
  }
}

/// Reads of commits' parts, on one connection and inside one transaction.
extension HistoryReader {
  /// The parts of a commit with their id ranges, ascending.
  package func places(of revision: Revision) throws -> [CommitPartSummary.PartKey] {
    let row = try connection.statement("SELECT number, low, high FROM _part WHERE revision = ? ORDER BY number")
    row.bind(1, revision)
    defer { sqlite3_reset(row.statement) }
    var places = [CommitPartSummary.PartKey]()
    while try connection.step(row) {
      places.append(CommitPartSummary.PartKey(number: Int(row.integer(0)), low: row.id(1), high: row.id(2)))
    }
    return places
  }

  /// The parts of a commit with their id ranges, ascending.
  /// - Throws: `Refusal(.unavailable)` if a part is missing or its id range differs, if this reader looks for damage.
  func places(of revision: Revision, in summary: CommitPartSummary) throws -> [CommitPartSummary.PartKey] {
    let places = try places(of: revision)
    if !summary.isAsWritten(places) { try reportDamagedPart(of: revision) }
    return places
  }

  /// Decodes the changes of one part.
  /// - Parameter summary: the parts of the commit; nil while its batch is being written.
  func part(_ number: Int, of revision: Revision, in summary: CommitPartSummary?) throws -> [HistoryChange] {
    let version = objects.layout.version(of: revision)
    return try decodePart(number, of: revision, in: summary) { try HistoryChange.decode($0) }
      .map { $0.present(objects.layout, version: version) }
  }

  package func partBytes(_ number: Int, of revision: Revision) throws -> [UInt8] {
    let row = try connection.statement("SELECT changes FROM _part WHERE revision = ? AND number = ?")
    row.bind(1, revision)
    row.bind(2, Int64(number))
    defer { sqlite3_reset(row.statement) }
    return try connection.step(row) ? row.blob(0) : []
  }

  /// The parts of a commit whose id range includes an object, ascending.
  func parts(of revision: Revision, holding id: ObjectID) throws -> [Int] {
    let row = try connection.statement(
      "SELECT number FROM _part WHERE revision = ? AND low <= ? AND high >= ? ORDER BY number")
    row.bind(1, revision)
    row.bind(2, id.key)
    row.bind(3, id.key)
    defer { sqlite3_reset(row.statement) }
    var numbers = [Int]()
    while try connection.step(row) { numbers.append(Int(row.integer(0))) }
    return numbers
  }

  /// Whether any commit after a revision has parts.
  func hasParts(after revision: Revision) throws -> Bool {
    let row = try connection.statement("SELECT 1 FROM _part WHERE revision > ? LIMIT 1")
    row.bind(1, revision)
    defer { sqlite3_reset(row.statement) }
    return try connection.step(row)
  }
}
