/// Splits the text form of a predicate into tokens.
struct PredicateLexer {
  enum Token: Equatable {
    /// A name or a keyword; paths are names with dots.
    case word(String)
    case string(String)
    case integer(Int64)
    case number(Double)
    /// An operator or a bracket.
    case symbol(String)
    case end
  }

  struct LocatedToken {
    let token: Token
    let column: Int
    /// The exact number, if a double can't represent its digits.
    var exact: ExactNumber?
  }

  /// A number whose digits a double does not preserve.
  enum ExactNumber: Equatable {
    case decimal(DecimalValue)
    /// More digits than a decimal has.
    case tooLong
  }

  private static let symbols = [
    "==", "!=", "<>", "<=", ">=", "=<", "=>", "&&", "||", "=", "<", ">", "!", "(", ")", "{", "}", ",",
    "+", "-", "*", "/",
  ]
  /// Alternative spellings, which Core Data's predicates also have.
  private static let synonyms = ["=<": "<=", "=>": ">="]
  /// Keywords that a value can follow, so that a minus after them belongs to a number.
  private static let keywords: Set<String> = [
    "AND", "OR", "NOT", "IN", "BETWEEN", "LIKE", "BEGINSWITH", "ENDSWITH", "CONTAINS", "MATCHES", "SEARCH", "ANY",
    "SOME", "ALL", "NONE",
  ]

  private let text: String
  /// Scalars instead of characters, because a combining mark must not merge with a quotation mark.
  private let characters: [Unicode.Scalar]
  private var index = 0
  private var tokens = [LocatedToken]()

  private init(_ text: String) {
    self.text = text
    characters = Array(text.unicodeScalars)
  }

  static func tokens(_ text: String) throws(PredicateSyntaxError) -> [LocatedToken] {
    var lexer = PredicateLexer(text)
    while lexer.index < lexer.characters.count { try lexer.readToken() }
    lexer.append(.end, at: lexer.characters.count)
    return lexer.tokens
  }

  private mutating func readToken() throws(PredicateSyntaxError) {
    let character = characters[index]
    if character.properties.isWhitespace {
      index += 1
    } else if character.properties.isAlphabetic || "_@$".unicodeScalars.contains(character)
      || character == "." && index + 1 < characters.count && characters[index + 1] == "@"
    {
      try readWord()
    } else if Self.isDigit(character) || character == "." || isSign {
      try readNumber()
    } else if character == "\"" || character == "'" {
      try readString()
    } else if let symbol = Self.symbols.first(where: { characters[index...].starts(with: $0.unicodeScalars) }) {
      readSymbol(symbol)
    } else {
      throw fail("'\(character)' has no meaning here", at: index)
    }
  }

  /// Reads a name or a keyword, and the options that directly follow an operator: `CONTAINS[cd]`.
  private mutating func readWord() throws(PredicateSyntaxError) {
    let start = index
    index += 1
    while index < characters.count, Self.isWordCharacter(characters[index]) { index += 1 }
    append(.word(string(start..<index)), at: start)
    if index < characters.count, characters[index] == "[" {
      let options = index
      while index < characters.count, characters[index] != "]" { index += 1 }
      guard index < characters.count else { throw fail("'[' is not closed", at: options) }
      index += 1
      append(.symbol(string(options..<index)), at: options)
    }
  }

  private mutating func readNumber() throws(PredicateSyntaxError) {
    let start = index
    index += 1
    while index < characters.count,
      Self.isDigit(characters[index]) || ".eE+-".unicodeScalars.contains(characters[index])
    {
      let previous = characters[index - 1]
      if "+-".unicodeScalars.contains(characters[index]), previous != "e", previous != "E" { break }
      index += 1
    }
    let literal = string(start..<index)
    if let whole = Int64(literal) {
      append(.integer(whole), at: start)
    } else if let number = Double(literal), number.isFinite {
      let decimal = DecimalValue(literal)
      let isDouble = decimal != nil && decimal == DecimalValue("\(number)")
      let exact = isDouble ? nil : decimal.map(ExactNumber.decimal) ?? .tooLong
      append(.number(number), at: start, exact: exact)
    } else {
      throw fail("'\(String(literal).excerpt)' is not a number", at: start)
    }
  }

  private mutating func readString() throws(PredicateSyntaxError) {
    let (start, quote) = (index, characters[index])
    var content = String.UnicodeScalarView()
    index += 1
    while index < characters.count, characters[index] != quote {
      if characters[index] == "\\" {
        index += 1
        guard index < characters.count else { break }
        switch characters[index] {
        case "n": content.append("\n")
        case "t": content.append("\t")
        case let other: content.append(other)
        }
      } else {
        content.append(characters[index])
      }
      index += 1
    }
    guard index < characters.count else { throw fail("this string is not closed", at: start) }
    index += 1
    append(.string(String(content)), at: start)
  }

  /// Reads an operator or a bracket, and the options of an operator: `==[cd]`.
  private mutating func readSymbol(_ symbol: String) {
    append(.symbol(Self.synonyms[symbol] ?? symbol), at: index)
    index += symbol.unicodeScalars.count
    if index < characters.count, characters[index] == "[", let close = characters[index...].firstIndex(of: "]") {
      append(.symbol(string(index..<(close + 1))), at: index)
      index = close + 1
    }
  }

  private mutating func append(_ token: Token, at place: Int, exact: ExactNumber? = nil) {
    tokens.append(LocatedToken(token: token, column: place + 1, exact: exact))
  }

  private func fail(_ reason: String, at place: Int) -> PredicateSyntaxError {
    PredicateSyntaxError(scalar: place + 1, reason: reason, text: text)
  }

  private func string(_ range: Range<Int>) -> String {
    String(String.UnicodeScalarView(characters[range]))
  }

  /// Whether a minus begins a number; after a value it is an operator.
  private var isSign: Bool {
    guard characters[index] == "-", index + 1 < characters.count,
      Self.isDigit(characters[index + 1]) || characters[index + 1] == "."
    else { return false }
    switch tokens.last?.token {
    case .string, .integer, .number, .symbol(")"), .symbol("}"): return false
    case .word(let word): return Self.keywords.contains(word.uppercased())
    default: return true
    }
  }

  private static func isDigit(_ scalar: Unicode.Scalar) -> Bool { (0x30...0x39).contains(scalar.value) }

  private static func isWordCharacter(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.isAlphabetic || isDigit(scalar) || scalar == "_" || scalar == "." || scalar == "@"
  }
}
