import Synchronization

/// A Swift source file, divided into code, comments and string literals by one pass over its bytes.
struct SourceText {
  /// The code, with literals replaced by `""` and without comments; lines keep their numbers.
  private(set) var code = ""
  /// Blocks of consecutive comment lines, without their slashes.
  private(set) var comments = [String]()
  /// The contents of string literals, with interpolations as they are written.
  private(set) var strings = [String]()

  private static let divided = Mutex([String: SourceText]())

  /// The parts of a text, which is divided once for all tests.
  static func shared(_ text: String) -> SourceText {
    if let found = divided.withLock({ $0[text] }) { return found }
    let parts = SourceText(text)
    divided.withLock { $0[text] = parts }
    return parts
  }

  init(_ text: String) {
    let bytes = Array(text.utf8)
    var code = [UInt8]()
    var place = 0
    /// The line on which the previous comment ended; consecutive comment lines form a block.
    var (line, lastCommentLine) = (1, -1)
    func at(_ offset: Int) -> UInt8 { place + offset < bytes.count ? bytes[place + offset] : 0 }
    while place < bytes.count {
      switch bytes[place] {
      case UInt8(ascii: "/") where at(1) == UInt8(ascii: "/"):
        let end = bytes[place...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
        let isAlone = code.reversed().prefix { $0 != UInt8(ascii: "\n") }.allSatisfy { $0 == UInt8(ascii: " ") }
        let words = String(decoding: bytes[place..<end].drop { $0 == UInt8(ascii: "/") }, as: UTF8.self)
        if isAlone, lastCommentLine == line - 1, !comments.isEmpty {
          comments[comments.count - 1] += " " + words
        } else {
          comments.append(words)
        }
        lastCommentLine = line
        place = end
      case UInt8(ascii: "\""), UInt8(ascii: "#"):
        let end = Self.endOfLiteral(bytes, place)
        guard end > place else {
          code.append(bytes[place])
          place += 1
          continue
        }
        let literal = bytes[place..<end]
        strings.append(String(decoding: literal.filter { $0 != UInt8(ascii: "\"") }, as: UTF8.self))
        let newlines = literal.count { $0 == UInt8(ascii: "\n") }
        line += newlines
        code += Array("\"\"".utf8) + [UInt8](repeating: UInt8(ascii: "\n"), count: newlines)
        place = end
      default:
        if bytes[place] == UInt8(ascii: "\n") { line += 1 }
        code.append(bytes[place])
        place += 1
      }
    }
    self.code = String(decoding: code, as: UTF8.self)
  }

  /// The index behind the literal that begins at `start`; `start` itself if none begins there.
  private static func endOfLiteral(_ bytes: [UInt8], _ start: Int) -> Int {
    var place = start
    while place < bytes.count, bytes[place] == UInt8(ascii: "#") { place += 1 }
    let pounds = place - start
    guard place < bytes.count, bytes[place] == UInt8(ascii: "\"") else { return start }
    let isLong = bytes[place...].prefix(3).elementsEqual(Array("\"\"\"".utf8))
    let closing = Array((isLong ? "\"\"\"" : "\"").utf8) + [UInt8](repeating: UInt8(ascii: "#"), count: pounds)
    place += isLong ? 3 : 1
    while place < bytes.count {
      if bytes[place...].prefix(closing.count).elementsEqual(closing) { return place + closing.count }
      if bytes[place] == UInt8(ascii: "\\"), pounds == 0 {
        place += 1
        if place < bytes.count, bytes[place] == UInt8(ascii: "(") {
          place = endOfInterpolation(bytes, place)
          continue
        }
      }
      place += 1
    }
    return bytes.count
  }

  /// The index behind the parenthesis that closes the one at `start`.
  private static func endOfInterpolation(_ bytes: [UInt8], _ start: Int) -> Int {
    var (place, depth) = (start, 0)
    while place < bytes.count {
      switch bytes[place] {
      case UInt8(ascii: "("): depth += 1
      case UInt8(ascii: ")"):
        depth -= 1
        if depth == 0 { return place + 1 }
      case UInt8(ascii: "\""):
        place = endOfLiteral(bytes, place)
        continue
      default: break
      }
      place += 1
    }
    return place
  }
}
