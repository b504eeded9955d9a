import GraphModel
import GraphTesting
import StickiesFiles
import Testing

@Suite struct FolderListTests {
  private static func list(_ texts: inout RandomTexts) -> FolderManifest {
    var list = FolderManifest(
      token: Token(store: texts.id(), revision: 4, fingerprint: .max), board: texts.id())
    for name in ["b.md", "a.md", "c.md"] {
      var entry = FolderManifest.Entry(
        file: name, id: texts.id(), revision: 3, text: texts.text(),
        values: [.x: .number(1.5), .y: .number(3), .tags: .words(["a"]), .color: .word("pink"), .pinned: .flag(true)])
      entry.isDetached = texts.random.chance(50)
      entry.isUnmarked = texts.random.chance(50)
      list[entry.id] = entry
    }
    if texts.random.chance(50) {
      list.sending = FolderManifest.PendingCommit(
        replica: texts.id(), after: 3,
        files: [
          .init(file: "new.md", id: nil, origin: "file:x", text: texts.text(), values: [:]),
          .init(file: "a.md", id: texts.id(), origin: nil, text: texts.text(), values: [.collapsed: .flag(true)]),
        ])
    }
    return list
  }

  @Test func listRoundTrips() throws {
    for seed: UInt64 in 1...100 {
      var texts = RandomTexts(seed: seed)
      let list = Self.list(&texts)
      let back = try FolderManifest(parsing: Array(list.json.text.utf8))
      #expect(back == list, "seed \(seed)")
      #expect(back.entries.map(\.file) == ["a.md", "b.md", "c.md"])
      for (one, other) in zip(back.entries, list.entries) {
        #expect(UTF8Comparison.equal(one.text, other.text), "seed \(seed)")
      }
    }
  }

  @Test func invalidListIsRefused() throws {
    var texts = RandomTexts(seed: 1)
    let good = Self.list(&texts).json.text
    func message(_ old: String, _ new: String) -> String {
      do {
        _ = try FolderManifest(parsing: Array(good.replacing(old, with: new).utf8))
        return "taken"
      } catch {
        return "\(error)"
      }
    }
    #expect(message("{\"format\":1", "{\"format\":2") == "it has format 2; this program reads format 1")
    #expect(message("{\"format\":1,", "{") == "its format is missing")
    #expect(message("\"b.md\"", "\"../b.md\"") == "it names a file that can't be in the folder")
    #expect(message("\"b.md\"", "\"a.md\"") == "a.md appears in it twice")
    #expect(message("\"x\":1.5", "\"x\":\"1\"") == "the x of a.md can't be read")
    #expect(message("\"store\":\"", "\"store\":\"!") == "its store is missing or is not an id")
    #expect(message("\"revision\":4", "\"revision\":-4") == "its revision is missing or is not a revision")
    #expect(message("}", "") != "taken")
    #expect(message("unlikely", "") == "taken")
  }

  @Test func entryOlderThanHistoryIsMergedWithPresentNote() throws {
    var texts = RandomTexts(seed: 1)
    var list = FolderManifest(token: Token(store: texts.id(), revision: 9, fingerprint: 0), board: texts.id())
    func note(_ revision: Revision, _ text: String, _ id: UniqueID) -> NoteSnapshot {
      NoteSnapshot(id: id, revision: revision, number: 1, created: 0, updated: 0, values: [:], text: text)
    }
    let (old, unchanged, young) = (texts.id(), texts.id(), texts.id())
    for (id, revision) in [(old, 3), (unchanged, 3), (young, 6)] as [(UniqueID, Revision)] {
      list[id] = .init(file: "\(revision) \(id).md", id: id, revision: revision, text: "milk\neggs\n", values: [:])
    }
    let now = note(8, "oat milk\neggs\n", old)
    let notes = [now, note(3, "milk\neggs\n", unchanged), note(8, "oat milk\neggs\n", young)]
    #expect(list.detach(upTo: 5, from: notes) == [old])
    #expect(list.detach(upTo: 5, from: notes).isEmpty, "once is enough")
    let entry = try #require(list[old])
    let merge = try NoteMerge(NoteFile(text: "milk\nbrown eggs\n"), from: entry, over: now)
    #expect(merge.base == 8)
    #expect(TextSplice.apply(merge.splices, to: now.text) == "oat milk\nbrown eggs\n")
  }
}
