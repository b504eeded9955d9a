import GraphModel

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Converts the values of columns into those of attributes.
package enum AttributeConversion {
  /// The reason why a value can't be converted.
  package struct Failure: Error, Hashable {
    package let reason: String
    /// The nearest date that a model can have; nil for anything but a date outside of them.
    package var nearest: Timestamp?
  }

  /// The value of an attribute.
  /// - Parameter type: the type of a column whose values are converted; nil otherwise.
  /// - Throws: `Failure` if the column has a value of another type; nothing is guessed.
  package static func value(
    _ stored: StoreValue, _ attribute: Attribute, from type: Attribute.Kind? = nil
  ) throws(Failure) -> Value {
    // SQLite stores any value in any column.
    guard let type, hasOtherForm(type, as: attribute.kind), let value = try? value(stored, type, []), !value.isNull
    else {
      return try value(stored, attribute.kind, attribute.cases)
    }
    let converted: Value
    switch attribute.kind {
    case .string, .text:
      let json = value.json(kind: type)
      converted = .string(json.stringValue ?? json.text)
    case .integer: converted = GraphFunction.integer.apply([value])
    case .double: converted = GraphFunction.double.apply([value])
    default: preconditionFailure("a column is converted to a type of the list")
    }
    guard converted.isNull else { return converted }
    throw Failure(reason: "\(value.json(kind: type).text.excerpt) can't be converted to \(attribute.kind.article)")
  }

  /// Whether a migration converts values of a type to another one, either by itself or by a function in a mapping.
  static func converts(_ type: Attribute.Kind, to kind: Attribute.Kind) -> Bool {
    if hasOtherForm(type, as: kind) { return true }
    switch kind {
    case .integer: return type == .bool
    case .double: return [.integer, .decimal].contains(type)
    case .decimal: return [.integer, .double, .string].contains(type)
    case .uuid: return type == .string
    default: return false
    }
  }

  /// Whether the values of a type that a migration converts have another form in a column than the converted ones.
  private static func hasOtherForm(_ type: Attribute.Kind, as kind: Attribute.Kind) -> Bool {
    switch kind {
    case .string, .text: [.bool, .integer, .double, .decimal, .date, .uuid].contains(type)
    case .integer: [.double, .decimal, .string].contains(type)
    case .double: type == .string
    default: false
    }
  }

  private static func value(
    _ stored: StoreValue, _ kind: Attribute.Kind, _ cases: [String]
  ) throws(Failure) -> Value {
    switch (kind, stored) {
    case (_, .null): return .null
    case (.bool, .integer(0)): return .bool(false)
    case (.bool, .integer(1)): return .bool(true)
    case (.bool, .integer(let number)): throw Failure(reason: "\(number) is not a boolean: 0 or 1 is expected")
    case (.integer, .integer(let number)): return .integer(number)
    case (.integer, .real(let number)):
      guard let whole = Int64(exactly: number) else { throw Failure(reason: "\(number) is not a whole number") }
      return .integer(whole)
    case (.double, .integer(let number)): return .double(Double(number))
    case (.double, .real(let number)):
      guard number.isFinite else { throw Failure(reason: "it is infinite") }
      return .double(number)
    case (.decimal, _): return .decimal(try decimal(stored))
    case (.date, .integer(let seconds)): return .date(try date(whole: seconds, microseconds: 0))
    case (.date, .real(let seconds)): return .date(try date(seconds))
    case (.uuid, .blob(let bytes)):
      guard let id = UniqueID(bytes: bytes) else {
        throw Failure(reason: "a UUID has 16 bytes, and this value \(bytes.count)")
      }
      return .uuid(id)
    case (.data, .blob(let bytes)): return .data(bytes)
    case (.string, .text(let bytes)), (.text, .text(let bytes)), (.uri, .text(let bytes)),
      (.enumeration, .text(let bytes)), (.uuid, .text(let bytes)):
      guard let text = String(validating: bytes, as: UTF8.self) else {
        throw Failure(reason: "the text is not valid UTF-8")
      }
      return try value(ofText: text, kind, cases)
    default: throw Failure(reason: "the column has \(stored.kind), and the attribute is \(kind.article)")
    }
  }

  private static func value(
    ofText text: String, _ kind: Attribute.Kind, _ cases: [String]
  ) throws(Failure) -> Value {
    switch kind {
    case .string, .text: return .string(text)
    default:
      guard let value = Value(json: .string(text), kind: kind, cases: cases) else {
        throw Failure(reason: "\"\(text.excerpt)\" is not \(kind.article)")
      }
      return value
    }
  }

  // MARK: - Dates

  /// Seconds between 1970 and 2001, the beginning of Core Data's dates.
  private static let referenceDate: Int64 = 978_307_200

  /// The nearest microsecond to a number of seconds since 2001; of two, the later one.
  package static func date(_ seconds: Double) throws(Failure) -> Timestamp {
    let floor = seconds.rounded(.down)
    guard seconds.isFinite else { throw Failure(reason: "\(seconds) seconds are not a date") }
    guard let whole = Int64(exactly: floor) else { throw outside(String(seconds), isBefore: seconds < 0) }
    // The difference is exact. The product is not, if the fraction has many digits: `rest` is its rounding error.
    let fraction = seconds - floor
    let product = fraction * 1_000_000
    let rest = (-product).addingProduct(fraction, 1_000_000)
    let below = product.rounded(.down)
    let isUpper = product - below > 0.5 || (product - below == 0.5 && rest >= 0)
    return try date(whole: whole, microseconds: Int64(below) + (isUpper ? 1 : 0))
  }

  private static func date(whole: Int64, microseconds: Int64) throws(Failure) -> Timestamp {
    let (unix, overflow1) = whole.addingReportingOverflow(referenceDate)
    let (product, overflow2) = unix.multipliedReportingOverflow(by: 1_000_000)
    let (sum, overflow3) = product.addingReportingOverflow(microseconds)
    if overflow1 || overflow2 || overflow3 || !RFC3339.range.contains(sum) {
      throw outside(String(whole), isBefore: whole < 0)
    }
    return sum
  }

  /// `Date.distantPast`, in seconds since 2001: two days before the year 1.
  private static let distantPast = "-63114076800"

  private static func outside(_ seconds: String, isBefore: Bool) -> Failure {
    let name = seconds == distantPast ? " (Date.distantPast)" : ""
    return Failure(
      reason: "the date \(seconds)\(name), in seconds since 2001, is outside of the years 0001 to 9999",
      nearest: isBefore ? RFC3339.range.lowerBound : RFC3339.range.upperBound)
  }

  // MARK: - Decimals

  /// The decimal of a number, which SQLite stores as a floating-point number: the one of at most 15 digits that is
  /// nearest. These are the digits that a double preserves.
  package static func decimal(_ stored: StoreValue) throws(Failure) -> DecimalValue {
    let text: String
    switch stored {
    case .integer(let number): text = String(number)
    case .real(let number):
      guard number.isFinite else { throw Failure(reason: "it is infinite") }
      var bytes = [CChar](repeating: 0, count: 40)
      let count = withVaList([number]) { vsnprintf(&bytes, 40, "%.15g", $0) }
      assert(count > 0 && count < 40, "fifteen digits, a sign, a point and an exponent fit")
      text = String(decoding: bytes.prefix(Int(count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    case .text(let bytes): text = String(decoding: bytes, as: UTF8.self)
    case .null, .blob: throw Failure(reason: "the column has \(stored.kind), and the attribute is a decimal")
    }
    guard let decimal = DecimalValue(text) else { throw Failure(reason: "\"\(text.excerpt)\" is not a decimal") }
    return decimal
  }
}

extension Attribute.Kind {
  /// As in `a date`.
  var article: String {
    switch self {
    case .integer, .enumeration: "an \(rawValue)"
    default: "a \(rawValue)"
    }
  }
}
