// Tests: TypedPredicateTests.swift
import GraphModel

/// The type of the values of a typed path or expression. It is one of Swift's own where it fits, otherwise a type of
/// this module, so that a date is not a number.
public protocol PropertyKind {
  /// The type of constants in a program.
  associatedtype Constant
  /// The kind that it can be compared with: all kinds of text are alike.
  associatedtype ComparableKind: PropertyKind
  /// The constant as predicates hold it.
  static func value(_ plain: Constant) -> Value
  /// The constant that a value of this kind holds; nil for null, and for a value of another kind.
  static func constant(_ value: Value) -> Constant?
  /// The type of the values of a column of typed rows: `Date` for dates, for all others the type of constants.
  associatedtype ColumnValue = Constant
  /// The column's value; nil for null, and for a value of another kind.
  static func columnValue(_ value: Value) -> ColumnValue?
}

extension PropertyKind where ColumnValue == Constant {
  /// The constant.
  public static func columnValue(_ value: Value) -> Constant? { constant(value) }
}

/// Kinds with a meaningful order.
public protocol OrderedKind: PropertyKind where ComparableKind: OrderedKind {}

/// Kinds that can be used in calculations.
public protocol NumberKind: OrderedKind {
  /// The kind of an average of such values.
  associatedtype Average: NumberKind
  /// The behavior of the arithmetic operators for them.
  static var arithmetic: ArithmeticKind { get }
}

/// Kinds of text.
public protocol TextKind: PropertyKind where Constant == String, ComparableKind == String {}

/// Attributes of the types `string` and `uri`, and results of functions over texts.
extension String: TextKind, OrderedKind {
  public typealias ComparableKind = String
  public static func value(_ plain: String) -> Value { .string(plain) }
  public static func constant(_ value: Value) -> String? { value.stringValue }
}

/// Attributes of the types `string` and `text` that the model marks `fullText`.
public enum FullText: TextKind, OrderedKind {
  public typealias Constant = String
  public typealias ComparableKind = String
  public static func value(_ plain: String) -> Value { .string(plain) }
  public static func constant(_ value: Value) -> String? { value.stringValue }
}

/// Attributes of the type `json`: text without an order.
public enum JSONText: TextKind {
  public typealias Constant = String
  public typealias ComparableKind = String
  public static func value(_ plain: String) -> Value { .string(plain) }
  public static func constant(_ value: Value) -> String? { value.stringValue }
}

/// Attributes of the type `enumeration`. graph-generate makes such a type of each enumeration of the model.
public protocol EnumeratedValue: OrderedKind, RawRepresentable, Codable
where RawValue == String, Constant == Self, ComparableKind == Self {}

extension EnumeratedValue {
  /// The name of the case.
  public static func value(_ plain: Self) -> Value { .string(plain.rawValue) }

  /// The case of a name; nil for a case that only a newer model has.
  public static func constant(_ value: Value) -> Self? { value.stringValue.flatMap { Self(rawValue: $0) } }
}

extension Bool: PropertyKind {
  public typealias ComparableKind = Bool
  public static func value(_ plain: Bool) -> Value { .bool(plain) }
  public static func constant(_ value: Value) -> Bool? {
    if case .bool(let plain) = value { plain } else { nil }
  }
}

extension Int64: NumberKind {
  public typealias ComparableKind = Int64
  public typealias Average = Double
  public static var arithmetic: ArithmeticKind { .integer }
  public static func value(_ plain: Int64) -> Value { .integer(plain) }
  public static func constant(_ value: Value) -> Int64? {
    if case .integer(let plain) = value { plain } else { nil }
  }
}

extension Double: NumberKind {
  public typealias ComparableKind = Double
  public typealias Average = Double
  public static var arithmetic: ArithmeticKind { .double }
  public static func value(_ plain: Double) -> Value { .double(plain) }
  public static func constant(_ value: Value) -> Double? {
    if case .double(let plain) = value { plain } else { nil }
  }
}

extension DecimalValue: NumberKind {
  public typealias ComparableKind = DecimalValue
  public typealias Average = DecimalValue
  public static var arithmetic: ArithmeticKind { .decimal }
  public static func value(_ plain: DecimalValue) -> Value { .decimal(plain) }
  public static func constant(_ value: Value) -> DecimalValue? {
    if case .decimal(let plain) = value { plain } else { nil }
  }
}

extension UniqueID: OrderedKind {
  public typealias ComparableKind = UniqueID
  public static func value(_ plain: UniqueID) -> Value { .uuid(plain) }
  public static func constant(_ value: Value) -> UniqueID? {
    if case .uuid(let plain) = value { plain } else { nil }
  }
}

/// Attributes of the type `data`.
extension [UInt8]: PropertyKind, OrderedKind {
  public typealias Constant = [UInt8]
  public typealias ComparableKind = [UInt8]
  public static func value(_ plain: [UInt8]) -> Value { .data(plain) }
  public static func constant(_ value: Value) -> [UInt8]? {
    if case .data(let plain) = value { plain } else { nil }
  }
}

/// Object ids.
extension ObjectID: PropertyKind {
  public typealias ComparableKind = ObjectID
  public static func value(_ plain: ObjectID) -> Value { .object(plain) }
  public static func constant(_ value: Value) -> ObjectID? {
    if case .object(let plain) = value { plain } else { nil }
  }
}

/// Attributes of the type `date`: microseconds since 1970.
public enum DateTime: OrderedKind {
  public typealias Constant = Timestamp
  public typealias ComparableKind = DateTime
  public static func value(_ plain: Timestamp) -> Value { .date(plain) }
  public static func constant(_ value: Value) -> Timestamp? {
    if case .date(let plain) = value { plain } else { nil }
  }
}

/// A span of time, for calculations with dates: `.days(7)`.
public struct TimeSpan: Hashable, Comparable, Sendable {
  /// Its length; negative to look ahead.
  public let microseconds: Int64

  /// A span of `count` microseconds.
  public static func microseconds(_ count: Int64) -> TimeSpan { TimeSpan(count: count, .microseconds) }
  /// A span of `count` seconds.
  public static func seconds(_ count: Int64) -> TimeSpan { TimeSpan(count: count, .seconds) }
  /// A span of `count` minutes.
  public static func minutes(_ count: Int64) -> TimeSpan { TimeSpan(count: count, .minutes) }
  /// A span of `count` hours.
  public static func hours(_ count: Int64) -> TimeSpan { TimeSpan(count: count, .hours) }
  /// A span of `count` times 24 hours.
  public static func days(_ count: Int64) -> TimeSpan { TimeSpan(count: count, .days) }
  /// A span of `count` times 7 days.
  public static func weeks(_ count: Int64) -> TimeSpan { TimeSpan(count: count, .weeks) }

  /// A span of `count` seconds, rounded to the nearest microsecond.
  public static func seconds(_ count: some BinaryFloatingPoint) -> TimeSpan { TimeSpan(parts: count, .seconds) }
  /// A span of `count` minutes, rounded to the nearest microsecond.
  public static func minutes(_ count: some BinaryFloatingPoint) -> TimeSpan { TimeSpan(parts: count, .minutes) }
  /// A span of `count` hours, rounded to the nearest microsecond.
  public static func hours(_ count: some BinaryFloatingPoint) -> TimeSpan { TimeSpan(parts: count, .hours) }
  /// A span of `count` times 24 hours, rounded to the nearest microsecond.
  public static func days(_ count: some BinaryFloatingPoint) -> TimeSpan { TimeSpan(parts: count, .days) }
  /// A span of `count` times 7 days, rounded to the nearest microsecond.
  public static func weeks(_ count: some BinaryFloatingPoint) -> TimeSpan { TimeSpan(parts: count, .weeks) }

  /// A span clamped to 64 bits of microseconds, some 290,000 years.
  private init(count: Int64, _ unit: GraphFunction) {
    self.init(unit.apply([.integer(count)]), isNegative: count < 0)
  }

  private init(parts: some BinaryFloatingPoint, _ unit: GraphFunction) {
    self.init(unit.apply([.double(Double(parts))]), isNegative: parts < 0)
  }

  private init(_ length: Value, isNegative: Bool) {
    if case .integer(let length) = length { microseconds = length } else { microseconds = isNegative ? .min : .max }
  }

  public static func < (left: TimeSpan, right: TimeSpan) -> Bool { left.microseconds < right.microseconds }
}

extension TimeSpan: OrderedKind {
  public typealias ComparableKind = TimeSpan
  public static func value(_ plain: TimeSpan) -> Value { .integer(plain.microseconds) }
  public static func constant(_ value: Value) -> TimeSpan? {
    if case .integer(let count) = value { .microseconds(count) } else { nil }
  }
}
