import GraphModel

/// Reading tags, attributes and references.
extension XMLReader {
  /// Reads a start tag or an empty-element tag, which is closed at once.
  mutating func startTag() throws(XMLError) -> (element: XMLElement, isClosed: Bool) {
    let start = position
    position += 1
    var element = XMLElement(name: try name("an element's name"), place: place(start))
    while true {
      let hadBlank = skipBlanks()
      if starts("/>") {
        position += 2
        return (element, true)
      }
      if starts(">") {
        position += 1
        return (element, false)
      }
      guard position < bytes.count else { throw error("<\(element.name.excerpt)> ends within its tag", at: start) }
      guard hadBlank else { throw error("a blank or > is expected here") }
      let attribute = try attribute()
      if element.attributes.contains(where: { $0.name == attribute.name }) {
        throw XMLError(
          place: attribute.place, reason: "<\(element.name.excerpt)> has \(attribute.name.excerpt) twice")
      }
      guard element.attributes.count < Self.maximumAttributes else {
        throw error("<\(element.name.excerpt)> has more than \(Self.maximumAttributes) attributes")
      }
      element.attributes.append(attribute)
    }
  }

  /// Reads the end tag of the innermost open element.
  mutating func endTag(of element: XMLElement?) throws(XMLError) -> XMLElement {
    let start = position
    position += 2
    let name = try name("an element's name")
    skipBlanks()
    guard starts(">") else { throw error("> is expected here") }
    guard let element else { throw error("</\(name.excerpt)> closes no element", at: start) }
    guard element.name == name else {
      throw error(
        "</\(name.excerpt)> does not close <\(element.name.excerpt)> of line \(element.place.line)", at: start)
    }
    position += 1
    return element
  }

  private mutating func attribute() throws(XMLError) -> XMLElement.Attribute {
    let start = position
    let name = try name("an attribute's name")
    skipBlanks()
    guard starts("=") else { throw error("= is expected here: an attribute is written name=\"value\"") }
    position += 1
    skipBlanks()
    guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") || bytes[position] == UInt8(ascii: "'") else {
      throw error("a value in quotation marks is expected here")
    }
    let (opening, quote) = (position, bytes[position])
    position += 1
    var value = [UInt8]()
    while position < bytes.count, bytes[position] != quote {
      if bytes[position] == UInt8(ascii: "<") { throw error("< must be written &lt; in a value") }
      // XML reads a line end in a value as a space.
      if isBlank(bytes[position]) {
        if !starts("\r\n") { value.append(0x20) }
        position += 1
      } else {
        try character(into: &value)
      }
    }
    guard position < bytes.count else { throw error("this value is not closed", at: opening) }
    position += 1
    return XMLElement.Attribute(name: name, value: String(decoding: value, as: UTF8.self), place: place(start))
  }

  private mutating func name(_ kind: String) throws(XMLError) -> String {
    let start = position
    func isLetter(_ byte: UInt8) -> Bool {
      (0x61...0x7A).contains(byte | 0x20) || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ":") || byte >= 0x80
    }
    func isOther(_ byte: UInt8) -> Bool {
      (0x30...0x39).contains(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
    }
    guard position < bytes.count, isLetter(bytes[position]) else { throw error("\(kind) is expected here") }
    while position < bytes.count, isLetter(bytes[position]) || isOther(bytes[position]) { position += 1 }
    return String(decoding: bytes[start..<position], as: UTF8.self)
  }

  @discardableResult private mutating func skipBlanks() -> Bool {
    let start = position
    while position < bytes.count, isBlank(bytes[position]) { position += 1 }
    return position > start
  }

  /// Reads a byte or a reference. A carriage return is part of a line end.
  mutating func character(into text: inout [UInt8]) throws(XMLError) {
    assert(position < bytes.count, "the caller has seen a byte")
    switch bytes[position] {
    case UInt8(ascii: "&"): text.append(contentsOf: String(try reference()).utf8)
    case 0x0D:
      if !starts("\r\n") { text.append(0x0A) }
      position += 1
    case let byte:
      text.append(byte)
      position += 1
    }
  }

  /// Reads `&lt;`, `&#65;` or `&#x41;`.
  private mutating func reference() throws(XMLError) -> Character {
    let start = position
    // The longest valid one is &#1114111; with leading zeros beyond reason.
    guard let end = bytes[start...].prefix(16).firstIndex(of: UInt8(ascii: ";")) else {
      throw error("& must be written &amp;")
    }
    let name = String(decoding: bytes[(start + 1)..<end], as: UTF8.self)
    position = end + 1
    switch name {
    case "lt": return "<"
    case "gt": return ">"
    case "amp": return "&"
    case "quot": return "\""
    case "apos": return "'"
    default: break
    }
    guard name.hasPrefix("#") else {
      throw error("&\(name); is not one of lt, gt, amp, quot, apos; & must be written &amp;", at: start)
    }
    let isHexadecimal = name.hasPrefix("#x")
    let digits = name.dropFirst(isHexadecimal ? 2 : 1)
    guard digits.allSatisfy(\.isHexDigit), let number = UInt32(digits, radix: isHexadecimal ? 16 : 10),
      let scalar = Unicode.Scalar(number), number >= 0x20 || [0x09, 0x0A, 0x0D].contains(number),
      number != 0xFFFE, number != 0xFFFF
    else { throw error("&\(name); is not a character", at: start) }
    return Character(scalar)
  }
}
