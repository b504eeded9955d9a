import GraphModel

/// What the values of a typed path or expression are. Swift's own types where one fits; names of their own for what
/// Swift has no type for, so that a date is no number.
public protocol PropertyKind {
  /// What a program writes.
  associatedtype Plain
  /// What it can be compared with: texts of every sort are alike.
  associatedtype Like: PropertyKind
  /// As predicates hold it.
  static func value(_ plain: Plain) -> Value
}

/// Kinds whose values have an order that means something.
public protocol OrderedKind: PropertyKind where Like: OrderedKind {}

/// Kinds that are calculated with.
public protocol NumberKind: OrderedKind {
  /// What the average of such values is.
  associatedtype Average: NumberKind
  /// How the operators treat them.
  static var arithmetic: ArithmeticKind { get }
}

/// Kinds that are made of characters.
public protocol TextKind: PropertyKind where Plain == String, Like == String {}

/// Attributes of the types `string` and `uri`, and what functions make of them.
extension String: TextKind, OrderedKind {
  public typealias Like = String
  public static func value(_ plain: String) -> Value { .string(plain) }
}

/// Attributes of the types `string` and `text` that the model marks `fullText`.
public enum FullText: TextKind, OrderedKind {
  public typealias Plain = String
  public typealias Like = String
  public static func value(_ plain: String) -> Value { .string(plain) }
}

/// Attributes of the type `json`: text without an order.
public enum JSONText: TextKind {
  public typealias Plain = String
  public typealias Like = String
  public static func value(_ plain: String) -> Value { .string(plain) }
}

/// Attributes of the type `enumeration`: what graph-generate makes of one of the model's.
public protocol EnumeratedValue: OrderedKind, RawRepresentable where RawValue == String, Plain == Self, Like == Self {}

extension EnumeratedValue {
  /// By its name.
  public static func value(_ plain: Self) -> Value { .string(plain.rawValue) }
}

extension Bool: PropertyKind {
  public typealias Like = Bool
  public static func value(_ plain: Bool) -> Value { .bool(plain) }
}

extension Int64: NumberKind {
  public typealias Like = Int64
  public typealias Average = Double
  public static var arithmetic: ArithmeticKind { .integer }
  public static func value(_ plain: Int64) -> Value { .integer(plain) }
}

extension Double: NumberKind {
  public typealias Like = Double
  public typealias Average = Double
  public static var arithmetic: ArithmeticKind { .double }
  public static func value(_ plain: Double) -> Value { .double(plain) }
}

extension DecimalValue: NumberKind {
  public typealias Like = DecimalValue
  public typealias Average = DecimalValue
  public static var arithmetic: ArithmeticKind { .decimal }
  public static func value(_ plain: DecimalValue) -> Value { .decimal(plain) }
}

extension UniqueID: OrderedKind {
  public typealias Like = UniqueID
  public static func value(_ plain: UniqueID) -> Value { .uuid(plain) }
}

/// Attributes of the type `data`.
extension [UInt8]: PropertyKind, OrderedKind {
  public typealias Plain = [UInt8]
  public typealias Like = [UInt8]
  public static func value(_ plain: [UInt8]) -> Value { .data(plain) }
}

/// The ids of objects.
extension ObjectID: PropertyKind {
  public typealias Like = ObjectID
  public static func value(_ plain: ObjectID) -> Value { .object(plain) }
}

/// Attributes of the type `date`: microseconds since 1970.
public enum DateTime: OrderedKind {
  public typealias Plain = Timestamp
  public typealias Like = DateTime
  public static func value(_ plain: Timestamp) -> Value { .date(plain) }
}

/// A span of time, which dates are calculated with: `.days(7)`.
public struct TimeSpan: Hashable, Comparable, Sendable {
  /// Its length; negative to look ahead.
  public let microseconds: Int64

  /// A span of so many microseconds.
  public static func microseconds(_ count: Int64) -> TimeSpan { TimeSpan(count: count, .microseconds) }
  /// A span of so many seconds.
  public static func seconds(_ count: Int64) -> TimeSpan { TimeSpan(count: count, .seconds) }
  /// A span of so many minutes.
  public static func minutes(_ count: Int64) -> TimeSpan { TimeSpan(count: count, .minutes) }
  /// A span of so many hours.
  public static func hours(_ count: Int64) -> TimeSpan { TimeSpan(count: count, .hours) }
  /// A span of so many times 24 hours.
  public static func days(_ count: Int64) -> TimeSpan { TimeSpan(count: count, .days) }
  /// A span of so many times 7 days.
  public static func weeks(_ count: Int64) -> TimeSpan { TimeSpan(count: count, .weeks) }

  /// A span of so many seconds and parts of one, to the nearest microsecond.
  public static func seconds(_ count: some BinaryFloatingPoint) -> TimeSpan { TimeSpan(parts: count, .seconds) }
  /// A span of so many minutes and parts of one, to the nearest microsecond.
  public static func minutes(_ count: some BinaryFloatingPoint) -> TimeSpan { TimeSpan(parts: count, .minutes) }
  /// A span of so many hours and parts of one, to the nearest microsecond.
  public static func hours(_ count: some BinaryFloatingPoint) -> TimeSpan { TimeSpan(parts: count, .hours) }
  /// A span of so many times 24 hours and parts of that, to the nearest microsecond.
  public static func days(_ count: some BinaryFloatingPoint) -> TimeSpan { TimeSpan(parts: count, .days) }
  /// A span of so many times 7 days and parts of that, to the nearest microsecond.
  public static func weeks(_ count: some BinaryFloatingPoint) -> TimeSpan { TimeSpan(parts: count, .weeks) }

  /// What is longer than 64 bits of microseconds, some 290,000 years, is as long as they reach.
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
  public typealias Like = TimeSpan
  public static func value(_ plain: TimeSpan) -> Value { .integer(plain.microseconds) }
}
