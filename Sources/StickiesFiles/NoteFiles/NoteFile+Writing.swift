import GraphModel

extension NoteFile {
  /// The file's bytes; `NoteFile(parsing:)` reads the same note from them.
  public var bytes: [UInt8] {
    var lines = ["---"]
    func add(_ name: String, _ value: String?) {
      if let value { lines.append("\(name): \(value)") }
    }
    add("id", id?.description)
    add("revision", revision.map(String.init))
    for field in NoteField.allCases {
      add(field.rawValue, values[field].map(Self.word))
      add("server-\(field.rawValue)", held[field].map(Self.word))
    }
    add("number", number.map(String.init))
    add("created", created.map(RFC3339.text))
    add("updated", updated.map(RFC3339.text))
    lines.append("---")
    let front = lines.joined(separator: "\n") + "\n"
    return Array(front.utf8) + Array(text.utf8) + [UInt8(ascii: "\n")]
  }

  private static func word(_ value: NoteValue) -> String {
    switch value {
    case .word(let word): quoted(word)
    case .flag(let flag): flag ? "true" : "false"
    case .number(let number): text(of: number)
    case .words(let words): "[\(words.map(quoted).joined(separator: ", "))]"
    }
  }

  /// Returns the shortest digits that parse as the number; integers without a point.
  static func text(of number: Double) -> String {
    if let whole = Int64(exactly: number), abs(whole) < 1 << 53 { return String(whole) }
    return "\(number)"
  }

  /// Quotes a word unless every YAML parser reads it as a plain string.
  private static func quoted(_ word: String) -> String {
    let isPlain = word.utf8.enumerated().allSatisfy { index, byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), 0xC3...0xFF: true
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), 0x80..<0xC0: index > 0
      default: false
      }
    }
    let isSpecial = ["true", "false", "null", "yes", "no", "on", "off", "y", "n", ""].contains(word.lowercased())
    return isPlain && !isSpecial ? word : JSON.string(word).text
  }
}
