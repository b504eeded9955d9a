/// A bash command line up to the cursor, parsed as bash does. It has the words, and the quoting of the text that
/// readline replaces.
///
/// Bash inserts a candidate literally, so it must be quoted for its place. This program does that instead of the
/// shell script: it knows where readline's replacement begins, and parses the line up to there by bash's rules. A
/// line that readline and bash parse differently (readline does not know `$'…'`) is not completed, because the
/// insertion would have the wrong quoting.
struct BashLine {
  /// The quoting in which bash reads characters: none, `'…'`, `"…"` or `$'…'`.
  enum Quoting { case none, single, double, escapes }

  /// The words after the command's name; the last one is to be completed and may be empty.
  let words: [String]
  /// The part of the last word before the replaced text.
  let kept: String
  /// The quoting at the beginning and the end of the replaced text.
  let quoting: Quoting

  /// Parses a line.
  /// - Parameters:
  ///   - line: the simple command up to the cursor, as in `COMP_LINE`.
  ///   - replaced: the end of the line that readline replaces, as in a completion function's `$2`.
  /// - Returns: nil for a line whose end can't be quoted reliably.
  init?(_ line: String, replacing replaced: String) {
    let scalars = Array(line.unicodeScalars)
    let end = Array(replaced.unicodeScalars)
    guard scalars.suffix(end.count) == end[...] else { return nil }
    var reader = BashReader(scalars, start: scalars.count - end.count)
    guard reader.read(), let start = reader.atStart, start.quoting == reader.quoting,
      start.wordCount == reader.words.count, reader.quoting.mark == Self.openMark(scalars)
    else { return nil }
    words = Array((reader.words + [reader.word]).dropFirst())
    guard !words.isEmpty else { return nil }
    (kept, quoting) = (start.kept, start.quoting)
  }

  /// The quotation mark that readline considers open at the end. Readline closes the mark itself after a single
  /// candidate.
  private static func openMark(_ scalars: [Unicode.Scalar]) -> Unicode.Scalar? {
    var open: Unicode.Scalar?
    var isQuoted = false
    for scalar in scalars {
      if isQuoted {
        isQuoted = false
      } else if scalar == "\\", open != "'" {
        isQuoted = true
      } else if scalar == open {
        open = nil
      } else if open == nil, scalar == "'" || scalar == "\"" {
        open = scalar
      }
    }
    return open
  }

  /// The replacement that changes the last word to `word`; nil if `word` does not begin with the kept part.
  func replacement(for word: String) -> String? {
    guard word.utf8.starts(with: kept.utf8) else { return nil }
    let rest = String(decoding: word.utf8.dropFirst(kept.utf8.count), as: UTF8.self)
    var text = quoting.quoted(rest)
    guard let mark = quoting.mark.map(String.init) else { return text }
    // Readline takes a mark at the end for the closing one and adds none, and one at the beginning for the opening
    // one, which it then replaces.
    if text.isEmpty || text.hasSuffix(mark) { text += mark }
    if text.hasPrefix(mark) { text = mark + text }
    return text
  }
}

extension BashLine.Quoting {
  /// The quotation mark that ends this quoting.
  fileprivate var mark: Unicode.Scalar? {
    switch self {
    case .none: nil
    case .single, .escapes: "'"
    case .double: "\""
    }
  }

  /// Text that bash reads as `text` in this quoting, with history expansion (`!`) escaped.
  func quoted(_ text: String) -> String {
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch (self, scalar) {
      case (.none, _) where scalar.isASCII && !Self.bare.contains(scalar): result += "\\".unicodeScalars + [scalar]
      case (.single, "'"): result += "'\\''".unicodeScalars
      case (.double, "\\"), (.double, "\""), (.double, "$"), (.double, "`"): result += "\\".unicodeScalars + [scalar]
      // Between double quotes, a backslash prevents history expansion of `!` but stays in the text.
      case (.double, "!"): result += "\"'!'\"".unicodeScalars
      // In octal: readline, which takes `$'` for `'`, must not see a mark or a backslash.
      case (.escapes, "'"): result += "\\047".unicodeScalars
      case (.escapes, "\\"): result += "\\134".unicodeScalars
      case (.escapes, "!"): result += "\\041".unicodeScalars
      default: result.append(scalar)
      }
    }
    return String(result)
  }

  private static let bare = Set(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./:=@%+,".unicodeScalars)
}

/// Reads a line by bash's quoting rules, scalar by scalar.
private struct BashReader {
  private(set) var words = [String]()
  /// The part of the current word that was read; empty between words.
  private(set) var word = ""
  /// Whether a word has begun, which quotes may make an empty one.
  private var hasWord = false
  private(set) var quoting = BashLine.Quoting.none
  /// The state at the beginning of the replaced text; nil if that is inside an escape or a substitution.
  private(set) var atStart: (kept: String, quoting: BashLine.Quoting, wordCount: Int)?

  private let scalars: [Unicode.Scalar]
  private let start: Int
  private var index = 0
  /// Whether the next word is the file of a redirection, which is not an argument.
  private var isRedirection = false

  init(_ scalars: [Unicode.Scalar], start: Int) { (self.scalars, self.start) = (scalars, start) }

  /// Reads the line.
  /// - Returns: false if it can't be parsed reliably: a further command, an open substitution.
  mutating func read() -> Bool {
    while true {
      if index == start { atStart = (word, quoting, words.count) }
      guard index < scalars.count else { return !isRedirection }
      let isRead =
        switch quoting {
        case .none: readBare()
        case .single: readSingle()
        case .double: readDouble()
        case .escapes: readEscapes()
        }
      guard isRead else { return false }
    }
  }

  private var next: Unicode.Scalar? { index + 1 < scalars.count ? scalars[index + 1] : nil }

  private mutating func append(_ scalar: Unicode.Scalar) {
    hasWord = true
    word.unicodeScalars.append(scalar)
  }

  private mutating func open(_ quoting: BashLine.Quoting, _ length: Int) -> Bool {
    (self.quoting, hasWord) = (quoting, true)
    index += length
    return true
  }

  private mutating func endWord() {
    if hasWord, !isRedirection { words.append(word) }
    if hasWord { isRedirection = false }
    (word, hasWord) = ("", false)
  }

  private mutating func readBare() -> Bool {
    let scalar = scalars[index]
    switch scalar {
    case " ", "\t": endWord()
    case "\\":
      hasWord = true
      if let next, next != "\n" { append(next) }
      index += 1
    case "'": return open(.single, 1)
    case "\"": return open(.double, 1)
    case "$" where next == "'": return open(.escapes, 2)
    case "$" where next == "\"": return open(.double, 2)
    case "<" where next == "(", ">" where next == "(": return false
    case "<", ">":
      // The number of `2>` precedes it.
      if word.utf8.allSatisfy({ (0x30...0x39).contains($0) }) { (word, hasWord) = ("", false) }
      endWord()
      isRedirection = true
    case ";", "&", "|", "(", ")", "\n": return false
    default: return readSubstitution()
    }
    index += 1
    return true
  }

  private mutating func readSingle() -> Bool {
    if scalars[index] == "'" { quoting = .none } else { append(scalars[index]) }
    index += 1
    return true
  }

  private mutating func readDouble() -> Bool {
    switch scalars[index] {
    case "\"": quoting = .none
    case "\\":
      guard let next else { break }
      if ["$", "`", "\"", "\\"].contains(next) {
        append(next)
        index += 1
      } else if next == "\n" {
        index += 1
      } else {
        append("\\")
      }
    default: return readSubstitution()
    }
    index += 1
    return true
  }

  private mutating func readEscapes() -> Bool {
    switch scalars[index] {
    case "'": quoting = .none
    case "\\":
      guard let next else { break }
      if "\\'\"?".unicodeScalars.contains(next) {
        append(next)
        index += 1
        break
      }
      let digits = scalars[(index + 1)...].prefix(3).prefix { ("0"..."7").contains($0) }
      // This program writes no other escapes.
      guard let value = UInt8(String(String.UnicodeScalarView(digits)), radix: 8), value < 0x80 else { return false }
      append(Unicode.Scalar(value))
      index += digits.count
    default: append(scalars[index])
    }
    index += 1
    return true
  }

  /// Copies `$(…)`, `${…}` and a pair of backquotes literally; other characters stand for themselves.
  private mutating func readSubstitution() -> Bool {
    guard let last = endOfSubstitution(at: index) else { return false }
    while index <= last {
      append(scalars[index])
      index += 1
    }
    return true
  }

  /// The index of a substitution's last character, `place` itself if none begins there; nil for an open one.
  private func endOfSubstitution(at place: Int) -> Int? {
    let (first, second) = (scalars[place], place + 1 < scalars.count ? scalars[place + 1] : nil)
    if first == "`" {
      var place = place + 1
      while place < scalars.count, scalars[place] != "`" { place += scalars[place] == "\\" ? 2 : 1 }
      return place < scalars.count ? place : nil
    }
    guard first == "$", second == "(" || second == "{" else { return place }
    var depth = 0
    var mark: Unicode.Scalar?
    var place = place + 1
    while place < scalars.count {
      let scalar = scalars[place]
      switch scalar {
      case "\\" where mark != "'": place += 1
      case "'", "\"": mark = mark == nil ? scalar : mark == scalar ? nil : mark
      case "(", "{": depth += mark == nil ? 1 : 0
      case ")", "}": depth -= mark == nil ? 1 : 0
      default: break
      }
      if depth == 0 { return place }
      place += 1
    }
    return nil
  }
}
