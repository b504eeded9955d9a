/// The plain text of a rich text (RTF) and its references. Fonts, sizes and text colors are dropped.
public struct RichText: Equatable, Sendable {
  /// A color in RGB, each component from 0 to 1.
  public struct RGB: Equatable, Sendable {
    /// The components.
    public var red, green, blue: Double

    /// Creates a color from its components.
    public init(red: Double, green: Double, blue: Double) {
      (self.red, self.green, self.blue) = (red, green, blue)
    }
  }

  /// An error in a rich text, with its line.
  public struct ParseError: Error, Equatable, CustomStringConvertible {
    /// The line number, from 1.
    public let line: Int
    /// The message without the line number.
    public let reason: String

    public var description: String { "line \(line): \(reason)" }
  }

  /// The text; each line ends with a newline.
  public internal(set) var text = ""
  /// The names of files that the text refers to.
  public internal(set) var attachments = [String]()
  /// The background color of the first text that has one.
  public internal(set) var background: RGB?

  /// The number of unreadable characters; each is U+FFFD in the text.
  public internal(set) var unreadable = 0

  /// The maximum size of a file, in bytes.
  public static let maximumSize = 16 << 20
  /// The maximum nesting of groups.
  public static let maximumDepth = 128
  /// The maximum number of colors, of fonts, and of attachments.
  public static let maximumTableSize = 10_000
  /// The maximum size of the text, in bytes, as for a note.
  public static let maximumTextSize = NoteFile.maximumTextSize

  /// Parses a file.
  /// - Throws: the first `ParseError`.
  public init(parsing bytes: [UInt8]) throws(ParseError) {
    guard bytes.count <= Self.maximumSize else {
      throw ParseError(line: 1, reason: "the text has \(bytes.count) bytes; at most \(Self.maximumSize) are allowed")
    }
    var reader = RichTextReader(bytes)
    try reader.read()
    self = reader.result
  }

  init() {}
}
