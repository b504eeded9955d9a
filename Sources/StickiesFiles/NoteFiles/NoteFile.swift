import GraphModel

/// A note as a file: front matter between two lines `---`, then the text and one newline.
///
/// The front matter is a small subset of YAML: one `name: value` on each line. A word is plain or in double quotes
/// with JSON's escapes, a list is `[a, b]` or lines `- a` below its name. Comments, anchors, nesting and unknown
/// names are errors, because they could not be written back. The text after it is the note's, byte for byte: the
/// writer appends one newline and the reader removes one, because editors end files with one.
///
/// A line `server-color: blue` contains the server's value if the file's own `color` is in conflict with it. While
/// the line is present the field is not sent.
public struct NoteFile: Sendable {
  /// The note's complete id; nil for a note that is not on the server yet.
  public var id: UniqueID?
  /// The revision of the note that the file was written from.
  public var revision: Revision?
  /// The note's number, for display; assigned by the server.
  public var number: Int64?
  /// The creation time.
  public var created: Timestamp?
  /// The time of the last change.
  public var updated: Timestamp?
  /// The values in the front matter; a missing field stays unchanged.
  public var values = [NoteField: NoteValue]()
  /// The server's values of the fields that are in conflict.
  public var held = [NoteField: NoteValue]()
  /// The note's text.
  public var text = ""
  /// Whether the front matter's lines end with CR LF, which means that an editor has converted the complete file.
  public var hasCarriageReturns = false

  /// Creates a note with a text.
  public init(text: String = "") { self.text = text }

  /// The maximum size of the text in bytes, as in the model.
  public static let maximumTextSize = 4 << 20
  /// The maximum size of the front matter in bytes, including its delimiters.
  public static let maximumFrontMatterSize = 2 << 20
  /// The maximum number of tags in a file.
  public static let maximumTagCount = 1_000
  /// The maximum size of a tag in bytes, as in the model.
  public static let maximumTagSize = 200
  /// The maximum size of a file in bytes.
  public static let maximumSize = maximumTextSize + maximumFrontMatterSize + 16

  /// An error in a file, with its line.
  public struct ParseError: Error, Equatable, CustomStringConvertible {
    /// The line number, from 1.
    public let line: Int
    /// The message without the line number.
    public let reason: String

    public var description: String { "line \(line): \(reason)" }
  }

  /// Returns the text that the user means: if an editor has converted the file to CR LF and the note had no CR,
  /// without CRs.
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
