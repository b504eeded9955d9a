import GraphModel

/// A note on the server, with the properties that a file contains.
public struct NoteSnapshot: Sendable {
  /// The note's id.
  public var id: UniqueID
  /// The revision of the note's last change.
  public var revision: Revision
  /// The note's number, for display.
  public var number: Int64
  /// The creation time.
  public var created: Timestamp
  /// The time of the last change.
  public var updated: Timestamp
  /// The values of all fields.
  public var values: [NoteField: NoteValue]
  /// The text.
  public var text: String

  /// Creates a snapshot from the server's answer.
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

  /// Returns the note's file.
  /// - Parameter conflicts: the fields that keep the file's value, with the server's value beside it.
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

/// The changes that a file's edits send to the server, from a three-way comparison with the note that it was written
/// from and the current note.
///
/// The text is sent as splices of the text that the file was written from, with its revision. The server rebases them
/// over later commits, so no client's edit is lost. Tags are added and removed one by one. A field that only the file
/// changed is set. A field that both changed differently is a conflict and is not sent.
public struct NoteMerge: Sendable {
  /// A field that both the file and the server changed.
  public struct Conflict: Sendable, Equatable {
    /// The field.
    public var field: NoteField
    /// The file's value.
    public var mine: NoteValue
    /// The server's value.
    public var theirs: NoteValue

    /// Creates a conflict of a field's two values.
    public init(field: NoteField, mine: NoteValue, theirs: NoteValue) {
      self.field = field
      self.mine = mine
      self.theirs = theirs
    }
  }

  /// The error for a file without a known base.
  public struct UnknownBaseError: Error, CustomStringConvertible {
    public let description: String
  }

  /// The changes of the text.
  public private(set) var splices = [TextSplice]()
  /// The base revision of the splices.
  public private(set) var base: Revision
  /// The changed fields other than tags, in the order of `NoteField`'s cases.
  public private(set) var edits = [(field: NoteField, value: NoteValue)]()
  /// Tags that the file has added.
  public private(set) var addedTags = [String]()
  /// Tags that the file has removed.
  public private(set) var removedTags = [String]()
  /// The fields in conflict.
  public private(set) var conflicts = [Conflict]()
  /// Changed properties that only the server may set.
  public private(set) var ignored = [String]()

  /// Whether there is nothing to send.
  public var isEmpty: Bool { splices.isEmpty && edits.isEmpty && addedTags.isEmpty && removedTags.isEmpty }

  /// Compares a file with its base and with the current note.
  /// - Throws: `UnknownBaseError` if the file was written from a state that neither the list nor the server has.
  public init(_ mine: NoteFile, from entry: FolderManifest.Entry, over theirs: NoteSnapshot) throws(UnknownBaseError) {
    var (text, values, isDetached) = (entry.text, entry.values, entry.isDetached)
    base = entry.revision
    if let revision = mine.revision, revision != entry.revision {
      guard revision == theirs.revision else {
        throw UnknownBaseError(
          description: "it was written at revision \(revision), but the folder's list has it at \(entry.revision): "
            + "export to another folder and copy the file from there, or remove its id to make it a new note")
      }
      // The previous run wrote the file and was interrupted before it wrote the list.
      (text, values, isDetached, base) = (theirs.text, theirs.values, false, theirs.revision)
    }
    let meant = mine.text(over: text)
    if !UTF8Comparison.equal(meant, text), !UTF8Comparison.equal(meant, theirs.text) {
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
        removedTags = Self.without(here, before).filter { word in there.contains { UTF8Comparison.equal($0, word) } }
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
    words.filter { word in !unwanted.contains { UTF8Comparison.equal($0, word) } }
  }
}
