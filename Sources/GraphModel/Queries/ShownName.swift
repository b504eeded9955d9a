/// What is shown of a name that not everybody knows: an older version of a model has fewer cases of an enumeration, and
/// shows one of its own for the rest. Conditions and orders are put to what is shown.
public struct ShownName: Hashable, Sendable {
  /// What stands for an unknown name, nil for null.
  public var otherwise: String?
  /// The names that are known.
  public var names: [String]
  /// Whether it stands for null, too.
  public var standsForNull: Bool

  /// So many may lie upon each other in a key of an order: one for each version between two.
  public static let maximumDepth = 100

  /// What is shown.
  public init(_ otherwise: String?, names: [String], standsForNull: Bool = false) {
    self.otherwise = otherwise
    self.names = names
    self.standsForNull = standsForNull
  }

  /// What is shown of an expression's value.
  /// - Parameter there: the name that stands for null, where there is something that can have one.
  func expression(
    of inner: GraphExpression, there: (GraphExpression) -> GraphExpression = { $0 }
  ) -> GraphExpression {
    let other = GraphExpression.value(otherwise.map(Value.string) ?? .null)
    let shown = GraphExpression.function(.oneOf, [inner, other] + names.map { .value(.string($0)) })
    return standsForNull && otherwise != nil ? .function(.ifNull, [shown, there(other)]) : shown
  }

  /// Whether equality with this says the same of what is stored as of what is shown.
  func isEqual(shown text: String) -> Bool {
    !(otherwise.map { Bytes.equal($0, text) } ?? false) && names.contains { Bytes.equal($0, text) }
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
