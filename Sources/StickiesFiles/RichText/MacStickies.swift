import GraphModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The window list of macOS's Stickies: a property list (`.SavedStickiesState`) beside the notes, with the color and
/// position of each. If an entry cannot be read, only that note loses its color and position.
public struct MacStickies: Sendable {
  /// The properties of a window that a note has.
  public struct Window: Sendable, Equatable {
    /// The nearest color of our palette.
    public var color: NoteColor?
    /// The left edge, in points.
    public var x: Double?
    /// The top edge, in points; downward as on boards, relative to the topmost window.
    public var y: Double?
    /// The width, in points.
    public var width: Double?
    /// The height, in points; for a collapsed window, that of the expanded one.
    public var height: Double?
    /// Whether the window stays in front of others.
    public var isFloating = false
  }

  /// The error of reading a list.
  public struct ParseError: Error, CustomStringConvertible {
    public let description: String
  }

  /// The list's file name, beside the notes.
  public static let name = ".SavedStickiesState"
  /// The maximum size of a list, in bytes.
  public static let maximumSize = 16 << 20
  /// The maximum nesting of lists.
  static let maximumDepth = 32

  /// The windows, by the names of the notes' packages.
  public private(set) var windows = [ByteKey: Window]()

  /// Creates an empty list.
  public init() {}

  /// Parses a list, in either form of property lists.
  /// - Throws: `ParseError` if it is too large, nested too deeply, or not a property list of windows.
  public init(parsing bytes: [UInt8]) throws(ParseError) {
    guard bytes.count <= Self.maximumSize else {
      throw ParseError(description: "it has \(bytes.count) bytes; at most \(Self.maximumSize) are allowed")
    }
    try Self.check(bytes)
    let entries: [Entry]
    do {
      entries = try PropertyListDecoder().decode([Entry].self, from: Data(bytes))
    } catch {
      throw ParseError(description: "it is not a property list of windows")
    }
    var tops = [ByteKey: Double]()
    for entry in entries {
      guard let name = entry.name else { continue }
      var window = Window(isFloating: entry.isFloating)
      window.color = entry.color.map(Self.nearest)
      if let frame = entry.frame {
        window.x = frame[0]
        (window.width, window.height) = (Self.side(frame[2]), Self.side(frame[3]))
        if let size = entry.expandedSize {
          window.width = max(Self.side(frame[2]), Self.side(size[0]))
          window.height = max(Self.side(frame[3]), Self.side(size[1]))
        }
        tops[name] = frame[1] + frame[3]
      }
      windows[name] = window
    }
    // macOS measures from the bottom of the screen, whose height is not recorded.
    guard let top = tops.values.max() else { return }
    for (name, edge) in tops {
      guard var window = windows[name] else { preconditionFailure("a window with a frame is in the list: \(name)") }
      window.y = top - edge
      windows[name] = window
    }
  }

  private static func side(_ length: Double) -> Double { min(max(1, length), 100_000) }

  /// Checks the nesting first: the decoder is recursive, so a list of a million brackets would crash the program.
  private static func check(_ bytes: [UInt8]) throws(ParseError) {
    if bytes.starts(with: "bplist00".utf8) { return }
    let start = bytes.first { !" \t\r\n".utf8.contains($0) }
    guard start == UInt8(ascii: "<") else { throw ParseError(description: "it is not a property list") }
    var depth = 0
    for index in bytes.indices.dropLast() where bytes[index] == UInt8(ascii: "<") {
      switch bytes[index + 1] {
      case UInt8(ascii: "/"): depth -= 1
      case UInt8(ascii: "?"), UInt8(ascii: "!"): break
      default:
        // A tag ends before the next one begins.
        let end = bytes[(index + 1)...].firstIndex { $0 == UInt8(ascii: ">") || $0 == UInt8(ascii: "<") }
        guard let end, bytes[end] == UInt8(ascii: ">") else {
          throw ParseError(description: "it is not a property list of windows")
        }
        if bytes[end - 1] != UInt8(ascii: "/") { depth += 1 }
      }
      guard depth <= maximumDepth else { throw ParseError(description: "its lists are nested too deeply") }
    }
  }

  /// The RGB values of each color with a hue; pale, like paper.
  private static let places: [(NoteColor, RichText.RGB)] = [
    (.yellow, .init(red: 0.996, green: 0.957, blue: 0.612)), (.blue, .init(red: 0.68, green: 0.9, blue: 1)),
    (.green, .init(red: 0.7, green: 1, blue: 0.63)), (.pink, .init(red: 1, green: 0.78, blue: 0.82)),
    (.purple, .init(red: 0.76, green: 0.76, blue: 1)),
    (.orange, .init(red: 1, green: 0.76, blue: 0.42)), (.red, .init(red: 1, green: 0.42, blue: 0.4)),
    (.teal, .init(red: 0.4, green: 0.82, blue: 0.76)), (.brown, .init(red: 0.7, green: 0.55, blue: 0.4)),
  ]

  /// Returns the nearest color of the palette.
  public static func nearest(_ color: RichText.RGB) -> NoteColor {
    func distance(_ other: RichText.RGB) -> Double {
      let (red, green, blue) = (color.red - other.red, color.green - other.green, color.blue - other.blue)
      return red * red + green * green + blue * blue
    }
    let darkest = min(color.red, color.green, color.blue)
    let lightest = max(color.red, color.green, color.blue)
    // A color without a hue, however dark.
    if lightest - darkest < 0.04 { return lightest > 0.96 ? .white : .gray }
    var best = (color: NoteColor.yellow, distance: Double.infinity)
    for (name, place) in places where distance(place) < best.distance { best = (name, distance(place)) }
    return best.color
  }
}

/// A window of the list. Values of another type are treated as missing.
private struct Entry: Decodable {
  var name: String?
  var color: RichText.RGB?
  /// x, y, width, height.
  var frame: [Double]?
  var expandedSize: [Double]?
  var isFloating = false

  enum Key: String, CodingKey {
    case name = "UUID"
    case color = "StickyColor"
    case frame = "Frame"
    case expandedSize = "ExpandedSize"
    case floating = "Floating"
  }

  enum Part: String, CodingKey {
    case red = "Red"
    case green = "Green"
    case blue = "Blue"
  }

  init(from decoder: any Decoder) throws {
    guard let values = try? decoder.container(keyedBy: Key.self) else { return }
    name = try? values.decode(String.self, forKey: .name)
    frame = (try? values.decode(String.self, forKey: .frame)).flatMap {
      Self.numbers($0, ["{{", ",", "},{", ",", "}}"])
    }
    expandedSize = (try? values.decode(String.self, forKey: .expandedSize))
      .flatMap { Self.numbers($0, ["{", ",", "}"]) }
    isFloating = (try? values.decode(Bool.self, forKey: .floating)) == true
    guard let parts = try? values.nestedContainer(keyedBy: Part.self, forKey: .color) else { return }
    let numbers = [Part.red, .green, .blue].compactMap { part in
      (try? parts.decode(Double.self, forKey: part)).flatMap { (0...1).contains($0) ? $0 : nil }
    }
    if numbers.count == 3 { color = .init(red: numbers[0], green: numbers[1], blue: numbers[2]) }
  }

  /// Parses the numbers between the given delimiters, ignoring spaces: `{{8, 1110}, {300, 200}}`. Nil for any other
  /// form.
  private static func numbers(_ text: String, _ marks: [String]) -> [Double]? {
    guard text.utf8.count <= 200 else { return nil }
    var rest = String(text.filter { $0 != " " })[...]
    var numbers = [Double]()
    for (index, mark) in marks.enumerated() {
      guard rest.hasPrefix(mark) else { return nil }
      rest = rest.dropFirst(mark.count)
      guard index < marks.count - 1 else { break }
      let digits = rest.prefix { $0.isASCII && ($0.isNumber || "+-.eE".contains($0)) }
      guard let number = Double(digits), number.isFinite, abs(number) <= 1e6 else { return nil }
      numbers.append(number)
      rest = rest.dropFirst(digits.count)
    }
    return rest.isEmpty ? numbers : nil
  }
}
