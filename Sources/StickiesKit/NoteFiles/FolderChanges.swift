import GraphModel

/// A file of a folder, as it was read.
public struct FolderFile: Sendable {
  /// Why a file can't be read.
  public struct Unreadable: Error, CustomStringConvertible {
    public let description: String
  }

  /// Its name in the folder.
  public var name: String
  /// Its bytes, or why they can't be read.
  public var content: Result<[UInt8], Unreadable>

  /// A file that was read, or could not be.
  public init(name: String, content: Result<[UInt8], Unreadable>) {
    self.name = name
    self.content = content
  }
}

/// What a folder's files say that its list does not: each file belongs to a note by its id, and is compared with what it was
/// written from and with the note as it is.
public struct FolderChanges: Sendable {
  /// A file that says something new of its note.
  public struct Edit: Sendable {
    /// Its name.
    public var file: String
    /// What it says.
    public var note: NoteFile
    /// What of it is to be sent.
    public var merge: NoteMerge
    /// The note as it was compared.
    public var theirs: NoteSnapshot
  }

  /// A file of no note yet.
  public struct New: Sendable {
    /// Its name.
    public var file: String
    /// What it says.
    public var note: NoteFile
  }

  /// A note whose file is gone.
  public struct Missing: Sendable {
    /// The name that it had.
    public var file: String
    /// The note as it is.
    public var theirs: NoteSnapshot
    /// The note is what the file was written from: nobody has changed it since.
    public var isUnchanged: Bool
  }

  /// What can't be taken, and why.
  public struct Skip: Sendable, Equatable {
    /// The file's name.
    public var file: String
    /// Why.
    public var reason: String

    /// A file, or a part of it, that is not taken.
    public init(file: String, reason: String) {
      self.file = file
      self.reason = reason
    }
  }

  /// What was changed here and there; without a field, the note was deleted there.
  public struct Conflict: Sendable, Equatable {
    /// The file's name.
    public var file: String
    /// The field and both values.
    public var values: NoteMerge.Conflict?

    /// A file's field, or all of it.
    public init(file: String, values: NoteMerge.Conflict?) {
      self.file = file
      self.values = values
    }
  }

  /// A listed note's file.
  struct Match {
    var file: String
    var bytes: [UInt8]
    var note: NoteFile
    var state = State.unknown
  }

  /// What is known of a listed note's file.
  enum State {
    case compared(NoteMerge)
    /// The note is gone, and the file says nothing new.
    case gone
    /// The note is gone, and the file was edited.
    case orphan
    /// It was written from something else: it is left alone.
    case unknown
  }

  /// In the order of the files' names, as the other lists.
  public private(set) var edits = [Edit]()
  /// Files that become notes.
  public internal(set) var new = [New]()
  /// Notes whose files are gone.
  public private(set) var missing = [Missing]()
  /// Files, or parts of them, that are not taken.
  public private(set) var skipped = [Skip]()
  /// What somebody has to decide.
  public private(set) var conflicts = [Conflict]()
  /// The list, with files under the names that they have now.
  public private(set) var list: FolderList
  private(set) var matches = [UniqueID: Match]()
  /// Names of files that are in the folder.
  let names: Set<ByteKey>

  /// Compares a folder with what is served.
  /// - Parameters:
  ///   - files: the folder's, ascending by name.
  ///   - list: the folder's list.
  ///   - notes: the notes of the board.
  ///   - elsewhere: notes of the list that have been moved to other boards.
  public init(of files: [FolderFile], list: FolderList, notes: [NoteSnapshot], elsewhere: [NoteSnapshot]) {
    self.list = list
    names = Set(files.map { ByteKey($0.name) })
    let notes = Dictionary((notes + elsewhere).map { ($0.id, $0) }, uniquingKeysWith: { one, _ in one })
    match(files, notes)
    for entry in self.list.entries {
      guard let match = matches[entry.id] else {
        if !names.contains(entry.file), let theirs = notes[entry.id] {
          let isUnchanged = theirs.revision == entry.revision && !entry.isDetached
          missing.append(Missing(file: entry.file, theirs: theirs, isUnchanged: isUnchanged))
        }
        continue
      }
      compare(match, entry, notes[entry.id])
    }
  }

  // MARK: - Which file is which note

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
        // The listed name is the owner; else the first, if the listed one is gone.
        guard let id = note.id else { continue }
        if list[id].map({ Bytes.equal($0.file, file.name) }) ?? false
          || owners[id] == nil && !names.contains(list[id]?.file ?? "")
        {
          owners[id] = file.name
        }
      } catch {
        skipped.append(Skip(file: file.name, reason: "\(error)"))
      }
    }
    for (name, bytes, note) in read {
      guard let id = note.id ?? unmarked[name] else {
        new.append(New(file: name, note: note))
        continue
      }
      func skip(_ reason: String) {
        skipped.append(Skip(file: name, reason: "\(reason); take its id out to make it a new note"))
      }
      if note.id != nil, let owner = owners[id] ?? list[id]?.file, !Bytes.equal(owner, name) {
        skip("it has the id of \(owner)")
      } else if var entry = list[id] {
        entry.file = name
        list[id] = entry
        matches[id] = Match(file: name, bytes: bytes, note: note)
      } else if let theirs = notes[id], theirs.revision == note.revision {
        // Written, and then the run was cut before the list was.
        list[id] = FolderList.Entry(
          file: name, id: id, revision: theirs.revision, text: theirs.text, values: theirs.values)
        matches[id] = Match(file: name, bytes: bytes, note: note)
      } else {
        skip("the folder's list has no note of its id")
      }
    }
    makeRoom()
  }

  /// A file that is another note's now, or a new one's, is not the one that the list has under its name: that one is gone.
  private mutating func makeRoom() {
    let taken = Set((matches.values.map(\.file) + new.map(\.file)).map(ByteKey.init))
    for var entry in list.entries where matches[entry.id] == nil && taken.contains(entry.file) {
      let name = NoteFileName.name(of: entry.text, id: entry.id, isWhole: true)
      let used = names.union(list.entries.map { ByteKey($0.file) })
      entry.file = used.contains(name) ? "again-\(name)" : name
      list[entry.id] = entry
    }
  }

  // MARK: - What it says

  private mutating func compare(_ match: Match, _ entry: FolderList.Entry, _ theirs: NoteSnapshot?) {
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
        Skip(file: match.file, reason: "only the server sets \"\($0)\"; it stays as it is")
      }
      if !merge.isEmpty { edits.append(Edit(file: match.file, note: match.note, merge: merge, theirs: theirs)) }
    } catch {
      skipped.append(Skip(file: match.file, reason: "\(error)"))
    }
  }

  private static func says(_ note: NoteFile, otherThan entry: FolderList.Entry) -> Bool {
    if !Bytes.equal(note.text(over: entry.text), entry.text) || !note.held.isEmpty { return true }
    return NoteField.allCases.contains { field in
      guard let value = note.values[field] else { return false }
      return value != entry.values[field]
    }
  }
}
