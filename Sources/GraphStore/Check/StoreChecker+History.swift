import GRDB
import GRDBSQLite
import GraphModel

/// The past: the commits against their fingerprints, and the way back from the present to nothing.
extension StoreChecker {
  /// Every commit's fingerprint, from the one before it.
  mutating func checkChain() throws {
    let row = try connection.statement(
      """
      SELECT revision, time, a.name, r.id, sequence, fingerprint, undoes, undo, changes,
        EXISTS (SELECT 1 FROM _model AS m WHERE m.number = model), outcome, counters, model FROM _commit
      LEFT JOIN _author AS a ON a.number = author LEFT JOIN _replica AS r ON r.number = replica ORDER BY revision
      """)
    // Of a pruned store the chain begins where it was cut.
    let floor = try HistoryFloor.read(connection)
    var previous = floor?.fingerprint ?? 0
    var revision = floor?.revision ?? 0
    var time = floor?.time
    var setbacks = try setbacks()
    while try connection.step(row) {
      let place = StoreCheck.Place(table: "_commit", row: row.integer(0))
      if row.integer(0) != revision + 1 { report(.history, place, "does not follow revision \(revision)") }
      revision = row.integer(0)
      let undoes = row.isNull(6) ? nil : Optional(row.integer(6))
      let seal = CommitSeal(
        previous: previous, revision: revision, time: row.integer(1), author: row.text(2),
        transaction: TransactionID(replica: row.id(3), sequence: UInt64(bitPattern: row.integer(4))),
        model: row.integer(12), undoes: undoes, undo: row.blob(7), outcome: row.blob(10), counters: row.blob(11),
        changes: row.blob(8))
      if let last = time, row.integer(1) < last {
        let isKnown = setbacks.removeValue(forKey: revision) == Setback(time: row.integer(1), previous: last)
        if !isKnown { report(.history, place, "has an earlier time than the one before it, and is not marked so") }
      }
      time = row.integer(1)
      previous = UInt64(bitPattern: row.integer(5))
      if previous != seal.fingerprint { report(.fingerprint, place, "is not as it was committed") }
      // The fingerprint takes none for revision 0.
      if let undoes, undoes < 1 || undoes >= revision { report(.fingerprint, place, "undoes revision \(undoes)") }
      if row.integer(9) == 0 { report(.history, place, "was made under a model that the store does not keep") }
      if !row.isNull(10), findings.count(of: .model) == 0 { checkAnswer(row.blob(10), place) }
    }
    for revision in setbacks.keys.sorted() {
      report(.history, .init(table: "_setback", row: revision), "says that the clock went back, and it did not")
    }
  }

  /// A row of `_setback`.
  private struct Setback: Equatable {
    let time: Timestamp
    let previous: Timestamp
  }

  private func setbacks() throws -> [Revision: Setback] {
    guard try ClockSetbacks.areKept(connection) else { return [:] }
    var setbacks = [Revision: Setback]()
    let row = try connection.statement("SELECT revision, time, previous FROM _setback")
    while try connection.step(row) {
      setbacks[row.integer(0)] = Setback(time: row.integer(1), previous: row.integer(2))
    }
    return setbacks
  }

  /// What a client is told that sends the transaction again.
  private mutating func checkAnswer(_ bytes: [UInt8], _ place: StoreCheck.Place) {
    let kept = try? Committed(binary: bytes)
    let answer = kept.map { layout.numbers.present($0) }
    guard let kept, let answer, kept.binary == bytes, answer.revision == place.row,
      answer.identities.allSatisfy({ $0.temporary.isTemporary && isKnown($0.permanent.entity) })
    else { return report(.history, place, "keeps an answer that is not its own") }
  }

  /// Takes the present back commit by commit: every image on the way must have the checksum that its commit recorded,
  /// and the first commit must leave nothing.
  mutating func checkHistory() throws {
    // SQLite keeps a database without a name in a temporary file.
    let queue = try DatabaseQueue(path: "", configuration: temporary)
    try queue.inDatabase { scratch in try checkHistory(PastImages(scratch, limit: heldObjects)) }
    try queue.close()
  }

  /// Nothing of it has to outlive the run.
  private var temporary: Configuration {
    var configuration = Configuration()
    configuration.prepareDatabase { [temporaryPages] database in
      try database.execute(sql: "PRAGMA journal_mode = OFF")
      try database.execute(sql: "PRAGMA synchronous = OFF")
      if let temporaryPages { try database.execute(sql: "PRAGMA max_page_count = \(temporaryPages)") }
    }
    return configuration
  }

  private mutating func checkHistory(_ present: PastImages) throws {
    let floor = try HistoryFloor.read(connection)?.revision ?? 0
    var past = Past(floor: floor, present: present)
    let history = HistoryReader(objects: objects)
    var problems = [(StoreCheck.Place, String)]()
    try history.forEachCommitNewestFirst(after: 0) { commit in
      let place = StoreCheck.Place(table: "_commit", row: commit.revision)
      let (gone, changes) = try past.present.with(commit.changes.map(\.id)) { present in
        // An object that is met for the first time is met in its newest change.
        let gone = commit.changes.filter { $0.kind == .deleted && present[$0.id] == nil }
        return (gone.map(\.id), try history.takeBack(commit, in: &present))
      }
      for id in gone { past.deleted[id] = commit.revision }
      for (recorded, change) in zip(commit.changes, changes) {
        let image = change.after ?? change.before
        if let image { past.countSequences(of: image, model) }
        // Under an older version an object had other values: those commits have their fingerprints.
        guard commit.revision >= layout.since else { continue }
        if image.map({ Checksum.of(layout.numbers.stored($0).binary) }) != recorded.sum {
          problems.append((place, "does not lead to \(change.id) as it is"))
        }
        if change.kind != .inserted, change.before == nil {
          problems.append((place, "changes \(change.id), which was not there"))
        }
      }
    }
    for (place, text) in problems { report(.history, place, text) }
    try past.present.forEachThere { image in
      // What a pruned commit made is there at the floor, as that commit left it.
      guard !(1...max(1, floor)).contains(image.revision) || floor == 0 else { return }
      report(.history, .init(object: image.id), "was there before its first commit")
    }
    try checkPresent(against: &past)
    try checkTombstones(past)
    attempt("the sequences") { try $0.checkSequences(past) }
  }

  /// Every object that is there must have been made by some commit, be it one that was pruned.
  private mutating func checkPresent(against past: inout Past) throws {
    for table in layout.orderedTables {
      let row = try connection.statement(
        "SELECT _id, _entity, _row, _revision FROM \(quoted(table.name)) ORDER BY _row")
      while try connection.step(row) {
        let id = ObjectID(key: row.id(0), entity: layout.numbers.entity(row, 1))
        guard try !past.present.contains(id) else { continue }
        if past.floor > 0, (1...past.floor).contains(row.integer(3)) {
          // No commit that is kept shows the numbers that it was given.
          if let image = try objects.readImage(of: id) { past.countSequences(of: image, model) }
        } else {
          report(.history, .init(table: table.name, row: row.integer(2), object: id), "was made by no commit")
        }
      }
    }
  }

  private mutating func checkTombstones(_ past: Past) throws {
    var missing = past.deleted
    let row = try connection.statement("SELECT id, entity, revision FROM _tombstone")
    while try connection.step(row) {
      let id = ObjectID(key: row.id(0), entity: layout.numbers.entity(row, 1))
      let place = StoreCheck.Place(table: "_tombstone", object: id)
      guard let (known, revision) = missing.first(id) else {
        // Tombstones outlive the commits that they are of, until the object comes back.
        let isOlder = past.floor > 0 && (1...past.floor).contains(row.integer(2))
        if isOlder, try !past.present.contains(id), try objects.find(id) == nil, isKnown(id.entity) { continue }
        report(.tombstone, place, "was deleted by no commit")
        continue
      }
      missing[id] = nil
      if known.entity != id.entity || revision != row.integer(2) || sqlite3_column_bytes(row.statement, 0) != 16 {
        report(.tombstone, place, "was deleted by revision \(revision), and is remembered otherwise")
      }
    }
    for (id, revision) in missing.sorted(by: { $0.key < $1.key }) {
      report(.tombstone, .init(object: id), "was deleted by revision \(revision), and is not remembered")
    }
  }

  /// The number that a sequence gives next is one more than the highest that any object ever had.
  private mutating func checkSequences(_ past: Past) throws {
    let row = try connection.statement("SELECT revision, counters FROM _commit ORDER BY revision DESC LIMIT 1")
    guard try connection.step(row) else { return }
    let place = StoreCheck.Place(table: "_commit", row: row.integer(0))
    let counters = try StoreWriter.decodeCounters(row.blob(1), layout.numbers)
    let sequences = Past.sequences(of: model.entities)
    for property in sequences {
      let (next, highest) = (counters[property.number] ?? 1, past.highest[property.number] ?? 0)
      if next <= highest {
        report(.sequence, place, "gives \(next) as the next \(property.name), and \(highest) has been given")
        // Objects of an entity that is gone by now, or commits that are, may have had the numbers between.
      } else if next > highest + 1, past.floor == 0, older.isEmpty {
        report(.sequence, place, "gives \(next) as the next \(property.name), and \(highest) was the last")
      }
    }
    // What was a sequence in an older version is still counted, and nobody asks.
    for number in counters.keys.sorted() where older.isEmpty && !sequences.contains(where: { $0.number == number }) {
      report(.sequence, place, "counts property \(number), which is no sequence")
    }
  }
}

/// What the way back has shown.
private struct Past {
  /// Commits up to it were pruned; 0 for none.
  let floor: Revision
  var present: PastImages
  /// Those that no later commit brought back.
  var deleted = [ObjectID: Revision]()
  /// The highest number that a sequence has given.
  var highest = [PropertyNumber: Int64]()

  /// Each once, by number.
  static func sequences(of entities: [Entity]) -> [Property] {
    let all = entities.flatMap(\.attributes).filter { $0.attribute?.assignment == .sequence }
    return Dictionary(all.map { ($0.number, $0) }, uniquingKeysWith: { $1 }).values.sorted { $0.number < $1.number }
  }

  mutating func countSequences(of image: ObjectImage, _ model: Model) {
    for property in model.entity(image.id.entity)?.attributes ?? [] where property.attribute?.assignment == .sequence {
      guard case .integer(let number) = image[property] else { continue }
      highest[property.number] = max(highest[property.number] ?? 0, number)
    }
  }
}

extension [ObjectID: Revision] {
  /// The key as it was put in: equality of ids leaves the entity out.
  fileprivate func first(_ id: ObjectID) -> (ObjectID, Revision)? { index(forKey: id).map { self[$0] } }
}
