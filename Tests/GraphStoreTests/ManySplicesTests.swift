import GraphModel
import GraphTesting
import Testing

@Suite struct ManySplicesTests {
  /// A delete that others' insertions have cut into thousands of pieces: every client must be able to read its delta.
  @Test func fragmentedSpliceIsRecordedAsOne() throws {
    let store = try TestStore(try Fixtures.stickies())
    let board = try store.insert("Board", ["name": .string("B")])
    let words = String(repeating: "ab", count: 900)
    let note = try store.insert("Note", ["board": .object(board), "text": .string(words)])
    let base = try store.store.head.revision
    let text = try store.property("Note.text").number
    func type(_ splices: [TextSplice]) throws -> WriteResult {
      try store.commit([Change(.update, note, base: base, edits: [Edit(text, .splice(splices))])])
    }
    for replica in UInt64(2)...3 {
      store.replica = UniqueID(high: replica, low: replica)
      _ = try type((0..<900).map { TextSplice(offset: 2 * $0 + Int(replica) - 2, length: 0, insertion: ".") })
    }
    store.replica = UniqueID(high: 4, low: 4)
    let record = try #require(try type([TextSplice(offset: 0, length: 1_800, insertion: "all")]).record)
    #expect(try store.value(note, "Note.text") == .string("." + "all" + String(repeating: ".", count: 1_799)))
    let change = try #require(record.changes.first)
    let edit = try #require(change.edits.first { $0.property == text })
    #expect(try Edit(binary: edit.binary) == edit)
    let property = try store.property("Note.text")
    let (before, after) = (try #require(change.before), try #require(change.after))
    #expect(edit.applied(to: before[property]) == after[property])
    #expect(try StoreCheckRun(store).findings.isEmpty)
  }
}
