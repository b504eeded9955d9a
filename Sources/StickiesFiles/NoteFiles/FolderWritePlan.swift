import GraphModel

/// The steps that update a folder's files to the served notes; the caller performs them on disk.
///
/// A file is replaced only if it still has the bytes that were read, so concurrent edits are kept. Files with unsent
/// edits, invalid files, and files that are not in the folder's list are left unchanged.
public struct FolderWritePlan: Sendable {
  /// A step; its entry is put into the list when the step is done.
  public enum Step: Sendable {
    /// Create a file that must not exist.
    case create(bytes: [UInt8], entry: FolderManifest.Entry)
    /// Replace a file that must have the bytes `over`; otherwise the list gets the entry `otherwise`.
    case replace(bytes: [UInt8], over: [UInt8], entry: FolderManifest.Entry, otherwise: FolderManifest.Entry)
    /// Remove a file that must have the bytes `over`.
    case remove(over: [UInt8], entry: FolderManifest.Entry)
    /// The file is up to date.
    case keep(entry: FolderManifest.Entry)
    /// Neither the note nor the file exists any longer.
    case forget(entry: FolderManifest.Entry)
  }

  /// The steps, in order.
  public private(set) var steps = [Step]()
  /// Files with unsent edits; only an export leaves any.
  public private(set) var unsent = [String]()
  /// Notes that cannot be written as files, with the reason.
  public private(set) var skipped = [FolderChanges.SkippedFile]()

  /// Computes the steps.
  /// - Parameters:
  ///   - changes: the folder's changes; those still in it were not sent.
  ///   - notes: the notes of the board, in the order in which new files are created.
  ///   - isExport: whether deleted files are created again and conflicts are left as they are.
  public init(_ changes: FolderChanges, notes: [NoteSnapshot], isExport: Bool) {
    var names = Set((changes.names.map(\.text) + changes.list.entries.map(\.file)).map { ByteKey($0.lowercased()) })
    var onBoard = Set<UniqueID>()
    for note in notes {
      onBoard.insert(note.id)
      if let match = changes.matches[note.id], let entry = changes.list[note.id] {
        update(match, entry, note, isExport)
      } else if let entry = changes.list[note.id] {
        // An invalid file still exists, so the note is not missing.
        if isExport, !changes.names.contains(entry.file) { create(note, entry.file) }
      } else {
        let name = [false, true].map { NoteFileName.name(of: note.text, id: note.id, isWhole: $0) }
          .first { !names.contains($0) }
        if let name {
          names.insert(name)
          create(note, name)
        } else {
          skipped.append(
            .init(file: NoteFileName.name(of: note.text, id: note.id), reason: "another file has this name"))
        }
      }
    }
    for entry in changes.list.entries where !onBoard.contains(entry.id) && !changes.unreadable.contains(entry.id) {
      guard let match = changes.matches[entry.id] else {
        if !changes.names.contains(entry.file) { steps.append(.forget(entry: entry)) }
        continue
      }
      switch match.state {
      case .unknown: break
      case .orphan: if isExport { unsent.append(match.file) }
      // The note was moved to another board.
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
    _ match: FolderChanges.Match, _ entry: FolderManifest.Entry, _ note: NoteSnapshot, _ isExport: Bool
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
    // A larger file could not be read again.
    if case .words(let tags)? = file.values[.tags], tags.count > NoteFile.maximumTagCount {
      skipped.append(
        .init(file: name, reason: "it would have \(tags.count) tags; at most \(NoteFile.maximumTagCount) are allowed"))
      return nil
    }
    return bytes
  }

  private static func entry(_ note: NoteSnapshot, _ name: String) -> FolderManifest.Entry {
    FolderManifest.Entry(file: name, id: note.id, revision: note.revision, text: note.text, values: note.values)
  }
}
