import GraphModel

/// Reads XML 1.0, as far as files of Xcode use it: elements, attributes, character data, comments, processing
/// instructions and the five predefined entities, in UTF-8.
///
/// FoundationXML would add libxml2 and ICU to every program with this reader. A document type declaration is refused,
/// or skipped without a look at its file, so that entities can't multiply a document. Depth and size have limits, and
/// the reader does not recurse.
struct XMLReader {
  /// The maximum size of a document in bytes. The largest public models have less than 1 MiB.
  static let maximumSize = 16 << 20
  /// The maximum nesting depth of elements. Models have 6.
  static let maximumDepth = 64
  /// The maximum number of attributes of an element.
  static let maximumAttributes = 256

  let bytes: [UInt8]
  var position = 0
  /// The offsets at which lines begin.
  private let lineStarts: [Int]
  private let allowsDoctype: Bool

  /// Parses a document.
  /// - Parameter allowsDoctype: whether a declaration that only names an external file is skipped; the property lists
  ///   of Apple have one.
  static func parse(_ bytes: [UInt8], allowsDoctype: Bool = false) throws(XMLError) -> XMLElement {
    guard bytes.count <= maximumSize else {
      throw XMLError(place: .start, reason: "the file has \(bytes.count) bytes; at most \(maximumSize) are read")
    }
    var reader = XMLReader(bytes, allowsDoctype: allowsDoctype)
    return try reader.document()
  }

  private init(_ bytes: [UInt8], allowsDoctype: Bool) {
    self.bytes = bytes
    self.allowsDoctype = allowsDoctype
    var starts = [0]
    for (offset, byte) in bytes.enumerated() {
      let isLineEnd = byte == 0x0A || byte == 0x0D && (offset + 1 == bytes.count || bytes[offset + 1] != 0x0A)
      if isLineEnd { starts.append(offset + 1) }
    }
    lineStarts = starts
  }

  // MARK: - The document

  private mutating func document() throws(XMLError) -> XMLElement {
    try checkEncoding()
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
    try declaration()
    var open = [XMLElement]()
    var root: XMLElement?
    while position < bytes.count {
      if starts("<!--") {
        try comment()
      } else if starts("<![CDATA[") {
        let text = try characterData(isInElement: !open.isEmpty)
        open[open.count - 1].text += text
      } else if starts("<!DOCTYPE") {
        try doctype(isFirst: open.isEmpty && root == nil)
      } else if starts("<?") {
        try skip(through: "?>", from: "<?", "processing instruction")
      } else if starts("</") {
        let element = try endTag(of: open.last)
        open.removeLast()
        if open.isEmpty { root = element } else { open[open.count - 1].children.append(element) }
      } else if starts("<") {
        guard root == nil else { throw error("a document has one outermost element") }
        let (element, isClosed) = try startTag()
        if isClosed, open.isEmpty {
          root = element
        } else if isClosed {
          open[open.count - 1].children.append(element)
        } else {
          guard open.count < Self.maximumDepth else {
            throw XMLError(place: element.place, reason: "elements are nested deeper than \(Self.maximumDepth)")
          }
          open.append(element)
        }
      } else if open.isEmpty {
        guard isBlank(bytes[position]) else { throw error("text must be within an element") }
        position += 1
      } else {
        open[open.count - 1].text += try text()
      }
    }
    if let element = open.last {
      throw XMLError(
        place: element.place, reason: "<\(element.name.excerpt)> is not closed: the file ends at \(describe(position))")
    }
    guard let root else { throw error("there is no element in the file") }
    return root
  }

  /// Refuses other encodings than UTF-8, and the characters that XML forbids.
  private func checkEncoding() throws(XMLError) {
    if bytes.starts(with: [0xFE, 0xFF]) || bytes.starts(with: [0xFF, 0xFE]) {
      throw XMLError(place: .start, reason: "the file is in UTF-16; save it in UTF-8")
    }
    if bytes.starts(with: "bplist".utf8) {
      throw XMLError(place: .start, reason: "the file is a binary property list; convert it with plutil -convert xml1")
    }
    if let place = firstInvalidByte { throw error("the file is not UTF-8 here", at: place) }
    if let place = bytes.firstIndex(where: { $0 < 0x20 && !isBlank($0) }) {
      throw error("XML allows no control character here", at: place)
    }
  }

  /// The offset of the first byte that is not UTF-8; nil if there is none.
  private var firstInvalidByte: Int? {
    var (parser, iterator) = (Unicode.UTF8.ForwardParser(), bytes.makeIterator())
    var offset = 0
    while true {
      switch parser.parseScalar(from: &iterator) {
      case .valid(let scalar): offset += scalar.count
      case .error: return offset
      case .emptyInput: return nil
      }
    }
  }

  private mutating func declaration() throws(XMLError) {
    guard starts("<?xml"), position + 5 < bytes.count, isBlank(bytes[position + 5]) else { return }
    let start = position
    try skip(through: "?>", from: "<?", "XML declaration")
    let text = String(decoding: bytes[start..<position], as: UTF8.self)
    guard let word = text.firstRange(of: "encoding") else { return }
    let value = text[word.upperBound...].drop { $0 == "=" || $0.isWhitespace }
    guard let quote = value.first, quote == "\"" || quote == "'" else {
      throw error("the encoding has no quotation marks", at: start)
    }
    let encoding = value.dropFirst().prefix { $0 != quote }
    guard ["utf-8", "utf8", "us-ascii", "ascii"].contains(encoding.lowercased()) else {
      throw error("the file declares the encoding \(encoding.excerpt); save it in UTF-8", at: start)
    }
  }

  private mutating func comment() throws(XMLError) {
    let start = position
    try skip(through: "-->", from: "<!--", "comment")
    let inner = bytes[(start + 4)..<(position - 3)]
    if zip(inner, inner.dropFirst()).contains(where: { $0 == UInt8(ascii: "-") && $1 == UInt8(ascii: "-") }) {
      throw error("a comment can't contain --", at: start)
    }
  }

  private mutating func doctype(isFirst: Bool) throws(XMLError) {
    guard allowsDoctype, isFirst else {
      throw error("a document type declaration is not allowed here: a model of Xcode has none")
    }
    let start = position
    while position < bytes.count, bytes[position] != UInt8(ascii: ">") {
      if bytes[position] == UInt8(ascii: "[") { throw error("declarations of entities are not allowed") }
      position += 1
    }
    guard position < bytes.count else { throw error("this declaration is not closed", at: start) }
    position += 1
  }

  private mutating func characterData(isInElement: Bool) throws(XMLError) -> String {
    guard isInElement else { throw error("text must be within an element") }
    let start = position
    try skip(through: "]]>", from: "<![CDATA[", "CDATA section")
    return String(decoding: bytes[(start + 9)..<(position - 3)], as: UTF8.self)
  }

  private mutating func text() throws(XMLError) -> String {
    var text = [UInt8]()
    while position < bytes.count, bytes[position] != UInt8(ascii: "<") {
      if starts("]]>") { throw error("]]> must be written ]]&gt;") }
      try character(into: &text)
    }
    return String(decoding: text, as: UTF8.self)
  }

  // MARK: - Places

  func error(_ reason: String, at offset: Int? = nil) -> XMLError {
    XMLError(place: place(offset ?? position), reason: reason)
  }

  func place(_ offset: Int) -> SourcePlace {
    var (low, high) = (0, lineStarts.count - 1)
    while low < high {
      let middle = (low + high + 1) / 2
      if lineStarts[middle] <= offset { low = middle } else { high = middle - 1 }
    }
    assert(lineStarts[low] <= offset, "a place is on the last line that begins before it")
    return SourcePlace(line: low + 1, column: offset - lineStarts[low] + 1)
  }

  private func describe(_ offset: Int) -> String {
    let place = place(offset)
    return "line \(place.line), column \(place.column)"
  }

  func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }

  func starts(_ text: StaticString) -> Bool {
    let count = text.utf8CodeUnitCount
    return position + count <= bytes.count
      && text.withUTF8Buffer { bytes[position..<(position + count)].elementsEqual($0) }
  }

  /// Skips a part with these marks at its ends.
  private mutating func skip(through end: StaticString, from begin: StaticString, _ name: String) throws(XMLError) {
    let start = position
    position += begin.utf8CodeUnitCount
    while position < bytes.count, !starts(end) { position += 1 }
    guard position < bytes.count else { throw error("this \(name) is not closed", at: start) }
    position += end.utf8CodeUnitCount
  }
}
