import GraphModel

/// A note as a server has it, as far as a file says it.
public struct NoteSnapshot: Sendable {
  /// The note's.
  public var id: UniqueID
  /// The revision of the note's last change.
  public var revision: Revision
  /// The note's number.
  public var number: Int64
  /// When it was written.
  public var created: Timestamp
  /// When it last changed.
  public var updated: Timestamp
  /// All fields.
  public var values: [NoteField: NoteValue]
  /// What it says.
  public var text: String

  /// What a server answered of a note.
  public init(
    id: UniqueID, revision: Revision, number: Int64, created: Timestamp, updated: Timestamp,
    values: [NoteField: NoteValue], text: String
  ) {
    self.id = id
    self.revision = revision
    self.number = number
    self.created = created
    self.updated = updated
    self.values = values
    self.text = text
  }

  /// The note's file.
  /// - Parameter conflicts: the file keeps its own value of these, with the server's beside it.
  public func file(keeping conflicts: [NoteMerge.Conflict] = []) -> NoteFile {
    var file = NoteFile(text: text)
    (file.id, file.revision, file.number, file.created, file.updated) = (id, revision, number, created, updated)
    file.values = values
    for conflict in conflicts {
      file.values[conflict.field] = conflict.mine
      file.held[conflict.field] = values[conflict.field]
    }
    return file
  }
}

/// What a file's edits ask of the server: the file, what it was written from, and the note as it is now.
///
/// The text is sent as splices of the text that the file was written from, with the revision of that: the server moves them
/// over whatever was committed since, so that nobody's letters are lost. Tags are added and taken off one by one. A field
/// that only the file changed is set; one that both changed differently is a conflict, of which nothing is sent.
public struct NoteMerge: Sendable {
  /// A field that was changed here and there.
  public struct Conflict: Sendable, Equatable {
    /// Which one.
    public var field: NoteField
    /// The file's value.
    public var mine: NoteValue
    /// The server's.
    public var theirs: NoteValue

    /// Two values of a field.
    public init(field: NoteField, mine: NoteValue, theirs: NoteValue) {
      self.field = field
      self.mine = mine
      self.theirs = theirs
    }
  }

  /// Why a file can't be compared with anything.
  public struct Unknown: Error, CustomStringConvertible {
    public let description: String
  }

  /// What changed in the text.
  public private(set) var splices = [TextSplice]()
  /// The revision of the text that the splices speak of.
  public private(set) var base: Revision
  /// Fields other than the tags, in the order of `NoteField`'s cases.
  public private(set) var edits = [(field: NoteField, value: NoteValue)]()
  /// Tags that the file has and what it was written from had not.
  public private(set) var addedTags = [String]()
  /// Tags that the note has, and the file no longer.
  public private(set) var removedTags = [String]()
  /// What was changed here and there.
  public private(set) var conflicts = [Conflict]()
  /// What the file says that only a server may say.
  public private(set) var ignored = [String]()

  /// Whether there is nothing to send.
  public var isEmpty: Bool { splices.isEmpty && edits.isEmpty && addedTags.isEmpty && removedTags.isEmpty }

  /// Compares.
  /// - Throws: `Unknown` when the file was written from a state that neither the list nor the server has.
  public init(_ mine: NoteFile, from entry: FolderList.Entry, over theirs: NoteSnapshot) throws(Unknown) {
    var (text, values, isDetached) = (entry.text, entry.values, entry.isDetached)
    base = entry.revision
    if let revision = mine.revision, revision != entry.revision {
      guard revision == theirs.revision else {
        throw Unknown(
          description: "it was written at revision \(revision) and the folder's list at \(entry.revision): "
            + "take it from another folder's export, or take its id out to make it a new note")
      }
      // Written, and then the run was cut before the list was.
      (text, values, isDetached, base) = (theirs.text, theirs.values, false, theirs.revision)
    }
    let meant = mine.text(over: text)
    if !Bytes.equal(meant, text), !Bytes.equal(meant, theirs.text) {
      splices = TextSplice.differences(from: text, to: meant)
      if isDetached {
        splices = TextSplice.rebase(splices, over: TextSplice.differences(from: text, to: theirs.text))
        base = theirs.revision
      }
    }
    for field in NoteField.allCases {
      guard let here = mine.values[field], let before = values[field], let there = theirs.values[field] else {
        continue
      }
      if case (.words(let here), .words(let before), .words(let there)) = (here, before, there) {
        addedTags = Self.without(before, Self.without(there, here))
        removedTags = Self.without(here, before).filter { word in there.contains { Bytes.equal($0, word) } }
      } else if mine.held[field] != nil {
        if here != there { conflicts.append(Conflict(field: field, mine: here, theirs: there)) }
      } else if here != before, here != there {
        if there == before {
          edits.append((field, here))
        } else {
          conflicts.append(Conflict(field: field, mine: here, theirs: there))
        }
      }
    }
    if let number = mine.number, number != theirs.number { ignored.append("number") }
    if let created = mine.created, created != theirs.created { ignored.append("created") }
  }

  private static func without(_ unwanted: [String], _ words: [String]) -> [String] {
    words.filter { word in !unwanted.contains { Bytes.equal($0, word) } }
  }
}
