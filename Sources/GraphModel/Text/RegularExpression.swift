/// A regular expression that matches in time linear in the text. The pattern is compiled into a small program, whose
/// paths are all followed at once (Thompson's construction). There is no backtracking, so patterns from untrusted
/// clients are safe.
///
/// Patterns and texts are compared by Unicode scalars. The syntax:
///
/// | form | matches |
/// | --- | --- |
/// | `a`, `ä`, `]`, `}` | itself |
/// | `.` | any scalar but the ends of lines (U+000A to U+000D, U+0085, U+2028, U+2029) |
/// | `[abc]`, `[a-z]`, `[^a-z]` | one of them, or one that is none of them; `-` stands for itself at either end |
/// | `\d`, `\w`, `\s` | a decimal digit; a letter, mark, digit or connector such as `_`; white space |
/// | `\D`, `\W`, `\S` | anything else |
/// | `\p{Lu}`, `\P{Lu}` | a scalar of a general category (`L`, `Lu`, `Nd`, `P`, `Sc` …), or of any other |
/// | `\t`, `\n`, `\r`, `\f`, `\v`, `\u{1F600}`, `\u00E4` | that scalar |
/// | `\.`, `\\`, `\[` … | the punctuation mark or space itself |
/// | `^`, `$` | the beginning and the end of the text, not of a line |
/// | `\b`, `\B` | where a word begins or ends; anywhere else |
/// | `(…)`, `(?:…)` | a group without capture |
/// | `x\|y` | either |
/// | `x*`, `x+`, `x?`, `x{2}`, `x{2,}`, `x{2,5}` | repetitions; a `?` after them is allowed and has no effect |
///
/// Back references, lookahead and lookbehind, possessive and atomic forms, flags such as `(?i)`, named groups, and
/// all other syntax outside the table are refused with the position and the reason.
///
/// With options, pattern and text are folded as elsewhere (`String.folded(_:)`) and then composed, so that a
/// Korean syllable stays one scalar. A class or category contains the folded form of each of its members: with `[c]`,
/// `[A-Z]` and `\p{Lu}` match `a`, and `[^a]` does not match `A`. A scalar that folds to several (`İ`) is matched
/// only by itself, not by a class.
public struct RegularExpression: Sendable {
  /// The longest pattern, in bytes of UTF-8.
  public static let maximumPatternBytes = 1_000
  /// The maximum nesting depth of groups.
  public static let maximumDepth = 100
  /// The most instructions in a compiled pattern: about one for each scalar or class, times its repetitions. It
  /// bounds the work per scalar of a text.
  public static let maximumProgramSize = 10_000

  /// The pattern as it was written.
  public let pattern: String
  /// The ignored differences.
  public let options: StringOptions
  let machines: Automata

  /// - Throws: `RegularExpressionError`, with the position and the reason.
  public init(parsing pattern: String, options: StringOptions = []) throws(RegularExpressionError) {
    try self.init(parsing: pattern, options: options, mapBudget: RegularExpressionAutomaton.budget)
  }

  /// The expression for a pattern of a query; nil if the pattern is invalid or the work was cancelled, since preparing
  /// many patterns takes seconds.
  public static func prepare(_ pattern: String, options: StringOptions) -> RegularExpression? {
    Cancellation.poll() ? try? RegularExpression(parsing: pattern, options: options) : nil
  }

  /// The number of a pattern's instructions, which bounds the work per scalar. Much faster than preparing the pattern
  /// for matching.
  static func instructionCount(of pattern: String) throws(RegularExpressionError) -> Int {
    var parser = RegularExpressionParser(pattern, options: [])
    return RegularExpressionProgram(try parser.parse(), folds: false).instructions.count
  }

  /// - Parameter mapBudget: the work that precomputing the automatons' tables may take; with 0 every text is
  ///   simulated.
  init(parsing pattern: String, options: StringOptions, mapBudget: Int) throws(RegularExpressionError) {
    self.pattern = pattern
    self.options = options
    var parser = RegularExpressionParser(pattern, options: options)
    let program = RegularExpressionProgram(try parser.parse(), folds: options.contains(.caseInsensitive))
    machines = Automata(
      whole: RegularExpressionAutomaton(program, isAnywhere: false, budget: mapBudget),
      anywhere: RegularExpressionAutomaton(program, isAnywhere: true, budget: mapBudget))
  }

  /// Whether the pattern matches the complete text, as `MATCHES` requires.
  public func matchesWhole(_ text: String) -> Bool {
    var steps = 0
    return machines.whole.matches(prepared(text), steps: &steps)
  }

  /// Whether the pattern matches a part of the text.
  public func matchesAnywhere(_ text: String) -> Bool {
    var steps = 0
    return machines.anywhere.matches(prepared(text), steps: &steps)
  }

  /// Folds the text, except ASCII, whose uppercase the automaton folds itself.
  func prepared(_ text: String) -> String {
    options.isEmpty || text.utf8.allSatisfy { $0 < 0x80 } ? text : text.foldedForPatterns(options)
  }

  /// The automatons, shared by all copies of the expression.
  final class Automata: Sendable {
    let whole: RegularExpressionAutomaton
    let anywhere: RegularExpressionAutomaton

    init(whole: RegularExpressionAutomaton, anywhere: RegularExpressionAutomaton) {
      self.whole = whole
      self.anywhere = anywhere
    }
  }
}

extension RegularExpression: Hashable {
  /// Compares the patterns' bytes and the options.
  public static func == (left: RegularExpression, right: RegularExpression) -> Bool {
    left.options == right.options && UTF8Comparison.equal(left.pattern, right.pattern)
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(options)
    for byte in pattern.utf8 { hasher.combine(byte) }
  }
}

extension RegularExpression {
  /// The literal prefix of all texts that match the complete pattern; empty if there is none.
  static func literalBeginning(of pattern: String) -> String {
    // Alternatives have different prefixes. Scalars are compared, because a mark after it would merge with the bar.
    guard !pattern.unicodeScalars.contains("|") else { return "" }
    var plain = String.UnicodeScalarView()
    for scalar in pattern.unicodeScalars {
      switch scalar {
      case "*", "?", "{":
        // The quantifier applies to the previous scalar, which may be absent.
        _ = plain.popLast()
        return String(plain)
      case ".", "[", "]", "(", ")", "\\", "^", "$", "+", "}": return String(plain)
      default: plain.append(scalar)
      }
    }
    return String(plain)
  }
}
