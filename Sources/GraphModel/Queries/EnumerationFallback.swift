/// The mapping of enumeration cases for an older version of a model with fewer cases. That version shows one of its
/// own cases for unknown ones. Predicates and orders apply to the shown names.
public struct EnumerationFallback: Hashable, Sendable {
  /// The name shown for an unknown one; nil for null.
  public var otherwise: String?
  /// The known names.
  public var names: [String]
  /// Whether `otherwise` is also shown for null.
  public var standsForNull: Bool

  /// The most mappings that a sort key can have, one for each version step.
  public static let maximumDepth = 100

  /// Creates a mapping.
  public init(_ otherwise: String?, names: [String], standsForNull: Bool = false) {
    self.otherwise = otherwise
    self.names = names
    self.standsForNull = standsForNull
  }

  /// The shown name of an expression's value.
  /// - Parameter there: limits the name for null to objects that exist.
  func expression(
    of inner: GraphExpression, there: (GraphExpression) -> GraphExpression = { $0 }
  ) -> GraphExpression {
    let other = GraphExpression.value(otherwise.map(Value.string) ?? .null)
    let shown = GraphExpression.function(.oneOf, [inner, other] + names.map { .value(.string($0)) })
    return standsForNull && otherwise != nil ? .function(.ifNull, [shown, there(other)]) : shown
  }

  /// Whether equality with this name gives the same result for stored and for shown values.
  func isEqual(shown text: String) -> Bool {
    !(otherwise.map { UTF8Comparison.equal($0, text) } ?? false) && names.contains { UTF8Comparison.equal($0, text) }
  }

  // MARK: - In an order's text

  /// `open?open|done`, `!open?open|done`.
  var text: String { (standsForNull ? "!" : "") + (otherwise ?? "") + "?" + names.joined(separator: "|") }

  init?(parsing text: some StringProtocol) {
    let parts = String(text.drop { $0 == "!" }).split(separator: "?", omittingEmptySubsequences: false)
    guard parts.count == 2 else { return nil }
    let names = parts[1].split(separator: "|", omittingEmptySubsequences: false).map(String.init)
    guard names.count <= GraphFunction.maximumNames,
      (names + (parts[0].isEmpty ? [] : [String(parts[0])])).allSatisfy(Self.isName)
    else { return nil }
    self.init(parts[0].isEmpty ? nil : String(parts[0]), names: names, standsForNull: text.hasPrefix("!"))
  }

  private static func isName(_ text: String) -> Bool {
    !text.isEmpty
      && text.utf8.allSatisfy { byte in
        byte == UInt8(ascii: "_") || (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20)
      }
  }
}
