import GraphModel

/// A note as a file: front matter between two lines `---`, then the text and one newline.
///
/// The front matter is a small part of YAML: one `name: value` on each line. A word stands plain or in double quotes with
/// JSON's escapes, a list as `[a, b]` or as lines `- a` below its name; there is no comment, no anchor and no nesting, and
/// an unknown name is a mistake: what could not be written back is not read. The text behind it is the note's, byte for
/// byte: the writer adds one newline, the reader takes one away, because editors end files with one.
///
/// A line `server-color: blue` says what the server has where the file's own `color` was changed as well; while it stands
/// the field is not sent.
public struct NoteFile: Sendable {
  /// The note's whole id; nil for one that no server knows yet.
  public var id: UniqueID?
  /// The state of the note that the file was written from.
  public var revision: Revision?
  /// The note's number, for people; given by the server.
  public var number: Int64?
  /// When the note was written.
  public var created: Timestamp?
  /// When it last changed.
  public var updated: Timestamp?
  /// What the front matter says of the note; a field that is not there is left as it is.
  public var values = [NoteField: NoteValue]()
  /// The server's values of the fields that are in conflict.
  public var held = [NoteField: NoteValue]()
  /// What the note says.
  public var text = ""
  /// Whether the lines of the front matter end with CR LF: an editor has converted the whole file.
  public var hasCarriageReturns = false

  /// A note that says `text`.
  public init(text: String = "") { self.text = text }

  /// The text has at most this many bytes, as the model has it.
  public static let maximumTextSize = 4 << 20
  /// The front matter, with its marks, has at most this many bytes.
  public static let maximumFrontMatterSize = 2 << 20
  /// A file names at most this many tags.
  public static let maximumTagCount = 1_000
  /// A tag has at most this many bytes, as the model has it.
  public static let maximumTagSize = 200
  /// A file has at most this many bytes.
  public static let maximumSize = maximumTextSize + maximumFrontMatterSize + 16

  /// Where a file is wrong, and what is wrong there.
  public struct Mistake: Error, Equatable, CustomStringConvertible {
    /// From 1.
    public let line: Int
    /// The sentence without the place.
    public let reason: String

    public var description: String { "line \(line): \(reason)" }
  }

  /// The text that is meant: where an editor has converted the whole file to CR LF and the note had no CR, the note has
  /// none now.
  public func text(over base: String) -> String {
    guard hasCarriageReturns, !base.utf8.contains(UInt8(ascii: "\r")) else { return text }
    var bytes = [UInt8]()
    bytes.reserveCapacity(text.utf8.count)
    for byte in text.utf8 {
      if byte == UInt8(ascii: "\n"), bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
      bytes.append(byte)
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
