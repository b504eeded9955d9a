import GRDBSQLite
import GraphModel

/// The changes that hold a whole object: what they hold must be the object, and `_whole` must say where they are.
extension StoreChecker {
  /// A store that no program of the present layout has opened has none.
  mutating func checkWholes() throws {
    guard try layoutVersion() >= 3 else { return }
    let history = HistoryReader(objects: objects)
    var held = Set<Place>()
    var problems = [(StoreCheck.Place, String)]()
    // What an older version of the model wrote is told in the present one's terms, and never walked over.
    let since = layout.since
    try history.forEachCommitNewestFirst(after: max(0, since - 1)) { commit in
      for change in commit.changes where change.kind == .updated && !change.values.isEmpty {
        held.insert(Place(id: change.id.key, revision: commit.revision))
        let image = ObjectImage(id: change.id, revision: commit.revision, values: change.values)
        if Checksum.of(layout.numbers.stored(image).binary) != change.sum {
          let place = StoreCheck.Place(table: "_commit", row: commit.revision, object: change.id)
          problems.append((place, "holds an object that is not as it was then"))
        }
      }
    }
    let row = try connection.statement("SELECT id, revision FROM _whole WHERE revision >= ?")
    row.bind(1, since)
    while try connection.step(row) {
      let place = Place(id: row.id(0), revision: row.integer(1))
      if held.remove(place) == nil || sqlite3_column_bytes(row.statement, 0) != 16 {
        problems.append(
          (StoreCheck.Place(table: "_whole"), "says that revision \(place.revision) holds an object whole: it does not")
        )
      }
    }
    for place in held.sorted(by: { ($0.revision, $0.id) < ($1.revision, $1.id) }) {
      problems.append(
        (StoreCheck.Place(table: "_whole"), "does not say that revision \(place.revision) holds an object whole"))
    }
    for (place, text) in problems { report(.history, place, text) }
  }

  private struct Place: Hashable {
    var id: UniqueID
    var revision: Revision
  }
}
