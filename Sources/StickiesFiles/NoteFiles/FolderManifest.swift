import GraphModel

/// The list of a folder of notes, which is stored in the folder. For each file it has the note, and the state of the
/// note that the file was written from.
///
/// It includes the texts, because an edit is sent relative to the text on which it was made. A run writes the list
/// before a commit, with the changes to send, and after the commit, with their outcome, so that the next run can
/// recover from an interruption.
public struct FolderManifest: Sendable, Equatable {
  /// The list's name in its folder.
  public static let name = ".stickies.json"
  /// The maximum size of a list, in bytes.
  public static let maximumSize = 1 << 30

  /// A file and its note.
  public struct Entry: Sendable, Equatable {
    /// The file's name in the folder.
    public var file: String
    /// The note's id.
    public var id: UniqueID
    /// The revision of the note that the file was written from.
    public var revision: Revision
    /// The text that the file was written from.
    public var text: String
    /// The values that the front matter was written from.
    public var values: [NoteField: NoteValue]
    /// Whether `text` was merged on the server and the file has not been written since, so that it is not the text of
    /// any revision.
    public var isDetached = false
    /// Whether the file does not contain its id yet.
    public var isUnmarked = false

    /// Creates an entry for a file and the state that it was written from.
    public init(file: String, id: UniqueID, revision: Revision, text: String, values: [NoteField: NoteValue]) {
      self.file = file
      self.id = id
      self.revision = revision
      self.text = text
      self.values = values
    }
  }

  /// The changes of a file that are about to be sent.
  public struct PendingChanges: Sendable, Equatable {
    /// The file's name.
    public var file: String
    /// The note's id; nil for a new note, which is identified by its origin.
    public var id: UniqueID?
    /// The unique origin of a new note.
    public var origin: String?
    /// The note's new text, before it is merged with other clients' edits.
    public var text: String
    /// The note's new values.
    public var values: [NoteField: NoteValue]

    /// Creates the changes of a file, or a new file.
    public init(file: String, id: UniqueID?, origin: String?, text: String, values: [NoteField: NoteValue]) {
      self.file = file
      self.id = id
      self.origin = origin
      self.text = text
      self.values = values
    }
  }

  /// A commit whose outcome is not known yet.
  public struct PendingCommit: Sendable, Equatable {
    /// The replica that sends the commit.
    public var replica: UniqueID
    /// The newest revision before the commit.
    public var after: Revision
    /// The files in the commit.
    public var files: [PendingChanges]

    /// Creates a commit that is about to be sent.
    public init(replica: UniqueID, after: Revision, files: [PendingChanges]) {
      self.replica = replica
      self.after = after
      self.files = files
    }
  }

  /// The state of the store that the folder was written from.
  public var token: Token
  /// The board that contains the notes.
  public var board: UniqueID
  private var byID = [UniqueID: Entry]()
  /// The pending commit when the list was written.
  public var sending: PendingCommit?

  /// Creates an empty list for a board's notes.
  public init(token: Token, board: UniqueID) {
    self.token = token
    self.board = board
  }

  /// The entry of a note; nil if it is not listed.
  public subscript(id: UniqueID) -> Entry? {
    get { byID[id] }
    set { byID[id] = newValue }
  }

  /// All entries, ascending by file name.
  public var entries: [Entry] { byID.values.sorted { UTF8Comparison.order($0.file, $1.file) == .ascending } }
}
