/// A regular expression whose work grows with the text's length and never explodes: the pattern becomes a small
/// program, and all ways through it are followed at once (Thompson's construction). Nothing is tried again, so there is
/// neither backtracking nor a pattern that it would be unsafe to take from a stranger.
///
/// Patterns and texts are compared by Unicode scalars. What a pattern may hold:
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
/// | `(…)`, `(?:…)` | a group; what it matched is not kept |
/// | `x\|y` | either |
/// | `x*`, `x+`, `x?`, `x{2}`, `x{2,}`, `x{2,5}` | repetitions; a `?` behind them is allowed and changes no answer |
///
/// Back references, looking ahead or behind, possessive and atomic forms, flags such as `(?i)`, names for groups and
/// whatever else is not in the table are refused with the place and the reason.
///
/// With options, pattern and text are folded as everywhere else (``Swift/String/folded(_:)``) and then composed, so
/// that a Korean syllable stays one scalar. A class or category holds the folded form of each of its members: with
/// `[c]`, `[A-Z]` and `\p{Lu}` match `a`, and `[^a]` does not match `A`. A member that folds to more than one scalar
/// (`İ`) is not found by a class, only by itself.
public struct RegularExpression: Sendable {
  /// The longest pattern, in bytes of UTF-8.
  public static let maximumPatternBytes = 1_000
  /// How deep groups may be nested.
  public static let maximumDepth = 100
  /// How many instructions a pattern may become: about one for each scalar or class, times its repetitions. The work
  /// for each scalar of a text is bounded by it.
  public static let maximumProgramSize = 10_000

  /// As it was written.
  public let pattern: String
  /// Which differences do not count.
  public let options: StringOptions
  let machines: Machines
  /// What it has become: the work of a scalar is bounded by it.
  var instructionCount: Int { machines.whole.program.instructions.count }

  /// - Throws: What is wrong with the pattern, and where.
  public init(parsing pattern: String, options: StringOptions = []) throws(RegularExpressionError) {
    try self.init(parsing: pattern, options: options, mapBudget: RegularExpressionAutomaton.budget)
  }

  /// - Parameter mapBudget: How much work the automatons' maps may take; with 0 every text is simulated.
  init(parsing pattern: String, options: StringOptions, mapBudget: Int) throws(RegularExpressionError) {
    self.pattern = pattern
    self.options = options
    var parser = RegularExpressionParser(pattern, options: options)
    let program = RegularExpressionProgram(try parser.parse(), folds: options.contains(.caseInsensitive))
    machines = Machines(
      whole: RegularExpressionAutomaton(program, isAnywhere: false, budget: mapBudget),
      anywhere: RegularExpressionAutomaton(program, isAnywhere: true, budget: mapBudget))
  }

  /// Whether the pattern matches all of the text, as `MATCHES` asks.
  public func matchesWhole(_ text: String) -> Bool {
    var steps = 0
    return machines.whole.matches(prepared(text), steps: &steps)
  }

  /// Whether the pattern matches some part of the text.
  public func matchesAnywhere(_ text: String) -> Bool {
    var steps = 0
    return machines.anywhere.matches(prepared(text), steps: &steps)
  }

  /// ASCII is not folded here: the automaton takes its capitals for small letters itself.
  func prepared(_ text: String) -> String {
    options.isEmpty || text.utf8.allSatisfy { $0 < 0x80 } ? text : text.foldedForPatterns(options)
  }

  /// Shared by all copies of the expression.
  final class Machines: Sendable {
    let whole: RegularExpressionAutomaton
    let anywhere: RegularExpressionAutomaton

    init(whole: RegularExpressionAutomaton, anywhere: RegularExpressionAutomaton) {
      self.whole = whole
      self.anywhere = anywhere
    }
  }
}

extension RegularExpression: Hashable {
  /// Two patterns of the same bytes, under the same options.
  public static func == (left: RegularExpression, right: RegularExpression) -> Bool {
    left.options == right.options && Bytes.equal(left.pattern, right.pattern)
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(options)
    for byte in pattern.utf8 { hasher.combine(byte) }
  }
}

extension RegularExpression {
  /// What every text begins with that the whole of a pattern matches, as far as it is plain letters; empty where nothing tells.
  static func literalBeginning(of pattern: String) -> String {
    // Sides of an alternative begin differently. A mark behind it makes one character of the two, and no letter of it.
    guard !pattern.unicodeScalars.contains("|") else { return "" }
    var plain = String.UnicodeScalarView()
    for scalar in pattern.unicodeScalars {
      switch scalar {
      case "*", "?", "{":
        // It speaks of the letter before it, which need not be there.
        _ = plain.popLast()
        return String(plain)
      case ".", "[", "]", "(", ")", "\\", "^", "$", "+", "}": return String(plain)
      default: plain.append(scalar)
      }
    }
    return String(plain)
  }
}
