// Tests: FoundationTypesTests.swift, DateExactnessTests.swift
import GraphModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A type of Foundation by which generated classes represent an attribute: `Date`, `UUID`, `Decimal`, `Data`, `URL`.
///
/// A few stored values have no exact representation: a microsecond more than 272 years away from 2001, a decimal
/// beyond Foundation's exponents, a URI that `URL` writes in another way. `setValue` therefore compares: a
/// representation that was read and is written back keeps the stored value as it is.
public protocol AttributeRepresentation: Equatable {
  /// The representation of a value; nil for null, and for a value that the type can't represent.
  init?(_ value: Value)
  /// The value to store.
  var attributeValue: Value { get }
}

extension ManagedObject {
  /// Sets a property to a represented value, or to null. The held value stays as it is if it has the same
  /// representation.
  public func setValue<Representation: AttributeRepresentation>(
    _ representation: Representation?, for property: PropertyNumber
  ) {
    let held = value(property)
    if let representation, Representation(held) == representation { return setValue(held, for: property) }
    setValue(representation.map(\.attributeValue) ?? .null, for: property)
  }

  /// Sets a property only if it has another value, so that each member of a composite has conflicts of its own.
  public func updateValue(_ new: Value, for property: PropertyNumber) {
    if value(property) != new { setValue(new, for: property) }
  }

  /// Sets a property only if it has another representation.
  public func updateValue<Representation: AttributeRepresentation>(
    _ new: Representation?, for property: PropertyNumber
  ) {
    if Representation(value(property)) != new { setValue(new, for: property) }
  }
}

extension Date: AttributeRepresentation {
  /// The microsecond of Foundation's reference date, 2001.
  private static let reference: Timestamp = 978_307_200_000_000

  /// The date of a microsecond since 1970: exact up to 272 years before and after 2001, otherwise the nearest date.
  public init(microseconds: Timestamp) {
    let (fromReference, isTooFar) = microseconds.subtractingReportingOverflow(Self.reference)
    let seconds =
      isTooFar ? Double(microseconds) / 1e6 - Double(Self.reference) / 1e6 : Double(fromReference) / 1e6
    self.init(timeIntervalSinceReferenceDate: seconds)
  }

  /// The nearest microsecond since 1970. A date out of its range, 290,000 years, is the first or the last one.
  public var microseconds: Timestamp {
    let seconds = timeIntervalSinceReferenceDate
    precondition(!seconds.isNaN, "a date has a time")
    let whole = seconds.rounded(.down)
    guard let count = Timestamp(exactly: whole) else { return seconds < 0 ? .min : .max }
    // The fraction is exact: a product of the whole time would lose digits.
    let fraction = Timestamp(((seconds - whole) * 1e6).rounded())
    let (product, isTooFar) = count.multipliedReportingOverflow(by: 1_000_000)
    if isTooFar { return seconds < 0 ? .min : .max }
    let (sum, isBeyond) = product.addingReportingOverflow(fraction + Self.reference)
    return isBeyond ? .max : sum
  }

  public init?(_ value: Value) {
    guard case .date(let time) = value else { return nil }
    self.init(microseconds: time)
  }

  public var attributeValue: Value { .date(microseconds) }
}

extension UUID: AttributeRepresentation {
  /// The UUID with the same 16 bytes.
  public init(_ id: UniqueID) {
    func byte(_ half: UInt64, _ place: UInt64) -> UInt8 { UInt8(truncatingIfNeeded: half >> (56 - 8 * place)) }
    let (high, low) = (id.high, id.low)
    self.init(
      uuid: (
        byte(high, 0), byte(high, 1), byte(high, 2), byte(high, 3), byte(high, 4), byte(high, 5), byte(high, 6),
        byte(high, 7), byte(low, 0), byte(low, 1), byte(low, 2), byte(low, 3), byte(low, 4), byte(low, 5),
        byte(low, 6), byte(low, 7)
      ))
  }

  /// The id with the same 16 bytes.
  public var uniqueID: UniqueID {
    let halves = withUnsafeBytes(of: uuid) { bytes in
      (
        bytes[..<8].reduce(0 as UInt64) { $0 << 8 | UInt64($1) },
        bytes[8...].reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
      )
    }
    return UniqueID(high: halves.0, low: halves.1)
  }

  public init?(_ value: Value) {
    guard case .uuid(let id) = value else { return nil }
    self.init(id)
  }

  public var attributeValue: Value { .uuid(uniqueID) }
}

extension Data: AttributeRepresentation {
  public init?(_ value: Value) {
    guard case .data(let bytes) = value else { return nil }
    self.init(bytes)
  }

  public var attributeValue: Value { .data([UInt8](self)) }
}

extension URL: AttributeRepresentation {
  public init?(_ value: Value) {
    guard case .string(let text) = value else { return nil }
    self.init(string: text)
  }

  public var attributeValue: Value { .string(absoluteString) }
}

extension Decimal: AttributeRepresentation {
  /// The same number; NaN for one beyond Foundation's exponents, from -128 to 127.
  public init(_ number: DecimalValue) { self = Decimal(string: number.description) ?? .nan }

  /// The same number; nil for NaN.
  public var decimalValue: DecimalValue? { isNaN ? nil : DecimalValue(description) }

  public init?(_ value: Value) {
    guard case .decimal(let number) = value else { return nil }
    self.init(number)
  }

  /// The value to store; null for NaN, which a required attribute refuses.
  public var attributeValue: Value { decimalValue.map { .decimal($0) } ?? .null }
}
