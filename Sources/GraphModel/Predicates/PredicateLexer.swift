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

  static func tokens(_ text: String) throws(PredicateSyntaxError) -> [LocatedToken] {
    // Scalars instead of characters, because a combining mark must not merge with a quotation mark.
    let characters = Array(text.unicodeScalars)
    var tokens = [LocatedToken]()
    var index = 0
    func fail(_ reason: String, _ at: Int) -> PredicateSyntaxError {
      PredicateSyntaxError(scalar: at + 1, reason: reason, text: text)
    }
    while index < characters.count {
      let start = index
      let character = characters[index]
      if character.properties.isWhitespace {
        index += 1
      } else if character.properties.isAlphabetic || "_@$".unicodeScalars.contains(character)
        || character == "." && index + 1 < characters.count && characters[index + 1] == "@"
      {
        index += 1
        while index < characters.count, isWordCharacter(characters[index]) { index += 1 }
        tokens.append(LocatedToken(token: .word(string(characters[start..<index])), column: start + 1))
        // Options directly follow the operator: CONTAINS[cd].
        if index < characters.count, characters[index] == "[" {
          let optionsStart = index
          while index < characters.count, characters[index] != "]" { index += 1 }
          guard index < characters.count else { throw fail("'[' is not closed", optionsStart) }
          index += 1
          tokens.append(
            LocatedToken(token: .symbol(string(characters[optionsStart..<index])), column: optionsStart + 1))
        }
      } else if isDigit(character) || character == "." || isSign(index, characters, tokens.last?.token) {
        index += 1
        while index < characters.count, isDigit(characters[index]) || ".eE+-".unicodeScalars.contains(characters[index])
        {
          let previous = characters[index - 1]
          if "+-".unicodeScalars.contains(characters[index]), previous != "e", previous != "E" { break }
          index += 1
        }
        let literal = string(characters[start..<index])
        if let whole = Int64(literal) {
          tokens.append(LocatedToken(token: .integer(whole), column: start + 1))
        } else if let number = Double(literal), number.isFinite {
          let decimal = DecimalValue(literal)
          let isDouble = decimal != nil && decimal == DecimalValue("\(number)")
          let exact = isDouble ? nil : decimal.map(ExactNumber.decimal) ?? .tooLong
          tokens.append(LocatedToken(token: .number(number), column: start + 1, exact: exact))
        } else {
          throw fail("'\(String(literal).excerpt)' is not a number", start)
        }
      } else if character == "\"" || character == "'" {
        var content = String.UnicodeScalarView()
        index += 1
        while index < characters.count, characters[index] != character {
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
        guard index < characters.count else { throw fail("this string is not closed", start) }
        index += 1
        tokens.append(LocatedToken(token: .string(String(content)), column: start + 1))
      } else if let symbol = symbols.first(where: { characters[index...].starts(with: $0.unicodeScalars) }) {
        index += symbol.unicodeScalars.count
        tokens.append(LocatedToken(token: .symbol(synonyms[symbol] ?? symbol), column: start + 1))
        // ==[cd]
        if index < characters.count, characters[index] == "[", let close = characters[index...].firstIndex(of: "]") {
          tokens.append(LocatedToken(token: .symbol(string(characters[index...close])), column: index + 1))
          index = close + 1
        }
      } else {
        throw fail("'\(character)' has no meaning here", start)
      }
    }
    tokens.append(LocatedToken(token: .end, column: characters.count + 1))
    return tokens
  }

  private static func string(_ scalars: ArraySlice<Unicode.Scalar>) -> String {
    String(String.UnicodeScalarView(scalars))
  }

  /// Whether a minus begins a number; after a value it is an operator.
  private static func isSign(_ index: Int, _ characters: [Unicode.Scalar], _ previous: Token?) -> Bool {
    guard characters[index] == "-", index + 1 < characters.count,
      isDigit(characters[index + 1]) || characters[index + 1] == "."
    else { return false }
    switch previous {
    case .string, .integer, .number, .symbol(")"), .symbol("}"): return false
    case .word(let word): return keywords.contains(word.uppercased())
    default: return true
    }
  }

  private static func isDigit(_ scalar: Unicode.Scalar) -> Bool { (0x30...0x39).contains(scalar.value) }

  private static func isWordCharacter(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.isAlphabetic || isDigit(scalar) || scalar == "_" || scalar == "." || scalar == "@"
  }
}
