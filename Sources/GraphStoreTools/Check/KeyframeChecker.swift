// Tests: CheckTests.swift, BitFlipTests.swift
import GRDBSQLite
import GraphModel
import GraphStore

/// The check of keyframes: each must equal its object, and `_whole` must list it.
struct KeyframeChecker {
  private let store: CheckedStore

  init(_ store: CheckedStore) { self.store = store }

  /// Checks the keyframes; a store of an older layout has none.
  func check() throws {
    guard try store.layoutVersion() >= 3 else { return }
    let history = HistoryReader(objects: store.objects)
    var held = Set<ObjectRevision>()
    var problems = [(StoreFinding.Place, String)]()
    // Commits of an older model version are read in the present version's terms, and reads of the past ignore their
    // keyframes.
    let since = store.layout.since
    try history.forEachCommitNewestFirst(after: max(0, since - 1)) { commit in
      for change in commit.changes where change.kind == .updated && !change.values.isEmpty {
        held.insert(ObjectRevision(id: change.id.key, revision: commit.revision))
        let image = ObjectImage(id: change.id, revision: commit.revision, values: change.values)
        if Checksum.of(store.layout.numbers.stored(image).binary) != change.sum {
          let place = StoreFinding.Place(table: "_commit", row: commit.revision, object: change.id)
          problems.append((place, "holds an object that differs from its state at that revision"))
        }
      }
    }
    let row = try store.connection.statement("SELECT id, revision FROM _whole WHERE revision >= ?")
    row.bind(1, since)
    while try store.connection.step(row) {
      let place = ObjectRevision(id: row.id(0), revision: row.integer(1))
      if held.remove(place) == nil || sqlite3_column_bytes(row.statement, 0) != 16 {
        problems.append(
          (
            StoreFinding.Place(table: "_whole"),
            "lists revision \(place.revision), which has no keyframe of this object"
          )
        )
      }
    }
    for place in held.sorted(by: { ($0.revision, $0.id) < ($1.revision, $1.id) }) {
      problems.append(
        (StoreFinding.Place(table: "_whole"), "does not list revision \(place.revision), which holds a complete object")
      )
    }
    for (place, text) in problems { store.report(.history, place, text) }
  }

  private struct ObjectRevision: Hashable {
    var id: UniqueID
    var revision: Revision
  }
}
