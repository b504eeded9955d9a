import GraphModel

/// A file of a folder, with the result of reading it.
public struct FolderFile: Sendable {
  /// The error of reading a file.
  public struct ReadError: Error, CustomStringConvertible {
    public let description: String
  }

  /// The file's name in the folder.
  public var name: String
  /// The file's bytes, or the error of reading it.
  public var content: Result<[UInt8], ReadError>

  /// Creates a file with the result of reading it.
  public init(name: String, content: Result<[UInt8], ReadError>) {
    self.name = name
    self.content = content
  }
}

/// The differences between a folder's files and its list. Each file is matched to a note by id and compared with the
/// note that it was written from and with the current note.
public struct FolderChanges: Sendable {
  /// A file with edits of its note.
  public struct Edit: Sendable {
    /// The file's name.
    public var file: String
    /// The file's content.
    public var note: NoteFile
    /// The edits to send.
    public var merge: NoteMerge
    /// The note that the file was compared with.
    public var theirs: NoteSnapshot
  }

  /// A file that has no note yet.
  public struct NewFile: Sendable {
    /// The file's name.
    public var file: String
    /// The file's content.
    public var note: NoteFile
  }

  /// A note whose file was deleted.
  public struct DeletedFile: Sendable {
    /// The name of the deleted file.
    public var file: String
    /// The current note.
    public var theirs: NoteSnapshot
    /// Whether the note has not changed since the file was written.
    public var isUnchanged: Bool
  }

  /// A file, or part of a file, that cannot be imported.
  public struct SkippedFile: Sendable, Equatable {
    /// The file's name.
    public var file: String
    /// The reason.
    public var reason: String

    /// Creates a skipped file or part of a file.
    public init(file: String, reason: String) {
      self.file = file
      self.reason = reason
    }
  }

  /// A field changed both in the file and on the server; without a field, the server deleted the note of an edited
  /// file.
  public struct Conflict: Sendable, Equatable {
    /// The file's name.
    public var file: String
    /// The field with both values; nil for a deleted note.
    public var values: NoteMerge.Conflict?

    /// Creates a conflict of a field or of a complete file.
    public init(file: String, values: NoteMerge.Conflict?) {
      self.file = file
      self.values = values
    }
  }

  /// The file of a listed note.
  struct Match {
    var file: String
    var bytes: [UInt8]
    var note: NoteFile
    var state = State.unknown
  }

  /// The state of a listed note's file.
  enum State {
    case compared(NoteMerge)
    /// The note was deleted, and the file is unchanged.
    case gone
    /// The note was deleted, and the file was edited.
    case orphan
    /// The file was written from another state, or its note can't be read; it is left unchanged.
    case unknown
  }

  /// The edits; this and the other lists are in the order of file names.
  public private(set) var edits = [Edit]()
  /// Files that become notes.
  public internal(set) var new = [NewFile]()
  /// Notes whose files were deleted.
  public private(set) var missing = [DeletedFile]()
  /// Files, or parts of files, that are not imported.
  public private(set) var skipped = [SkippedFile]()
  /// Conflicts that the user has to resolve.
  public private(set) var conflicts = [Conflict]()
  /// The list, with the current file names.
  public private(set) var list: FolderManifest
  private(set) var matches = [UniqueID: Match]()
  /// The names of all files in the folder.
  let names: Set<ByteKey>
  /// The listed notes that exist and can't be read.
  let unreadable: Set<UniqueID>

  /// Compares a folder with the server's notes.
  /// - Parameters:
  ///   - files: the folder's files, ascending by name.
  ///   - list: the folder's list.
  ///   - notes: the notes of the board.
  ///   - elsewhere: listed notes that were moved to other boards.
  ///   - unreadable: notes that exist and can't be read. Their files and entries stay as they are.
  public init(
    of files: [FolderFile], list: FolderManifest, notes: [NoteSnapshot], elsewhere: [NoteSnapshot],
    unreadable: Set<UniqueID> = []
  ) {
    (self.list, self.unreadable) = (list, unreadable)
    names = Set(files.map { ByteKey($0.name) })
    let notes = Dictionary((notes + elsewhere).map { ($0.id, $0) }, uniquingKeysWith: { one, _ in one })
    match(files, notes)
    for entry in self.list.entries {
      guard let match = matches[entry.id] else {
        if !names.contains(entry.file), let theirs = notes[entry.id] {
          let isUnchanged = theirs.revision == entry.revision && !entry.isDetached
          missing.append(DeletedFile(file: entry.file, theirs: theirs, isUnchanged: isUnchanged))
        }
        continue
      }
      if unreadable.contains(entry.id) {
        let unsent = Self.says(match.note, otherThan: entry) ? "; the edits of the file are not sent" : ""
        skipped.append(SkippedFile(file: match.file, reason: "its note can't be read\(unsent)"))
        continue
      }
      compare(match, entry, notes[entry.id])
    }
  }

  // MARK: - Matching files to notes

  private mutating func match(_ files: [FolderFile], _ notes: [UniqueID: NoteSnapshot]) {
    let unmarked = Dictionary(
      list.entries.filter(\.isUnmarked).map { (ByteKey($0.file), $0.id) }, uniquingKeysWith: { one, _ in one })
    var owners = [UniqueID: String]()
    var read = [(name: String, bytes: [UInt8], note: NoteFile)]()
    for file in files {
      do {
        let bytes = try file.content.get()
        let note = try NoteFile(parsing: bytes)
        read.append((file.name, bytes, note))
        // The file with the listed name owns the id; if that file was deleted, the first file with the id does.
        guard let id = note.id else { continue }
        let entry = list[id]
        let isListed = entry.map { UTF8Comparison.equal($0.file, file.name) } == true
        let isWithoutFile = entry.map { names.contains($0.file) } != true
        if isListed || owners[id] == nil && isWithoutFile { owners[id] = file.name }
      } catch {
        skipped.append(SkippedFile(file: file.name, reason: "\(error)"))
      }
    }
    for (name, bytes, note) in read {
      guard let id = note.id ?? unmarked[name] else {
        new.append(NewFile(file: name, note: note))
        continue
      }
      func skip(_ reason: String) {
        skipped.append(SkippedFile(file: name, reason: "\(reason); remove its id to make it a new note"))
      }
      if note.id != nil, let owner = owners[id] ?? list[id]?.file, !UTF8Comparison.equal(owner, name) {
        skip("it has the same id as \(owner)")
      } else if var entry = list[id] {
        entry.file = name
        list[id] = entry
        matches[id] = Match(file: name, bytes: bytes, note: note)
      } else if let theirs = notes[id], theirs.revision == note.revision {
        // The previous run wrote the file and was interrupted before it wrote the list.
        list[id] = FolderManifest.Entry(
          file: name, id: id, revision: theirs.revision, text: theirs.text, values: theirs.values)
        matches[id] = Match(file: name, bytes: bytes, note: note)
      } else {
        skip("the folder's list has no note with its id")
      }
    }
    makeRoom()
  }

  /// Renames the listed file of each missing note whose name now belongs to another note's file or to a new file.
  private mutating func makeRoom() {
    let taken = Set((matches.values.map(\.file) + new.map(\.file)).map(ByteKey.init))
    for var entry in list.entries where matches[entry.id] == nil && taken.contains(entry.file) {
      let name = NoteFileName.name(of: entry.text, id: entry.id, isWhole: true)
      let used = names.union(list.entries.map { ByteKey($0.file) })
      entry.file = used.contains(name) ? "again-\(name)" : name
      list[entry.id] = entry
    }
  }

  // MARK: - Comparing

  private mutating func compare(_ match: Match, _ entry: FolderManifest.Entry, _ theirs: NoteSnapshot?) {
    var match = match
    defer { matches[entry.id] = match }
    guard let theirs else {
      match.state = Self.says(match.note, otherThan: entry) ? .orphan : .gone
      if case .orphan = match.state { conflicts.append(Conflict(file: match.file, values: nil)) }
      return
    }
    do {
      let merge = try NoteMerge(match.note, from: entry, over: theirs)
      match.state = .compared(merge)
      conflicts += merge.conflicts.map { Conflict(file: match.file, values: $0) }
      skipped += merge.ignored.map {
        SkippedFile(file: match.file, reason: "only the server can set \"\($0)\"; the file's value is ignored")
      }
      if !merge.isEmpty { edits.append(Edit(file: match.file, note: match.note, merge: merge, theirs: theirs)) }
    } catch {
      skipped.append(SkippedFile(file: match.file, reason: "\(error)"))
    }
  }

  private static func says(_ note: NoteFile, otherThan entry: FolderManifest.Entry) -> Bool {
    if !UTF8Comparison.equal(note.text(over: entry.text), entry.text) || !note.held.isEmpty { return true }
    return NoteField.allCases.contains { field in
      guard let value = note.values[field] else { return false }
      return value != entry.values[field]
    }
  }
}
