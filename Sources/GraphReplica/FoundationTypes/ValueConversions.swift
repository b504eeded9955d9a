// Tests: FoundationTypesTests.swift
import GraphModel

// The values of properties as Swift's own types, like `Date(value)` and the others of AttributeRepresentation: both
// sides of a conflict, the value of a violation, a property that is read by its number or name.

extension Bool {
  /// The value of a `bool`; nil for null, and for a value of another kind.
  public init?(_ value: Value) {
    guard case .bool(let plain) = value else { return nil }
    self = plain
  }
}

extension Int {
  /// The value of an `integer`; nil for null, for a value of another kind, and for one that is too large for this
  /// machine.
  public init?(_ value: Value) {
    guard case .integer(let plain) = value else { return nil }
    self.init(exactly: plain)
  }
}

extension Double {
  /// The value of a `double`; nil for null, and for a value of another kind.
  public init?(_ value: Value) {
    guard case .double(let plain) = value else { return nil }
    self = plain
  }
}

extension String {
  /// The value of a `string`, `text`, `json` or `uri`, or the name of an enumeration's case; nil for null, and for a
  /// value of another kind. `value.text` shows values of all kinds.
  public init?(_ value: Value) {
    guard case .string(let plain) = value else { return nil }
    self = plain
  }
}

extension ObjectID {
  /// The object of a to-one relationship; nil for null, and for a value of another kind.
  public init?(_ value: Value) {
    guard case .object(let id) = value else { return nil }
    self = id
  }
}

extension EnumeratedValue {
  /// The case of an enumeration; nil for null, for a value of another kind, and for a case that only a newer model
  /// has.
  public init?(_ value: Value) {
    guard let plain = Self.constant(value) else { return nil }
    self = plain
  }
}
