// Tests: KeepNoteTests.swift, RichTextTests.swift
import GraphModel

/// The saved links of a note, as paragraphs after its text: title, address and description, each once, without those
/// that the text mentions.
///
/// The text is compared by bytes, and only as long as that takes little time: a file can hold a large text and a
/// hundred thousand links. Later links are compared with each other only.
struct SavedLinks {
  /// The maximum number of bytes of the text that are searched, for all links together.
  static let maximumSearchedBytes = 1 << 26

  /// The paragraphs, in the order of the links.
  private(set) var paragraphs = [String]()
  private let text: [UInt8]
  private var added = Set<ByteKey>()
  private var searchedBytes = 0

  init(besides text: String) { self.text = Array(text.utf8) }

  /// Adds a link.
  /// - Parameter pieces: its title, address and description; empty ones are ignored.
  mutating func add(_ pieces: [String]) {
    var lines = [String]()
    for piece in pieces where !piece.isEmpty && added.insert(ByteKey(piece)).inserted {
      let isThere = isInText(piece) || lines.contains { Self.mentions(Array($0.utf8), piece) }
      if !isThere { lines.append(piece) }
    }
    if !lines.isEmpty { paragraphs.append(lines.joined(separator: "\n")) }
  }

  private mutating func isInText(_ piece: String) -> Bool {
    guard searchedBytes <= Self.maximumSearchedBytes - text.count else { return false }
    searchedBytes += text.count
    return Self.mentions(text, piece)
  }

  /// Whether a text contains `piece`, other than as the beginning or end of a longer word or address.
  ///
  /// The search of Knuth, Morris and Pratt, which takes linear time for every text.
  private static func mentions(_ text: [UInt8], _ piece: String) -> Bool {
    let wanted = Array(piece.utf8)
    assert(!wanted.isEmpty, "an empty piece is mentioned everywhere")
    // For each beginning of the piece the length of its longest end that is a shorter beginning.
    var borders = [0]
    var matched = 0
    for place in wanted.indices.dropFirst() {
      while matched > 0, wanted[matched] != wanted[place] { matched = borders[matched - 1] }
      if wanted[matched] == wanted[place] { matched += 1 }
      borders.append(matched)
    }
    matched = 0
    for (place, byte) in text.enumerated() {
      while matched > 0, matched == wanted.count || wanted[matched] != byte { matched = borders[matched - 1] }
      if wanted[matched] == byte { matched += 1 }
      guard matched == wanted.count else { continue }
      let (before, behind) = (text[...place].dropLast(matched), text[(place + 1)...])
      if !isContinued(last(before)), !isContinued(first(behind)) { return true }
    }
    return false
  }

  private static func isContinued(_ neighbor: Unicode.Scalar?) -> Bool {
    guard let neighbor else { return false }
    if neighbor.isASCII, !neighbor.properties.isAlphabetic {
      return "0123456789/?#&=%-_+~@".unicodeScalars.contains(neighbor)
    }
    switch neighbor.properties.generalCategory {
    case .nonspacingMark, .spacingMark, .enclosingMark: return true
    default: return neighbor.properties.isAlphabetic || neighbor.properties.numericType != nil
    }
  }

  /// The last scalar of a text, which has at most four bytes.
  private static func last(_ bytes: ArraySlice<UInt8>) -> Unicode.Scalar? {
    if let byte = bytes.last, byte < 0x80 { return Unicode.Scalar(byte) }
    return String(decoding: bytes.suffix(4).drop { $0 & 0xC0 == 0x80 }, as: UTF8.self).unicodeScalars.last
  }

  private static func first(_ bytes: ArraySlice<UInt8>) -> Unicode.Scalar? {
    if let byte = bytes.first, byte < 0x80 { return Unicode.Scalar(byte) }
    return String(decoding: bytes.prefix(4), as: UTF8.self).unicodeScalars.first
  }
}
