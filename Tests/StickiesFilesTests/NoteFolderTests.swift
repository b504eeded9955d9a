#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif
import GraphModel
import GraphTesting
import StickiesFiles
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite struct NoteFolderTests {
  private static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

  private static func read(_ path: String) -> String? {
    FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
  }

  private static func put(_ path: String, _ text: String) {
    #expect(FileManager.default.createFile(atPath: path, contents: Data(text.utf8)))
  }

  @Test func fileIsWrittenOnlyOverReadContents() throws {
    let home = try TemporaryDirectory()
    let folder = try NoteFolder(home.path + "/notes", creates: true)
    let path = home.path + "/notes/a.md"
    #expect(try folder.create("a.md", Self.bytes("one")))
    #expect(try !folder.create("a.md", Self.bytes("two")))
    #expect(Self.read(path) == "one")
    #expect(try folder.replace("a.md", Self.bytes("two"), over: Self.bytes("one")))
    #expect(try !folder.replace("a.md", Self.bytes("three"), over: Self.bytes("one")))
    #expect(try !folder.replace("b.md", Self.bytes("three"), over: Self.bytes("one")))
    #expect(Self.read(path) == "two")
    #expect(try !folder.remove("a.md", over: Self.bytes("one")))
    #expect(try folder.remove("a.md", over: Self.bytes("two")))
    #expect(try FileManager.default.contentsOfDirectory(atPath: home.path + "/notes").isEmpty)
  }

  @Test func nothingOutsideFolderIsAccessed() throws {
    let home = try TemporaryDirectory()
    let folder = try NoteFolder(home.path + "/notes", creates: true)
    let (outside, link) = (home.path + "/outside", home.path + "/notes/link.md")
    Self.put(outside, "secret")
    #expect(symlink(outside, link) == 0)
    let files = try folder.files()
    #expect(files.map(\.name) == ["link.md"])
    #expect(throws: FolderFile.ReadError.self) { try files[0].content.get() }
    #expect(try !folder.create("link.md", Self.bytes("x")))
    #expect(try !folder.replace("link.md", Self.bytes("x"), over: Self.bytes("secret")))
    #expect(try !folder.remove("link.md", over: Self.bytes("secret")))
    // Not through the name that files have while they are written, either.
    #expect(symlink(outside, home.path + "/notes/.stickies-new") == 0)
    #expect(try folder.create("a.md", Self.bytes("one")))
    #expect(Self.read(outside) == "secret")
    #expect(Self.read(home.path + "/notes/a.md") == "one")
  }

  @Test func onlyRegularVisibleMarkdownFilesAreNotes() throws {
    let home = try TemporaryDirectory()
    for name in ["b.md", "a.md", ".hidden.md", "a.txt", "a.md~"] { Self.put(home.path + "/" + name, name) }
    #expect(mkdir(home.path + "/folder.md", 0o700) == 0)
    let folder = try NoteFolder(home.path)
    #expect(try folder.files().map(\.name) == ["a.md", "b.md"])
    // A pipe without a writer is reported, and nothing waits for one.
    #expect(mkfifo(home.path + "/pipe.md", 0o600) == 0)
    let files = try folder.files()
    #expect(files.map(\.name) == ["a.md", "b.md", "pipe.md"])
    #expect(throws: FolderFile.ReadError.self) { try files[2].content.get() }
  }

  @Test func folderIsLockedByOneRun() throws {
    let home = try TemporaryDirectory()
    do {
      let first = try NoteFolder(home.path)
      #expect {
        _ = try NoteFolder(home.path)
      } throws: { error in
        (error as? Refusal)?.message == "another run is using \(home.path)"
      }
      withExtendedLifetime(first) {}
    }
    _ = try NoteFolder(home.path)
    #expect {
      _ = try NoteFolder(home.path + "/none")
    } throws: { error in
      (error as? Refusal)?.code == .notFound
    }
  }

  @Test func listIsStoredAndDamagedOneRefused() throws {
    let home = try TemporaryDirectory()
    let folder = try NoteFolder(home.path)
    #expect(try folder.list() == nil)
    let id = UniqueID(high: 1, low: 2)
    let list = FolderManifest(token: Token(store: id, revision: 3, fingerprint: 4), board: id)
    try folder.write(list)
    #expect(try folder.list() == list)
    Self.put(home.path + "/" + FolderManifest.name, "[")
    #expect {
      _ = try folder.list()
    } throws: { error in
      (error as? Refusal)?.message.contains("move it away, and export into an empty folder") == true
    }
  }

  // MARK: - Operations on a folder

  private static func note(_ low: UInt64, _ text: String, revision: Revision = 1) -> NoteSnapshot {
    NoteSnapshot(
      id: UniqueID(high: 1, low: low), revision: revision, number: Int64(low), created: 0, updated: 0,
      values: [.color: .word("pink"), .tags: .words([]), .x: .number(0)], text: text)
  }

  /// One file is listed as `é` in one scalar, the other as `e` and a mark.
  @Test func canonicallyEquivalentFileNamesAreDistinct() throws {
    let notes = [Self.note(1, "one"), Self.note(2, "two")]
    let names = ["caf\u{E9}.md", "cafe\u{301}.md"]
    var list = FolderManifest(
      token: Token(store: UniqueID(high: 1, low: 9), revision: 1, fingerprint: 0), board: UniqueID(high: 1, low: 8))
    for (name, note) in zip(names, notes) {
      var entry = FolderManifest.Entry(file: name, id: note.id, revision: 1, text: note.text, values: note.values)
      entry.isUnmarked = true
      list[note.id] = entry
    }
    let back = try FolderManifest(parsing: Array(list.json.text.utf8))
    #expect(back.entries.count == 2)
    let files = zip(names, ["one and more", "two"]).map { name, text in
      FolderFile(name: name, content: .success(Array(text.utf8)))
    }
    let changes = FolderChanges(of: files, list: back, notes: notes, elsewhere: [])
    #expect(changes.new.isEmpty && changes.missing.isEmpty && changes.skipped.isEmpty)
    #expect(changes.edits.map(\.theirs.id) == [notes[0].id])
    // Without the first file its note is gone, regardless of the other one's name.
    let fewer = FolderChanges(of: Array(files.dropFirst()), list: back, notes: notes, elsewhere: [])
    #expect(fewer.missing.map(\.theirs.id) == [notes[0].id] && fewer.edits.isEmpty)
  }

  /// Compares the folder with the notes and writes it, as an export or as the end of a run both ways.
  private static func run(
    _ folder: NoteFolder, _ list: inout FolderManifest, _ notes: [NoteSnapshot], isExport: Bool = true
  ) throws -> (FolderChanges, FolderWritePlan, NoteFolder.WriteCounts) {
    let changes = FolderChanges(of: try folder.files(), list: list, notes: notes, elsewhere: [])
    let writing = FolderWritePlan(changes, notes: notes, isExport: isExport)
    list = changes.list
    return (changes, writing, try folder.perform(writing.steps, &list))
  }

  private static func empty() -> FolderManifest {
    FolderManifest(
      token: Token(store: .zero, revision: 0, fingerprint: 0), board: UniqueID(high: 9, low: 9))
  }

  @Test func secondRunWritesNothingAndKeepsEdits() throws {
    let home = try TemporaryDirectory()
    let folder = try NoteFolder(home.path)
    var list = Self.empty()
    let notes = [Self.note(1, "one"), Self.note(2, "two")]
    #expect(try Self.run(folder, &list, notes).2.written == 2)
    #expect(try Self.run(folder, &list, notes).2.written == 0)
    let name = try #require(list[notes[0].id]?.file)
    Self.put(home.path + "/" + name, (Self.read(home.path + "/" + name) ?? "") + "more\n")
    let (changes, writing, written) = try Self.run(folder, &list, [Self.note(1, "One", revision: 2), notes[1]])
    #expect(changes.edits.map(\.merge.base) == [1])
    #expect(writing.unsent == [name])
    #expect(written == NoteFolder.WriteCounts())
    // The note is deleted on the server and edited here: a conflict, and the file stays. The other file is removed.
    let (gone, _, removed) = try Self.run(folder, &list, [])
    #expect(gone.conflicts == [.init(file: name, values: nil)])
    #expect(removed.removed == 1)
    #expect(try folder.files().map(\.name) == [name])
  }

  @Test func interruptedRunIsRecognizedByItsFiles() throws {
    let home = try TemporaryDirectory()
    let folder = try NoteFolder(home.path)
    var list = Self.empty()
    #expect(try Self.run(folder, &list, [Self.note(1, "one")]).2.written == 1)
    var later = list
    let notes = [Self.note(1, "one!", revision: 4), Self.note(2, "two", revision: 5)]
    #expect(try Self.run(folder, &later, notes).2.written == 2)
    let (changes, _, written) = try Self.run(folder, &list, notes)
    #expect(changes.edits.isEmpty)
    #expect(changes.new.isEmpty)
    #expect(changes.skipped.isEmpty)
    #expect(written.written == 0)
    #expect(list == later)
  }

  @Test func fileNameTakenByOtherNoteLeavesOldNoteWithoutFile() throws {
    let home = try TemporaryDirectory()
    let folder = try NoteFolder(home.path)
    var list = Self.empty()
    let notes = [Self.note(1, "one"), Self.note(2, "two"), Self.note(3, "three")]
    #expect(try Self.run(folder, &list, notes).2.written == 3)
    let files = try notes.map { try #require(list[$0.id]?.file) }
    // The first file over the second, and the third without its front matter.
    #expect(rename(home.path + "/" + files[0], home.path + "/" + files[1]) == 0)
    Self.put(home.path + "/" + files[2], "three\n")
    let changes = FolderChanges(of: try folder.files(), list: list, notes: notes, elsewhere: [])
    #expect(changes.list[notes[0].id]?.file == files[1])
    #expect(changes.new.map(\.file) == [files[2]])
    #expect(Set(changes.missing.map(\.theirs.id)) == [notes[1].id, notes[2].id])
    #expect(Set(changes.list.entries.map(\.file)).count == 3)
    #expect(try FolderManifest(parsing: Array(changes.list.json.text.utf8)) == changes.list)
    // An export writes them again, beside what is there.
    list = changes.list
    #expect(try Self.run(folder, &list, notes).2.written == 2)
    #expect(try folder.files().count == 4)
  }

  @Test func noteWithTooManyTagsIsReportedAndOthersWritten() throws {
    let home = try TemporaryDirectory()
    let folder = try NoteFolder(home.path)
    var list = Self.empty()
    var large = Self.note(1, "one")
    large.values[.tags] = .words(of: (0...1_000).map { "t\($0)" })
    let (_, writing, written) = try Self.run(folder, &list, [large, Self.note(2, "two")])
    #expect(written.written == 1)
    #expect(writing.skipped.map(\.reason) == ["it would have 1001 tags; at most 1000 are allowed"])
    #expect(list.entries.count == 1)
  }

  @Test func concurrentEditDuringRunIsKept() throws {
    let home = try TemporaryDirectory()
    let folder = try NoteFolder(home.path)
    var list = Self.empty()
    #expect(try Self.run(folder, &list, [Self.note(1, "one")]).2.written == 1)
    let name = try #require(list.entries.first?.file)
    let later = [Self.note(1, "One", revision: 2)]
    let changes = FolderChanges(of: try folder.files(), list: list, notes: later, elsewhere: [])
    let writing = FolderWritePlan(changes, notes: later, isExport: false)
    let mine = (Self.read(home.path + "/" + name) ?? "") + "mine\n"
    Self.put(home.path + "/" + name, mine)
    let before = list
    #expect(try folder.perform(writing.steps, &list) == NoteFolder.WriteCounts())
    #expect(Self.read(home.path + "/" + name) == mine)
    #expect(list == before)
    let next = FolderChanges(of: try folder.files(), list: list, notes: later, elsewhere: [])
    #expect(next.edits.map(\.merge.splices) == [[TextSplice(offset: 3, length: 0, insertion: "\nmine")]])
  }
}
