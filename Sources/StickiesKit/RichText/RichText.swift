/// What is read of a rich text (RTF): its letters, and what it refers to. Fonts, sizes and colors of letters are not kept.
public struct RichText: Equatable, Sendable {
  /// A color as a screen has it, each part from 0 to 1.
  public struct RGB: Equatable, Sendable {
    /// The parts.
    public var red, green, blue: Double

    /// A color of its parts.
    public init(red: Double, green: Double, blue: Double) {
      (self.red, self.green, self.blue) = (red, green, blue)
    }
  }

  /// Where a text is wrong, and what is wrong there.
  public struct Mistake: Error, Equatable, CustomStringConvertible {
    /// From 1.
    public let line: Int
    /// The sentence without the place.
    public let reason: String

    public var description: String { "line \(line): \(reason)" }
  }

  /// The letters, lines ending with a newline each.
  public internal(set) var text = ""
  /// Names of files that stand in the text.
  public internal(set) var attachments = [String]()
  /// What lies behind the first letters that have a background.
  public internal(set) var background: RGB?

  /// How many letters could not be read: U+FFFD stands for each.
  public internal(set) var unreadable = 0

  /// A file has at most this many bytes.
  public static let maximumSize = 16 << 20
  /// Groups within groups.
  public static let maximumDepth = 128
  /// Colors, fonts and attachments, each.
  public static let maximumTableSize = 10_000
  /// Bytes of the letters: what a note may say.
  public static let maximumTextSize = NoteFile.maximumTextSize

  /// Reads a file.
  /// - Throws: the first `Mistake`.
  public init(parsing bytes: [UInt8]) throws(Mistake) {
    guard bytes.count <= Self.maximumSize else {
      throw Mistake(line: 1, reason: "the text has \(bytes.count) bytes; at most \(Self.maximumSize) are taken")
    }
    var reader = RichTextReader(bytes)
    try reader.read()
    self = reader.result
  }

  init() {}
}
