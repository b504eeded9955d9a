/// Parses a rich text in one pass. Each group has a state that its end restores; a group's destination determines
/// where its text goes. Unknown control words are ignored, as the format requires.
struct RichTextReader {
  /// The use of a group's text.
  enum Destination {
    case text, ignored, fonts, colors
    /// The name of an attached file.
    case attachment
    /// The marker of a list item.
    case mark
    /// The instruction of a field, which can have the address of a link.
    case instruction
  }

  /// The state that a group's end restores.
  struct Group {
    var destination = Destination.text
    /// The number of fallback characters after a Unicode character, for readers without Unicode.
    var substitutes = 1
    var font = 0
    var background = 0
    var listLevel = 0
    /// Whether the group contained an attachment; the rest of it is a placeholder.
    var hasAttachment = false
  }

  private(set) var result = RichText()
  private let bytes: [UInt8]
  private var position = 0
  private var groups = [Group]()
  private var group = Group()
  /// The text as UTF-8 bytes, for speed.
  private var text = [UInt8]()
  private var mark = ""
  private var name = ""
  private var instruction = ""
  /// The addresses of the links, whose text need not show them.
  private var addresses = [String]()
  private var page = CodePage.windows1252
  private var fonts = RichTextFonts()
  /// Unconverted bytes of one code page: a character can have two bytes, each in any notation.
  private var run = ByteRun()
  private var converters = [CodePage: CodePageConverter]()
  private var colors = [RichText.RGB?]()
  private var color: (red: Int?, green: Int?, blue: Int?)
  /// The number of characters to skip.
  private var skipping = 0
  private var highSurrogate: UInt32?
  /// Whether the next control word is the destination of a group that readers skip if they do not know the word.
  private var isOptional = false

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  mutating func read() throws(RichText.ParseError) {
    guard bytes.starts(with: "{\\rtf".utf8) else {
      throw parseError("this is not rich text: it does not begin with {\\rtf")
    }
    while position < bytes.count {
      let byte = bytes[position]
      position += 1
      switch byte {
      case UInt8(ascii: "{"): try open()
      case UInt8(ascii: "}"):
        try close()
        if groups.isEmpty { return try end() }
      case UInt8(ascii: "\\"): try control()
      case 0x0A, 0x0D, 0: break
      default: try character(byte, isEscaped: false)
      }
    }
    throw parseError("the text ends too early: \(groups.count) of its groups are not closed")
  }

  private func parseError(_ reason: String) -> RichText.ParseError {
    let end = min(position, bytes.count)
    return RichText.ParseError(line: 1 + bytes[..<max(0, end - 1)].count { $0 == 0x0A }, reason: reason)
  }

  // MARK: - Groups

  private mutating func open() throws(RichText.ParseError) {
    try endRun()
    guard groups.count < RichText.maximumDepth else {
      throw parseError("groups are nested more than \(RichText.maximumDepth) deep")
    }
    groups.append(group)
    skipping = 0
    isOptional = false
  }

  private mutating func close() throws(RichText.ParseError) {
    try endRun()
    try endPair()
    guard let outer = groups.popLast() else { throw parseError("a group ends that was not opened") }
    let inner = group
    group = outer
    skipping = 0
    isOptional = false
    assert(groups.count < RichText.maximumDepth, "each open group has its outer state")
    switch (inner.destination, outer.destination) {
    case (.attachment, .attachment), (.mark, .mark), (.instruction, .instruction): break
    case (.instruction, _):
      if let address = RichTextControlWords.address(ofLink: instruction) { addresses.append(address) }
      instruction = ""
    case (.attachment, _):
      let trimmed = name.split(separator: " ").joined(separator: " ")
      guard result.attachments.count < RichText.maximumTableSize else {
        throw parseError("the text has more than \(RichText.maximumTableSize) attachments")
      }
      if !trimmed.isEmpty { result.attachments.append(trimmed) }
      name = ""
      // Only in a nested group, so that the document itself is never treated as a placeholder.
      if groups.count > 1 { group.hasAttachment = true }
    case (.mark, _):
      let trimmed = mark.split { $0 == " " || $0 == "\t" }.joined(separator: " ")
      mark = ""
      guard !trimmed.isEmpty else { break }
      let isBullet = ["•", "◦", "▪", "⁃", "·", "-", "–", "*", "o"].contains(trimmed)
      let indent = String(repeating: "  ", count: min(max(0, inner.listLevel), 9))
      try append("\(indent)\(isBullet ? "-" : trimmed) ".utf8)
    default: break
    }
  }

  private mutating func end() throws(RichText.ParseError) {
    while position < bytes.count {
      guard [0, 0x09, 0x0A, 0x0D, 0x20].contains(bytes[position]) else {
        position += 1
        throw parseError("there is extra text after the end")
      }
      position += 1
    }
    var links = SavedLinks(besides: String(decoding: text, as: UTF8.self))
    for address in addresses { links.add([address]) }
    if !links.paragraphs.isEmpty {
      let gap = text.isEmpty ? "" : text.last == UInt8(ascii: "\n") ? "\n" : "\n\n"
      try append((gap + links.paragraphs.joined(separator: "\n\n")).utf8)
    }
    result.text = String(decoding: text, as: UTF8.self)
  }

  // MARK: - Letters

  private mutating func append(_ letters: some Sequence<UInt8>) throws(RichText.ParseError) {
    text += letters
    guard text.count <= RichText.maximumTextSize else {
      throw parseError("the text has more than \(RichText.maximumTextSize) bytes")
    }
  }

  /// Handles a byte of a character.
  private mutating func character(_ byte: UInt8, isEscaped: Bool) throws(RichText.ParseError) {
    guard skipping == 0 else {
      skipping -= 1
      return
    }
    switch group.destination {
    case .ignored: return
    case .fonts: return fonts.name(byte, of: group.font)
    case .colors:
      if byte == UInt8(ascii: ";") { try endColor() }
      return
    case .text, .mark, .attachment, .instruction: break
    }
    if group.hasAttachment { return }
    switch fonts.letters(of: group.font) {
    case .symbols(let font): try put(font.scalar(byte) ?? unreadable())
    case .page(let own):
      let page = own ?? page
      if byte < 0x80, run.bytes.isEmpty {
        try put(Unicode.Scalar(byte))
      } else if let scalar = byte < 0x80 ? nil : page.scalar(byte) {
        try endRun()
        try put(scalar)
        if let second = page.second(byte) { try put(second) }
      } else {
        if run.page != page { try endRun() }
        run.append(byte, isEscaped, page)
        // An ASCII byte may be the second byte of a pair, so it joins a pending run. A long run ends at one, which
        // bounds the memory.
        if byte < 0x80, run.bytes.count > 4_096 { try endRun() }
      }
    }
  }

  private mutating func unreadable() -> Unicode.Scalar {
    result.unreadable += 1
    return "\u{FFFD}"
  }

  /// Converts the pending bytes.
  private mutating func endRun() throws(RichText.ParseError) {
    guard !run.bytes.isEmpty else { return }
    let run = run
    self.run = ByteRun()
    let page = run.page
    if converters[page] == nil { converters[page] = CodePageConverter(page) }
    guard let converter = converters[page] else {
      guard page.converter != nil else {
        for byte in run.bytes { try put(byte < 0x80 ? Unicode.Scalar(byte) : unreadable()) }
        return
      }
      throw parseError(
        "its characters are in code page \(page.number), and this system has no converter for it; install the C "
          + "library's converters (gconv, \(page.converter ?? "")) and import the note again")
    }
    let (letters, unreadable) = converter.letters(of: run.bytes, isEscaped: run.isEscaped)
    result.unreadable += unreadable
    for scalar in String(decoding: letters, as: UTF8.self).unicodeScalars { try put(scalar) }
  }

  /// Appends a complete character.
  private mutating func put(_ scalar: Unicode.Scalar) throws(RichText.ParseError) {
    if group.hasAttachment { return highSurrogate = nil }
    try endPair()
    // macOS writes these code points for the ends of lines and paragraphs.
    let scalar = ["\u{2028}", "\u{2029}"].contains(scalar) ? "\n" : scalar
    switch group.destination {
    case .text:
      if result.background == nil, group.background > 0, group.background < colors.count {
        result.background = colors[group.background]
      }
      try append(UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
    case .mark: if mark.utf8.count < 100 { mark.unicodeScalars.append(scalar) }
    case .attachment: if name.utf8.count < 1_000 { name.unicodeScalars.append(scalar) }
    case .instruction: if instruction.utf8.count < 4_096 { instruction.unicodeScalars.append(scalar) }
    case .ignored, .fonts, .colors: break
    }
  }

  /// Replaces a high surrogate without a low one.
  private mutating func endPair() throws(RichText.ParseError) {
    guard highSurrogate != nil else { return }
    highSurrogate = nil
    try put(unreadable())
  }

  /// Handles a UTF-16 code unit.
  private mutating func unicode(_ number: Int) throws(RichText.ParseError) {
    // The value is a signed 16-bit number, but some programs write it unsigned, or a character beyond 16 bits at once.
    guard number >= -32_768, let unit = UInt32(exactly: number < 0 ? number + 65_536 : number) else {
      return try put(unreadable())
    }
    if (0xD800..<0xDC00).contains(unit) {
      try endPair()
      highSurrogate = unit
    } else if (0xDC00..<0xE000).contains(unit) {
      let high = highSurrogate
      highSurrogate = nil
      let whole = high.flatMap { Unicode.Scalar(0x10000 + ($0 - 0xD800) << 10 + (unit - 0xDC00)) }
      try put(whole ?? unreadable())
    } else if let scalar = Unicode.Scalar(unit) {
      guard case .symbols(let font) = fonts.letters(of: group.font) else { return try put(scalar) }
      try put(font.scalar(privateUse: unit) ?? scalar)
    } else {
      try put(unreadable())
    }
  }

  // MARK: - Control words

  private mutating func control() throws(RichText.ParseError) {
    guard position < bytes.count else { throw parseError("the text ends after a backslash") }
    let first = bytes[position]
    guard Self.isLetter(first) else {
      position += 1
      return try symbol(first)
    }
    try endRun()
    let start = position
    while position < bytes.count, Self.isLetter(bytes[position]) { position += 1 }
    guard position - start <= 32 else {
      throw parseError("a control word with \(position - start) letters is too long")
    }
    let word = String(decoding: bytes[start..<position], as: UTF8.self)
    let number = try self.number()
    if position < bytes.count, bytes[position] == UInt8(ascii: " ") { position += 1 }
    if word == "bin" { return try passOver(Self.parameter(number)) }
    // A `\u` is never a substitute for a character. Every other control word counts as one substitute, but still has
    // its effect unless it is a visible character, so that no line end and no change of font is lost.
    if skipping > 0, word != "u" {
      skipping -= 1
      if RichTextControlWords.isVisible(word) { return }
    }
    if isOptional {
      isOptional = false
      if word != "fldinst" || group.destination == .ignored {
        group.destination = .ignored
        return
      }
    }
    try apply(word, number)
  }

  private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }

  private mutating func number() throws(RichText.ParseError) -> Int? {
    let start = position
    if position < bytes.count, bytes[position] == UInt8(ascii: "-") { position += 1 }
    let digits = position
    while position < bytes.count, (0x30...0x39).contains(bytes[position]) { position += 1 }
    guard position > digits else {
      position = start
      return nil
    }
    guard position - digits <= 10 else { throw parseError("a number with \(position - digits) digits is too long") }
    return Int(String(decoding: bytes[start..<position], as: UTF8.self))
  }

  private mutating func passOver(_ count: Int) throws(RichText.ParseError) {
    guard count >= 0, count <= bytes.count - position else { throw parseError("the text ends within \\bin\(count)") }
    position += count
    if skipping > 0 { skipping -= 1 }
  }

  private mutating func symbol(_ byte: UInt8) throws(RichText.ParseError) {
    if byte == UInt8(ascii: "'") {
      guard position + 1 < bytes.count, bytes[position] != UInt8(ascii: "+"),
        let code = UInt8(String(decoding: bytes[position...position + 1], as: UTF8.self), radix: 16)
      else { return try incompleteEscape() }
      position += 2
      return try character(code, isEscaped: true)
    }
    // The second byte of a pair can be one of these.
    if [UInt8(ascii: "\\"), UInt8(ascii: "{"), UInt8(ascii: "}")].contains(byte) {
      return try character(byte, isEscaped: true)
    }
    try endRun()
    // A backslash before a line break is a line break in the text, for every kind of line ending.
    if byte == 0x0D, position < bytes.count, bytes[position] == 0x0A { position += 1 }
    if skipping > 0 {
      skipping -= 1
      if ![0x09, 0x0A, 0x0D].contains(byte) { return }
    }
    switch byte {
    case UInt8(ascii: "*"): isOptional = true
    case 0x0A, 0x0D: try put("\n")
    case 0x09: try put("\t")
    case UInt8(ascii: "~"): try put("\u{A0}")
    case UInt8(ascii: "_"): try put("\u{2011}")
    default: break
    }
  }

  /// Handles `\'` without two hexadecimal digits. Only one character is lost, not the whole text.
  private mutating func incompleteEscape() throws(RichText.ParseError) {
    try endRun()
    guard skipping == 0 else { return skipping -= 1 }
    if group.destination == .text { try put(unreadable()) }
  }

  /// The parameter of a control word, which may be omitted.
  private static func parameter(_ number: Int?, omitted: Int = 0) -> Int { if let number { number } else { omitted } }

  private mutating func apply(_ word: String, _ number: Int?) throws(RichText.ParseError) {
    if let letter = RichTextControlWords.letters[word] { return try put(letter) }
    if RichTextControlWords.ignored.contains(word) {
      group.destination = .ignored
      return
    }
    switch (word, group.destination) {
    case (_, .ignored): break
    case ("u", let use):
      skipping = group.substitutes
      if use != .fonts, use != .colors { try unicode(Self.parameter(number)) }
    case ("uc", _): group.substitutes = min(max(0, Self.parameter(number, omitted: 1)), 100)
    case ("mac", _): page = .macRoman
    case ("pc", _), ("pca", _): page = CodePage(number: word == "pc" ? 437 : 850)
    case ("ansicpg", _): page = CodePage(number: Self.parameter(number))
    case ("fonttbl", _): group.destination = .fonts
    case ("colortbl", _): group.destination = .colors
    case ("listtext", _), ("pntext", _): group.destination = .mark
    case ("NeXTGraphic", _): group.destination = .attachment
    case ("fldinst", _): group.destination = .instruction
    case ("f", _): group.font = Self.parameter(number)
    case ("fcharset", .fonts): try charset(Self.parameter(number))
    case ("red", .colors): color.red = number
    case ("green", .colors): color.green = number
    case ("blue", .colors): color.blue = number
    case ("cb", _), ("highlight", _), ("chcbpat", _): group.background = Self.parameter(number)
    case ("ilvl", _): group.listLevel = Self.parameter(number)
    case ("plain", _): (group.font, group.background) = (0, 0)
    case ("pard", _): group.listLevel = 0
    default: break
    }
  }

  private mutating func charset(_ number: Int) throws(RichText.ParseError) {
    guard fonts.setCharset(number, of: group.font) else {
      throw parseError("the text has more than \(RichText.maximumTableSize) fonts")
    }
  }

  private mutating func endColor() throws(RichText.ParseError) {
    guard colors.count < RichText.maximumTableSize else {
      throw parseError("the text has more than \(RichText.maximumTableSize) colors")
    }
    func part(_ number: Int?) -> Double { Double(min(max(0, Self.parameter(number)), 255)) / 255 }
    let isDefault = color.red == nil && color.green == nil && color.blue == nil
    colors.append(isDefault ? nil : .init(red: part(color.red), green: part(color.green), blue: part(color.blue)))
    color = (nil, nil, nil)
  }
}
