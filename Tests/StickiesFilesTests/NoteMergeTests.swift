import GraphModel
import GraphTesting
import StickiesFiles
import Testing

@Suite struct NoteMergeTests {
  private static let id = UniqueID(high: 1, low: 2)
  private static let values: [NoteField: NoteValue] = [
    .color: .word("yellow"), .tags: .words(["home"]), .x: .number(0), .y: .number(0), .pinned: .flag(false),
  ]

  private static func snapshot(
    _ text: String, _ revision: Revision, _ changed: [NoteField: NoteValue] = [:]
  ) -> NoteSnapshot {
    NoteSnapshot(
      id: id, revision: revision, number: 1, created: 0, updated: 0, values: values.merging(changed) { $1 }, text: text)
  }

  /// The file written at revision 3 from `base`, with these changes.
  private static func merge(
    _ base: String = "one", file: String = "one", server: String = "one", mine: [NoteField: NoteValue] = [:],
    theirs: [NoteField: NoteValue] = [:], held: [NoteField: NoteValue] = [:], isDetached: Bool = false
  ) throws -> NoteMerge {
    var entry = FolderManifest.Entry(file: "a.md", id: id, revision: 3, text: base, values: values)
    entry.isDetached = isDetached
    var edited = snapshot(file, 3, mine).file()
    edited.held = held
    return try NoteMerge(edited, from: entry, over: snapshot(server, 5, theirs))
  }

  @Test func textIsSentAsSplicesAgainstItsBase() throws {
    let merge = try Self.merge(
      "one two\nthree\nfour five\n", file: "ONE two\nthree\nfour 5ive\n", server: "one two\n3\nfour five\n")
    #expect(
      merge.splices == [
        TextSplice(offset: 0, length: 3, insertion: "ONE"), TextSplice(offset: 19, length: 1, insertion: "5"),
      ])
    #expect(merge.base == 3)
    #expect(try Self.merge(file: "two", server: "two").isEmpty)
    #expect(try Self.merge(server: "two").isEmpty)
  }

  @Test func mergedTextIsRebasedOnResult() throws {
    let merge = try Self.merge("ab", file: "abc", server: "Xab", isDetached: true)
    #expect(merge.base == 5)
    #expect(TextSplice.apply(merge.splices, to: "Xab") == "Xabc")
  }

  @Test func fieldsMergeIndividuallyAndTagsAsSet() throws {
    let merge = try Self.merge(
      mine: [.x: .number(7), .tags: .words(["phone"])], theirs: [.y: .number(9), .tags: .words(["home", "work"])])
    #expect(merge.edits.map(\.field) == [.x])
    #expect(merge.edits.map(\.value) == [.number(7)])
    #expect(merge.addedTags == ["phone"])
    #expect(merge.removedTags == ["home"])
    #expect(merge.conflicts.isEmpty)
  }

  @Test func conflictingFieldStaysUntilResolved() throws {
    let merge = try Self.merge(mine: [.color: .word("pink")], theirs: [.color: .word("blue")])
    #expect(merge.isEmpty)
    #expect(merge.conflicts == [.init(field: .color, mine: .word("pink"), theirs: .word("blue"))])
    let file = Self.snapshot("one", 5, [.color: .word("blue")]).file(keeping: merge.conflicts)
    #expect(String(decoding: file.bytes, as: UTF8.self).contains("\ncolor: pink\nserver-color: blue\n"))

    let waiting = try Self.merge(mine: [.color: .word("pink")], held: [.color: .word("blue")])
    #expect(waiting.isEmpty)
    #expect(waiting.conflicts.count == 1)
    let decided = try Self.merge(mine: [.color: .word("pink")])
    #expect(decided.edits.map(\.value) == [.word("pink")])
    #expect(decided.conflicts.isEmpty)
    let agreed = try Self.merge(
      mine: [.color: .word("blue")], theirs: [.color: .word("blue")], held: [.color: .word("blue")])
    #expect(agreed.conflicts.isEmpty)
  }

  @Test func missingFieldIsUnchanged() throws {
    let entry = FolderManifest.Entry(file: "a.md", id: Self.id, revision: 3, text: "one", values: Self.values)
    let merge = try NoteMerge(NoteFile(text: "one"), from: entry, over: Self.snapshot("one", 5))
    #expect(merge.isEmpty)
    #expect(merge.conflicts.isEmpty)
  }

  @Test func fileWithUnknownBaseIsRefused() throws {
    let entry = FolderManifest.Entry(file: "a.md", id: Self.id, revision: 3, text: "one", values: Self.values)
    #expect(throws: NoteMerge.UnknownBaseError.self) {
      try NoteMerge(Self.snapshot("two", 2).file(), from: entry, over: Self.snapshot("one", 5))
    }
    let written = try NoteMerge(Self.snapshot("two!", 5).file(), from: entry, over: Self.snapshot("two", 5))
    #expect(written.base == 5)
    #expect(written.splices == [TextSplice(offset: 3, length: 0, insertion: "!")])
  }

  @Test func changesOnlyOnServerAreReported() throws {
    var file = Self.snapshot("one", 3).file()
    (file.number, file.created) = (9, 9)
    let entry = FolderManifest.Entry(file: "a.md", id: Self.id, revision: 3, text: "one", values: Self.values)
    #expect(try NoteMerge(file, from: entry, over: Self.snapshot("one", 5)).ignored == ["number", "created"])
  }
}
