/// The mapping of enumeration cases for an older version of a model with fewer cases. That version shows one of its own
/// cases in place of unknown cases. Predicates and orders apply to the shown names.
public struct EnumerationFallback: Hashable, Sendable {
  /// The name shown for an unknown one; nil for null.
  public var fallback: String?
  /// The known names.
  public var names: [String]
  /// Whether `fallback` is also shown for null.
  public var replacesNull: Bool

  /// The most mappings that a sort key can have, one for each version step.
  public static let maximumDepth = 100

  /// Creates a mapping.
  public init(_ fallback: String?, names: [String], replacesNull: Bool = false) {
    self.fallback = fallback
    self.names = names
    self.replacesNull = replacesNull
  }

  /// The shown name of an expression's value.
  /// - Parameter guardingNull: limits the name for null to objects that exist.
  func expression(
    of inner: GraphExpression, guardingNull: (GraphExpression) -> GraphExpression = { $0 }
  ) -> GraphExpression {
    let other = GraphExpression.value(fallback.map(Value.string).orNull)
    let shown = GraphExpression.function(.oneOf, [inner, other] + names.map { .value(.string($0)) })
    return replacesNull && fallback != nil ? .function(.ifNull, [shown, guardingNull(other)]) : shown
  }

  /// Whether equality with this name gives the same result for stored and for shown values.
  /// - Parameter known: the names of this mapping.
  func isEqual(shown text: String, known: Set<ByteKey>) -> Bool {
    fallback.map { UTF8Comparison.equal($0, text) } != true && known.contains(ByteKey(text))
  }

  /// Whether another mapping shows the same with and without this one before it: this one knows all its names, and
  /// those that this one replaces are unknown to it too. A model whose cases grew in each version has one mapping then,
  /// and not one for each version.
  /// - Parameters:
  ///   - known: the names of this mapping.
  ///   - next: the case that the other mapping shows for an unknown name.
  ///   - names: the names that the other mapping knows.
  func isOmitted(known: Set<ByteKey>, before next: String?, names: some Sequence<String>) -> Bool {
    guard !replacesNull, names.allSatisfy({ known.contains(ByteKey($0)) }) else { return false }
    guard let fallback else { return next == nil }
    if let next, UTF8Comparison.equal(next, fallback) { return true }
    return !names.contains { UTF8Comparison.equal($0, fallback) }
  }

  // MARK: - In an order's text

  /// `open?open|done`, `!open?open|done`.
  var text: String { (replacesNull ? "!" : "") + (fallback ?? "") + "?" + names.joined(separator: "|") }

  init?(parsing text: some StringProtocol) {
    let parts = String(text.drop { $0 == "!" }).split(separator: "?", omittingEmptySubsequences: false)
    guard parts.count == 2 else { return nil }
    let names = parts[1].split(separator: "|", omittingEmptySubsequences: false).map(String.init)
    guard names.count <= GraphFunction.maximumNames,
      (names + (parts[0].isEmpty ? [] : [String(parts[0])])).allSatisfy(Self.isName)
    else { return nil }
    self.init(parts[0].isEmpty ? nil : String(parts[0]), names: names, replacesNull: text.hasPrefix("!"))
  }

  private static func isName(_ text: String) -> Bool {
    !text.isEmpty
      && text.utf8.allSatisfy { byte in
        byte == UInt8(ascii: "_") || (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20)
      }
  }
}
