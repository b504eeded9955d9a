import FoundationEssentials
import GraphModel

/// The windows of macOS's Stickies: a property list (`.SavedStickiesState`) beside the notes, with color and place of each.
/// An entry that can't be read costs that note its color and place, and nothing else.
public struct MacStickies: Sendable {
  /// A window, as far as a note has it.
  public struct Window: Sendable, Equatable {
    /// The nearest color of our palette.
    public var color: Color?
    /// The left edge, in points.
    public var x: Double?
    /// The top edge, in points: downward, as boards have it, from that of the topmost window.
    public var y: Double?
    /// In points.
    public var width: Double?
    /// In points; of a collapsed window that of the open one.
    public var height: Double?
    /// The window stays in front of others.
    public var isFloating = false
  }

  /// Why the list can't be read.
  public struct Unreadable: Error, CustomStringConvertible {
    public let description: String
  }

  /// The name of the list beside the notes.
  public static let name = ".SavedStickiesState"
  /// A list has at most this many bytes.
  public static let maximumSize = 16 << 20
  /// Lists within lists.
  static let maximumDepth = 32

  /// By the names of the notes' packages.
  public private(set) var windows = [ByteKey: Window]()

  /// No list: nothing is known of any window.
  public init() {}

  /// Reads a list, of either form of property lists.
  /// - Throws: `Unreadable`.
  public init(parsing bytes: [UInt8]) throws(Unreadable) {
    guard bytes.count <= Self.maximumSize else {
      throw Unreadable(description: "it has \(bytes.count) bytes; at most \(Self.maximumSize) are taken")
    }
    try Self.check(bytes)
    let entries: [Entry]
    do {
      entries = try PropertyListDecoder().decode([Entry].self, from: Data(bytes))
    } catch {
      throw Unreadable(description: "it is no property list of windows")
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
    // macOS counts upward from the bottom of a screen whose height nobody wrote down.
    guard let top = tops.values.max() else { return }
    for (name, edge) in tops { windows[name]?.y = top - edge }
  }

  private static func side(_ length: Double) -> Double { min(max(1, length), 100_000) }

  /// The decoder goes down as deep as a list says, so a list of a million brackets would end the program.
  private static func check(_ bytes: [UInt8]) throws(Unreadable) {
    if bytes.starts(with: "bplist00".utf8) { return }
    let start = bytes.first { !" \t\r\n".utf8.contains($0) }
    guard start == UInt8(ascii: "<") else { throw Unreadable(description: "it is no property list") }
    var depth = 0
    for index in bytes.indices.dropLast() where bytes[index] == UInt8(ascii: "<") {
      switch bytes[index + 1] {
      case UInt8(ascii: "/"): depth -= 1
      case UInt8(ascii: "?"), UInt8(ascii: "!"): break
      default:
        // To the tag's own end: nothing that begins another one stands in it.
        let end = bytes[(index + 1)...].firstIndex { $0 == UInt8(ascii: ">") || $0 == UInt8(ascii: "<") }
        guard let end, bytes[end] == UInt8(ascii: ">") else {
          throw Unreadable(description: "it is no property list of windows")
        }
        if bytes[end - 1] != UInt8(ascii: "/") { depth += 1 }
      }
      guard depth <= maximumDepth else { throw Unreadable(description: "lists stand within lists too deep") }
    }
  }

  /// Where each color with a hue lies; pale, as papers are.
  private static let places: [(Color, RichText.RGB)] = [
    (.yellow, .init(red: 0.996, green: 0.957, blue: 0.612)), (.blue, .init(red: 0.68, green: 0.9, blue: 1)),
    (.green, .init(red: 0.7, green: 1, blue: 0.63)), (.pink, .init(red: 1, green: 0.78, blue: 0.82)),
    (.purple, .init(red: 0.76, green: 0.76, blue: 1)),
    (.orange, .init(red: 1, green: 0.76, blue: 0.42)), (.red, .init(red: 1, green: 0.42, blue: 0.4)),
    (.teal, .init(red: 0.4, green: 0.82, blue: 0.76)), (.brown, .init(red: 0.7, green: 0.55, blue: 0.4)),
  ]

  /// The color of the palette that lies nearest.
  public static func nearest(_ color: RichText.RGB) -> Color {
    func distance(_ other: RichText.RGB) -> Double {
      let (red, green, blue) = (color.red - other.red, color.green - other.green, color.blue - other.blue)
      return red * red + green * green + blue * blue
    }
    let parts = [color.red, color.green, color.blue]
    let (darkest, lightest) = (parts.min() ?? 0, parts.max() ?? 0)
    // Without a hue, however dark.
    if lightest - darkest < 0.04 { return lightest > 0.96 ? .white : .gray }
    var best = (color: Color.yellow, distance: Double.infinity)
    for (name, place) in places where distance(place) < best.distance { best = (name, distance(place)) }
    return best.color
  }
}

/// One window of the list. Whatever of it is of another type is as if it were not there.
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
    isFloating = (try? values.decode(Bool.self, forKey: .floating)) ?? false
    guard let parts = try? values.nestedContainer(keyedBy: Part.self, forKey: .color) else { return }
    let numbers = [Part.red, .green, .blue].compactMap { part in
      (try? parts.decode(Double.self, forKey: part)).flatMap { (0...1).contains($0) ? $0 : nil }
    }
    if numbers.count == 3 { color = .init(red: numbers[0], green: numbers[1], blue: numbers[2]) }
  }

  /// The numbers between these marks, blanks aside: `{{8, 1110}, {300, 200}}`. Nothing that is merely like it.
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
