import GraphModel

/// What has to be written so that a folder says what is served, as steps that somebody with a disk takes.
///
/// A file is written only over the bytes that were read; whoever edits it meanwhile keeps their edit. Files with edits that
/// were not sent, with mistakes, and those that the folder's list does not have are left alone.
public struct FolderWriting: Sendable {
  /// One step; its entry goes into the list when it is done.
  public enum Step: Sendable {
    /// A file that must not be there yet.
    case create(bytes: [UInt8], entry: FolderList.Entry)
    /// A file that must have the bytes `over`; else the list gets `otherwise`.
    case replace(bytes: [UInt8], over: [UInt8], entry: FolderList.Entry, otherwise: FolderList.Entry)
    /// A file that must have the bytes `over`.
    case remove(over: [UInt8], entry: FolderList.Entry)
    /// The file is right already.
    case keep(entry: FolderList.Entry)
    /// There is neither a note nor a file any more.
    case forget(entry: FolderList.Entry)
  }

  /// In the order in which they are to be taken.
  public private(set) var steps = [Step]()
  /// Files with edits that were not sent: only an export leaves any.
  public private(set) var unsent = [String]()
  /// Notes that can't be files, and why.
  public private(set) var skipped = [FolderChanges.Skip]()

  /// Works out the steps.
  /// - Parameters:
  ///   - changes: what was found in the folder; what is left in it was not sent.
  ///   - notes: the notes of the board, in the order in which new files are made.
  ///   - isExport: files that are gone are written again, and conflicts are left as they are.
  public init(_ changes: FolderChanges, notes: [NoteSnapshot], isExport: Bool) {
    var names = Set((changes.names.map(\.text) + changes.list.entries.map(\.file)).map { $0.lowercased() })
    var onBoard = Set<UniqueID>()
    for note in notes {
      onBoard.insert(note.id)
      if let match = changes.matches[note.id], let entry = changes.list[note.id] {
        update(match, entry, note, isExport)
      } else if let entry = changes.list[note.id] {
        // A file that is there and has a mistake in it is not gone.
        if isExport, !changes.names.contains(entry.file) { create(note, entry.file) }
      } else {
        let name = [false, true].map { NoteFileName.name(of: note.text, id: note.id, isWhole: $0) }
          .first { !names.contains($0) }
        if let name {
          names.insert(name)
          create(note, name)
        } else {
          skipped.append(
            .init(file: NoteFileName.name(of: note.text, id: note.id), reason: "another file has the name"))
        }
      }
    }
    for entry in changes.list.entries where !onBoard.contains(entry.id) {
      guard let match = changes.matches[entry.id] else {
        if !changes.names.contains(entry.file) { steps.append(.forget(entry: entry)) }
        continue
      }
      switch match.state {
      case .unknown: break
      case .orphan: if isExport { unsent.append(match.file) }
      // On another board now.
      case .compared(let merge) where !merge.isEmpty || !merge.conflicts.isEmpty:
        if isExport { unsent.append(match.file) }
      case .compared, .gone: steps.append(.remove(over: match.bytes, entry: entry))
      }
    }
  }

  private mutating func create(_ note: NoteSnapshot, _ name: String) {
    guard let bytes = bytes(of: note.file(), name) else { return }
    steps.append(.create(bytes: bytes, entry: Self.entry(note, name)))
  }

  private mutating func update(
    _ match: FolderChanges.Match, _ entry: FolderList.Entry, _ note: NoteSnapshot, _ isExport: Bool
  ) {
    guard case .compared(let merge) = match.state else { return }
    guard merge.isEmpty, !isExport || merge.conflicts.isEmpty else {
      if isExport { unsent.append(match.file) }
      return
    }
    guard let bytes = bytes(of: note.file(keeping: merge.conflicts), match.file) else { return }
    let next = Self.entry(note, match.file)
    steps.append(
      bytes == match.bytes
        ? .keep(entry: next) : .replace(bytes: bytes, over: match.bytes, entry: next, otherwise: entry))
  }

  private mutating func bytes(of file: NoteFile, _ name: String) -> [UInt8]? {
    let bytes = file.bytes
    // As large as that it could not be read again.
    if case .words(let tags)? = file.values[.tags], tags.count > NoteFile.maximumTagCount {
      skipped.append(
        .init(file: name, reason: "it would name \(tags.count) tags; at most \(NoteFile.maximumTagCount) are"))
      return nil
    }
    return bytes
  }

  private static func entry(_ note: NoteSnapshot, _ name: String) -> FolderList.Entry {
    FolderList.Entry(file: name, id: note.id, revision: note.revision, text: note.text, values: note.values)
  }
}
