import GraphModel

/// The plain text of HTML as Google Keep writes it for formatted notes.
///
/// Every input has a result: an unterminated tag is text, and an unknown entity stays as written. Blocks and `br` end
/// lines, list items become `- milk` and `1. milk`, and white space is collapsed as in browsers.
public struct HTMLText: Equatable, Sendable {
  /// A kind of formatting that plain text cannot express.
  public enum Format: String, Sendable, CaseIterable {
    /// The user's name for each kind.
    case headings, bold, italic, underline, strikethrough
  }

  /// The text, with lines separated by newlines.
  public private(set) var text = ""
  /// The addresses of links, in order.
  public private(set) var addresses = [String]()
  /// The lost formatting.
  public private(set) var formats = Set<Format>()
  /// The images without a description, of which the text has no trace: their addresses, in order.
  package private(set) var images = [String]()
  /// Whether the text has marks such as `1. `.
  package private(set) var hasNumberedItems = false

  /// Parses a fragment of HTML or a complete document.
  public init(_ html: String) {
    var reader = HTMLReader(html)
    reader.read()
    (text, addresses, formats) = (String(reader.text), reader.addresses, reader.formats)
    (images, hasNumberedItems) = (reader.images, reader.hasNumberedItems)
  }
}

private struct HTMLReader {
  private(set) var text = String.UnicodeScalarView()
  private(set) var addresses = [String]()
  private(set) var formats = Set<HTMLText.Format>()
  private(set) var images = [String]()
  private(set) var hasNumberedItems = false
  private let source: [Unicode.Scalar]
  private var position = 0
  /// Whether a block ended and no text has followed on its line.
  private var endsLine = false
  /// Whether white space precedes the next character.
  private var hasBlank = false
  /// Whether the current line has text.
  private var isWithinLine = false
  /// Whether the current line has only a list item's marker.
  private var isBehindMark = false
  /// Whether the rest of the source has no end of a comment.
  private var isCommentless = false
  /// Whether the rest of the source has no end of a tag.
  private var isTagless = false
  private var preformatted = 0
  /// The number of the last item of each open list; nil for unnumbered lists.
  private var lists = [Int?]()

  private static let blocks: Set<String> = [
    "p", "div", "li", "ul", "ol", "tr", "table", "blockquote", "pre", "section", "article", "header", "footer", "hr",
    "dl", "dt", "dd", "h1", "h2", "h3", "h4", "h5", "h6", "body",
  ]
  private static let hidden: Set<String> = ["script", "style", "head", "title", "template"]
  private static let formats: [String: HTMLText.Format] = [
    "b": .bold, "strong": .bold, "i": .italic, "em": .italic, "u": .underline, "ins": .underline,
    "s": .strikethrough, "strike": .strikethrough, "del": .strikethrough, "h1": .headings, "h2": .headings,
    "h3": .headings, "h4": .headings, "h5": .headings, "h6": .headings,
  ]

  init(_ html: String) { source = Array(html.unicodeScalars) }

  mutating func read() {
    while position < source.count {
      let scalar = source[position]
      if scalar == "<", let tag = tag() {
        apply(tag)
      } else if scalar == "&", let letter = entity() {
        put(letter)
      } else {
        position += 1
        blankOrLetter(scalar)
      }
    }
  }

  // MARK: - Letters

  private mutating func blankOrLetter(_ scalar: Unicode.Scalar) {
    guard [" ", "\t", "\n", "\r", "\u{C}"].contains(scalar) else { return put(scalar) }
    guard preformatted > 0 else {
      hasBlank = hasBlank || isWithinLine
      return
    }
    if scalar == "\n" { lineEnd() } else if scalar != "\r" { put(scalar) }
  }

  private mutating func put(_ scalar: Unicode.Scalar) {
    if endsLine { text.append("\n") }
    if hasBlank, !endsLine { text.append(" ") }
    (endsLine, hasBlank, isWithinLine, isBehindMark) = (false, false, true, false)
    text.append(scalar)
  }

  private mutating func put(_ letters: String) { for scalar in letters.unicodeScalars { put(scalar) } }

  /// Ends a line, even an empty one.
  private mutating func lineEnd() {
    if endsLine { text.append("\n") }
    text.append("\n")
    (endsLine, hasBlank, isWithinLine) = (false, false, false)
  }

  private mutating func blockEdge() {
    if isWithinLine { endsLine = true }
    (hasBlank, isWithinLine) = (false, false)
  }

  // MARK: - Tags

  private struct Tag {
    var name: String
    var isEnd: Bool
    var attributes: [String: String]
  }

  /// Parses a tag and moves past it; nil if no tag begins here.
  private mutating func tag() -> Tag? {
    var place = position + 1
    func at(_ place: Int) -> Unicode.Scalar? { place < source.count ? source[place] : nil }
    guard !isTagless, let first = at(place), first == "/" || first == "!" || first == "?" || Self.isLetter(first) else {
      return nil
    }
    if source[place...].starts(with: "!--".unicodeScalars) {
      // Browsers hide everything behind an unterminated comment. Here it is text, as an unterminated tag is.
      guard !isCommentless else { return nil }
      place += 3
      while place < source.count, source[place] != "-" || !source[place...].starts(with: "-->".unicodeScalars) {
        place += 1
      }
      guard place < source.count else {
        isCommentless = true
        return nil
      }
      position = place + 3
      return Tag(name: "", isEnd: false, attributes: [:])
    }
    var (words, word, quote) = ([String](), String.UnicodeScalarView(), Unicode.Scalar?.none)
    while true {
      guard let scalar = at(place) else {
        isTagless = true
        return nil
      }
      place += 1
      if let open = quote {
        if scalar == open { quote = nil } else { word.append(scalar) }
      } else if scalar == ">" {
        break
      } else if scalar == "\"" || scalar == "'" {
        quote = scalar
      } else if scalar.properties.isWhitespace {
        if !word.isEmpty { words.append(String(word)) }
        word = .init()
      } else {
        word.append(scalar)
      }
    }
    if !word.isEmpty { words.append(String(word)) }
    position = place
    guard let name = words.first else { return nil }
    var attributes = [String: String]()
    for word in words.dropFirst() {
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      attributes[parts[0].lowercased()] = parts.count == 2 ? HTMLReader.plain(String(parts[1])) : ""
    }
    return Tag(
      name: name.lowercased().trimming(while: { $0 == "/" }), isEnd: first == "/", attributes: attributes)
  }

  private static func isLetter(_ scalar: Unicode.Scalar) -> Bool { scalar.isASCII && scalar.properties.isAlphabetic }

  private mutating func apply(_ tag: Tag) {
    if Self.hidden.contains(tag.name) { return tag.isEnd ? () : skip(to: tag.name) }
    if !tag.isEnd { recordFormats(of: tag) }
    switch tag.name {
    case "br": lineEnd()
    case "td", "th": if !tag.isEnd, isWithinLine { put("\t") }
    case "ul", "ol":
      blockEdge()
      if tag.isEnd { _ = lists.popLast() } else { lists.append(tag.name == "ol" ? 0 : nil) }
    case "li" where !tag.isEnd: item()
    case "input" where tag.attributes["type"] == "checkbox":
      put(tag.attributes["checked"] == nil ? "[ ] " : "[x] ")
    case "img":
      if let words = tag.attributes["alt"], !words.isEmpty {
        put(words)
      } else {
        images.append(tag.attributes["src"].map { $0.excerpt } ?? "without an address")
      }
    case "pre":
      blockEdge()
      preformatted = max(0, preformatted + (tag.isEnd ? -1 : 1))
    case let name where Self.blocks.contains(name): blockEdge()
    default: break
    }
  }

  private mutating func item() {
    blockEdge()
    endsLine = endsLine || isBehindMark
    var mark = "- "
    if let last = lists.last, let number = last {
      lists[lists.count - 1] = number + 1
      mark = "\(number + 1). "
      hasNumberedItems = true
    }
    put(String(repeating: "  ", count: min(max(0, lists.count - 1), 9)) + mark)
    (isWithinLine, isBehindMark) = (false, true)
  }

  /// Skips hidden content up to its end tag.
  private mutating func skip(to name: String) {
    let end = Array("</\(name)".unicodeScalars)
    while position < source.count {
      let isEnd =
        source[position] == "<"
        && source[position...].prefix(end.count).elementsEqual(end) { $0.properties.lowercaseMapping == "\($1)" }
      if isEnd {
        _ = tag()
        return
      }
      position += 1
    }
  }

  // MARK: - Formatting that plain text cannot express

  private mutating func recordFormats(of tag: Tag) {
    if tag.name == "a", let address = tag.attributes["href"], !address.isEmpty, !address.hasPrefix("#") {
      addresses.append(address)
    }
    let style = if let text = tag.attributes["style"] { text.lowercased().filter { !$0.isWhitespace } } else { "" }
    func has(_ values: String...) -> Bool { values.contains { style.contains($0) } }
    // Google wraps whole texts in <b style="font-weight:normal">.
    if let format = Self.formats[tag.name], !(format == .bold && has("font-weight:normal", "font-weight:400")) {
      formats.insert(format)
    }
    if has("font-weight:bold", "font-weight:6", "font-weight:7", "font-weight:8", "font-weight:9") {
      formats.insert(.bold)
    }
    if has("font-style:italic") { formats.insert(.italic) }
    for part in style.split(separator: ";") where part.hasPrefix("text-decoration") {
      if part.contains("underline") { formats.insert(.underline) }
      if part.contains("line-through") { formats.insert(.strikethrough) }
    }
  }

  // MARK: - Entities

  /// Parses an entity and moves past it; nil if none begins here.
  private mutating func entity() -> Unicode.Scalar? {
    let end = source[(position + 1)...].prefix(32).firstIndex { $0 == ";" }
    guard let end, end > position + 1 else { return nil }
    let name = String(String.UnicodeScalarView(source[(position + 1)..<end]))
    guard let letter = Self.letter(name) else { return nil }
    position = end + 1
    return letter
  }

  private static func letter(_ name: String) -> Unicode.Scalar? {
    guard name.hasPrefix("#") else { return HTMLEntities.letters[name] }
    let isHexadecimal = name.dropFirst().lowercased().hasPrefix("x")
    guard let number = UInt32(name.dropFirst(isHexadecimal ? 2 : 1), radix: isHexadecimal ? 16 : 10) else { return nil }
    // Browsers decode these as Windows-1252, because that is what pages intend.
    if (0x80..<0xA0).contains(number) { return CodePage.windowsLetters[Int(number) - 0x80] }
    guard number > 0, let scalar = Unicode.Scalar(number) else { return "\u{FFFD}" }
    return scalar
  }

  /// Returns an attribute's value with its entities decoded.
  private static func plain(_ value: String) -> String {
    guard value.contains("&") else { return value }
    var reader = HTMLReader(value)
    var letters = String.UnicodeScalarView()
    while reader.position < reader.source.count {
      if reader.source[reader.position] == "&", let letter = reader.entity() {
        letters.append(letter)
      } else {
        letters.append(reader.source[reader.position])
        reader.position += 1
      }
    }
    return String(letters)
  }
}

extension String {
  fileprivate func trimming(while isSurplus: (Character) -> Bool) -> String {
    String(drop(while: isSurplus).reversed().drop(while: isSurplus).reversed())
  }
}
