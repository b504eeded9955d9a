import GraphModel
import GraphStore
import GraphStoreTools
import GraphTesting
import Testing

/// Stored scopes: in batches, undo, imports, the check and the log.
@Suite struct ScopeStoreTests {
  private let store: TestStore
  private let boards: [ObjectID]

  init() throws {
    store = try TestStore(try Fixtures.team())
    boards = [try store.insert("Board"), try store.insert("Board")]
  }

  /// Notes on a board, each with a link to the first one and a remark on the link; more than a slice.
  private func fill(_ board: ObjectID, notes count: Int) throws -> [ObjectID] {
    let notes = try (0..<count).map { _ in try store.insert("Note", ["board": .object(board)]) }
    for note in notes {
      let link = try store.insert("Link", ["from": .object(note), "to": .object(notes[0])])
      _ = try store.insert("Remark", ["link": .object(link)])
    }
    return notes
  }

  private func scopes(_ entity: String) throws -> Set<UniqueID?> {
    Set(try store.all(entity).map { store.model.scope(of: $0) })
  }

  private func expectSound() throws {
    let findings = try StoreCheckRun(store).findings
    #expect(findings.isEmpty, "\(findings)")
    if let differences = try store.redoDifferences() { #expect(differences == []) }
  }

  @Test func batchMovesEverythingAlong() throws {
    _ = try fill(boards[0], notes: 10)
    let board = try store.property("Note.board").number
    let assignment = Batch.Assignment(board, .value(.object(boards[1])))
    try store.taken(try store.batch("Note", .update(.always, [assignment])))
    for entity in ["Note", "Link", "Remark"] { #expect(try scopes(entity) == [boards[1].key], "\(entity)") }
    try expectSound()
  }

  @Test func undoMovesEverythingBack() throws {
    let notes = try fill(boards[0], notes: 1)
    try store.must([try store.update(notes[0], "Note.board", .object(boards[1]))])
    #expect(try scopes("Remark") == [boards[1].key])
    try store.taken(try store.undo())
    for entity in ["Note", "Link", "Remark"] { #expect(try scopes(entity) == [boards[0].key], "\(entity)") }
    try store.taken(try store.redo())
    #expect(try scopes("Link") == [boards[1].key])
    try expectSound()
  }

  @Test func revivedObjectsHaveTheirScopeAgain() throws {
    _ = try fill(boards[0], notes: 1)
    try store.must([Change(.delete, boards[0], base: .max)])
    #expect(try store.all("Remark").isEmpty)
    try store.taken(try store.undo())
    for entity in ["Note", "Link", "Remark"] { #expect(try scopes(entity) == [boards[0].key], "\(entity)") }
    let creator = try store.property("Note.creator")
    #expect(try store.all("Note").map { $0[creator] } == [.string("ann")])
    try expectSound()
  }

  @Test func pastHasTheScopeOfItsTime() throws {
    let notes = try fill(boards[0], notes: 1)
    let before = try store.store.head.revision
    try store.must([try store.update(notes[0], "Note.board", .object(boards[1]))])
    let request = FetchRequest(entity: try store.entity("Remark").number, predicate: .always)
    var found = [UniqueID?]()
    for part in try store.answer(request, at: before).parts {
      if case .object(let image) = part { found.append(store.model.scope(of: image)) }
    }
    #expect(found == [boards[0].key])
  }

  @Test func importComputesScopes() throws {
    _ = try fill(boards[0], notes: 5)
    var rows = [[Value]]()
    let add = { (image: ObjectImage) in
      var values = image.values
      if let entity = store.model.entity(image.id.entity), case .stored(let number, _)? = entity.scope,
        let slot = entity.property(number)?.slot
      {
        values[slot] = .null
      }
      rows.append([.object(image.id)] + values)
    }
    _ = try store.store.export(seenBy: nil, begin: { _, _ in }, body: add)
    let copy = try TestStore(store.model)
    let batch = Batch(id: copy.nextID(), entity: 0, operation: .restore(rows: rows.count))
    let run = BatchJob(batch, author: "bob", rows: ImportedRows(rows: rows.reversed()))
    try copy.taken(try copy.store.commit([.batch(run)], now: copy.now)[0])
    for entity in ["Link", "Remark"] {
      let images = try copy.all(entity)
      #expect(images.count == 5 && images.allSatisfy { copy.model.scope(of: $0) == boards[0].key })
    }
    // The creators are those of the exported graph.
    #expect(try copy.all("Note", "creator == 'ann'").count == 5)
    #expect(try StoreCheckRun(copy).findings.isEmpty)
  }
}

struct ImportedRows: BatchRowSource {
  let rows: [[Value]]
  var count: Int { rows.count }

  func forEachChunk(_ body: ([[Value]]) throws -> Void) throws { try body(rows) }
}
