// Tests: CheckTests.swift, BitFlipTests.swift
import GRDB
import GRDBSQLite
import GraphModel
import GraphStore

/// The check of history: the walk from the present back to the empty graph, or to the floor.
struct HistoryChecker {
  private let store: CheckedStore
  private let model: Model
  private let layout: StoreLayout
  private let objects: ObjectReader
  private let connection: Connection
  /// The number of past objects in memory.
  private let heldObjects: Int
  /// The page limit of the temporary file; nil for none.
  private let temporaryPages: Int?

  init(_ store: CheckedStore, heldObjects: Int, temporaryPages: Int?) {
    self.store = store
    (model, layout, objects, connection) = (store.model, store.layout, store.objects, store.connection)
    (self.heldObjects, self.temporaryPages) = (heldObjects, temporaryPages)
  }

  /// Rolls the present back commit by commit. Every image on the way must have the checksum that its commit recorded,
  /// and the first commit must leave an empty graph.
  func check() throws {
    // SQLite keeps a database without a name in a temporary file.
    let queue = try DatabaseQueue(path: "", configuration: temporary)
    try queue.inDatabase { scratch in try check(RollbackImageCache(scratch, limit: heldObjects)) }
    try queue.close()
  }

  /// The configuration of the temporary database, which needs no durability.
  private var temporary: Configuration {
    var configuration = Configuration()
    configuration.prepareDatabase { [temporaryPages] database in
      try database.execute(sql: "PRAGMA journal_mode = OFF")
      try database.execute(sql: "PRAGMA synchronous = OFF")
      if let temporaryPages { try database.execute(sql: "PRAGMA max_page_count = \(temporaryPages)") }
    }
    return configuration
  }

  private func check(_ present: RollbackImageCache) throws {
    let floor = try HistoryFloor.revision(connection)
    var past = HistoryCheckState(floor: floor, present: present)
    let history = HistoryReader(objects: objects)
    var problems = [(StoreFinding.Place, String)]()
    try history.forEachCommitNewestFirst(after: 0) { commit in
      let place = StoreFinding.Place(table: "_commit", row: commit.revision)
      let (gone, changes) = try past.present.with(commit.changes.map(\.id)) { present in
        // The walk meets each object first in its newest change.
        let gone = commit.changes.filter { $0.kind == .deleted && present[$0.id] == nil }
        return (gone.map(\.id), try history.rollBack(commit, in: &present))
      }
      for id in gone { past.deleted[id] = commit.revision }
      for (recorded, change) in zip(commit.changes, changes) {
        let image = change.after ?? change.before
        if let image { past.countSequences(of: image, model) }
        // Older model versions wrote other values; only the fingerprints protect those commits.
        guard commit.revision >= layout.since else { continue }
        if image.map({ Checksum.of(layout.numbers.stored($0).binary) }) != recorded.sum {
          problems.append((place, "does not produce \(change.id) as it was"))
        }
        if change.kind != .inserted, change.before == nil {
          problems.append((place, "changes \(change.id), which did not exist"))
        }
      }
    }
    for (place, text) in problems { store.report(.history, place, text) }
    try past.present.forEachExisting { image in
      // An object from a pruned commit exists at the floor, as that commit left it.
      if floor > 0, 1...floor ~= image.revision { return }
      store.report(.history, .init(object: image.id), "existed before its first commit")
    }
    try checkPresent(against: &past)
    try checkTombstones(past)
    try store.attempt("the sequences") { try checkSequences(past) }
  }

  /// Checks that a commit, possibly a pruned one, has inserted every present object.
  private func checkPresent(against past: inout HistoryCheckState) throws {
    for table in layout.orderedTables {
      let row = try connection.statement(
        "SELECT _id, _entity, _row, _revision FROM \(quoted(table.name)) ORDER BY _row")
      while try connection.step(row) {
        let id = ObjectID(key: row.id(0), entity: layout.numbers.entity(row, 1))
        guard try !past.present.contains(id) else { continue }
        if past.floor > 0, (1...past.floor).contains(row.integer(3)) {
          // No kept commit contains the sequence numbers that the object was given.
          if let image = try objects.readImage(of: id) { past.countSequences(of: image, model) }
        } else {
          store.report(.history, .init(table: table.name, row: row.integer(2), object: id), "was made by no commit")
        }
      }
    }
  }

  private func checkTombstones(_ past: HistoryCheckState) throws {
    var missing = past.deleted
    let row = try connection.statement("SELECT id, entity, revision FROM _tombstone")
    while try connection.step(row) {
      let id = ObjectID(key: row.id(0), entity: layout.numbers.entity(row, 1))
      let place = StoreFinding.Place(table: "_tombstone", object: id)
      guard let (known, revision) = missing.first(id) else {
        // Tombstones outlive the pruned commits of their deletes, until the object is revived.
        let isOlder = past.floor > 0 && (1...past.floor).contains(row.integer(2))
        if isOlder, try !past.present.contains(id), try objects.find(id) == nil, store.isKnown(id.entity) { continue }
        store.report(.tombstone, place, "was deleted by no commit")
        continue
      }
      missing[id] = nil
      if known.entity != id.entity || revision != row.integer(2) || sqlite3_column_bytes(row.statement, 0) != 16 {
        store.report(.tombstone, place, "was deleted by revision \(revision), but its tombstone differs")
      }
    }
    for (id, revision) in missing.sorted(by: { $0.key < $1.key }) {
      store.report(.tombstone, .init(object: id), "was deleted by revision \(revision), but has no tombstone")
    }
  }

  /// Checks that the next number of each sequence is one more than the highest that any object ever had.
  private func checkSequences(_ past: HistoryCheckState) throws {
    let row = try connection.statement("SELECT revision, counters FROM _commit ORDER BY revision DESC LIMIT 1")
    // Without commits no number was assigned.
    guard try connection.step(row) else { return }
    let place = StoreFinding.Place(table: "_commit", row: row.integer(0))
    let counters = try SequenceCounters.decode(row.blob(1), layout.numbers)
    let sequences = HistoryCheckState.sequences(of: model.entities)
    for property in sequences {
      let (next, highest) = (counters[property.number, default: 1], past.highest[property.number, default: 0])
      if next <= highest {
        store.report(.sequence, place, "would assign \(next) as the next \(property.name), but \(highest) was assigned")
        // Pruned commits or objects of removed entities may have had the numbers between.
      } else if next > highest + 1, past.floor == 0, store.olderRows.readers.isEmpty {
        store.report(.sequence, place, "would assign \(next) as the next \(property.name), but \(highest) was the last")
      }
    }
    // A sequence of an older version is still counted, without effect.
    for number in counters.keys.sorted()
    where store.olderRows.readers.isEmpty && !sequences.contains(where: { $0.number == number }) {
      store.report(.sequence, place, "counts property \(number), which is not a sequence")
    }
  }
}

/// The results of the walk back through history.
private struct HistoryCheckState {
  /// The revision of the last pruned commit; 0 for none.
  let floor: Revision
  var present: RollbackImageCache
  /// Deleted objects that no later commit revived.
  var deleted = [ObjectID: Revision]()
  /// The highest number that each sequence has given.
  var highest = [PropertyNumber: Int64]()

  /// The sequence attributes, each once, sorted by number.
  static func sequences(of entities: [Entity]) -> [Property] {
    let all = entities.flatMap(\.attributes).filter { $0.attribute?.assignment == .sequence }
    return Dictionary(all.map { ($0.number, $0) }, uniquingKeysWith: { $1 }).values.sorted { $0.number < $1.number }
  }

  mutating func countSequences(of image: ObjectImage, _ model: Model) {
    for property in model.attributes(of: image.id.entity) where property.attribute?.assignment == .sequence {
      guard case .integer(let number) = image[property] else { continue }
      highest[property.number] = max(highest[property.number, default: 0], number)
    }
  }
}

extension [ObjectID: Revision] {
  /// Returns the key as it was inserted: the equality of ids ignores the entity.
  fileprivate func first(_ id: ObjectID) -> (ObjectID, Revision)? { index(forKey: id).map { self[$0] } }
}
