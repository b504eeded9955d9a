import GraphModel

/// The list of a folder of notes, kept in it: which file is which note, and what the file was written from.
///
/// It holds the texts, too, since the server compares an edit with the text that it was made on. It is written before a
/// commit with what is about to be sent, and after it with what became of that: whenever a run is cut, the next one knows.
public struct FolderList: Sendable, Equatable {
  /// The list's name in its folder.
  public static let name = ".stickies.json"
  /// A list has at most this many bytes.
  public static let maximumSize = 1 << 30

  /// One file.
  public struct Entry: Sendable, Equatable {
    /// Its name in the folder.
    public var file: String
    /// The note's.
    public var id: UniqueID
    /// The state of the note that the file was written from.
    public var revision: Revision
    /// What the file's text was made of.
    public var text: String
    /// What the file's front matter was made of.
    public var values: [NoteField: NoteValue]
    /// `text` went to the server and was merged there, and the file has not been written since: no revision's text is
    /// this one.
    public var isDetached = false
    /// The file does not have its id yet.
    public var isUnmarked = false

    /// A file, and what it was written from.
    public init(file: String, id: UniqueID, revision: Revision, text: String, values: [NoteField: NoteValue]) {
      self.file = file
      self.id = id
      self.revision = revision
      self.text = text
      self.values = values
    }
  }

  /// What is about to be sent of a file.
  public struct Sent: Sendable, Equatable {
    /// Its name.
    public var file: String
    /// Nil for a new note, which is known by its origin.
    public var id: UniqueID?
    /// The new note's, which no other has.
    public var origin: String?
    /// The text that the note is to have, but for what others write.
    public var text: String
    /// The fields that it is to have.
    public var values: [NoteField: NoteValue]

    /// A file's edits, or a new file.
    public init(file: String, id: UniqueID?, origin: String?, text: String, values: [NoteField: NoteValue]) {
      self.file = file
      self.id = id
      self.origin = origin
      self.text = text
      self.values = values
    }
  }

  /// A commit whose answer is not known yet.
  public struct Sending: Sendable, Equatable {
    /// The client that sends it.
    public var replica: UniqueID
    /// The newest revision before it.
    public var after: Revision
    /// What it sends.
    public var files: [Sent]

    /// A commit that is about to be sent.
    public init(replica: UniqueID, after: Revision, files: [Sent]) {
      self.replica = replica
      self.after = after
      self.files = files
    }
  }

  /// A state of the store that the folder was written from.
  public var token: Token
  /// The board whose notes they are.
  public var board: UniqueID
  private var byID = [UniqueID: Entry]()
  /// What was about to be sent when the list was written.
  public var sending: Sending?

  /// An empty list of a board's notes.
  public init(token: Token, board: UniqueID) {
    self.token = token
    self.board = board
  }

  /// The entry of a note.
  public subscript(id: UniqueID) -> Entry? {
    get { byID[id] }
    set { byID[id] = newValue }
  }

  /// Ascending by file.
  public var entries: [Entry] { byID.values.sorted { Bytes.order($0.file, $1.file) == .ascending } }
}
