/// Dates in RFC 3339 form, in UTC, with microseconds. Pure arithmetic, for layers without a clock and without a
/// calendar library.
public enum RFC3339 {
  /// The number of microseconds per second, 1,000,000; timestamps are in microseconds.
  public static let microsecondsPerSecond: Int64 = 1_000_000
  private static let secondsPerDay: Int64 = 86_400

  /// The timestamps of the years 0001 to 9999, which RFC 3339 can represent.
  public static let range: ClosedRange<Timestamp> = -62_135_596_800_000_000...253_402_300_799_999_999

  /// The text form, `2026-11-21T09:30:00.000000Z`; a timestamp outside `range` is clamped.
  public static func text(_ timestamp: Timestamp) -> String {
    let clamped = min(max(timestamp, range.lowerBound), range.upperBound)
    let (seconds, micros) = floorDivide(clamped, microsecondsPerSecond)
    let (days, second) = floorDivide(seconds, secondsPerDay)
    let (year, month, day) = civil(fromDays: days)
    return "\(pad(year, 4))-\(pad(month, 2))-\(pad(day, 2))T"
      + "\(pad(second / 3600, 2)):\(pad(second / 60 % 60, 2)):\(pad(second % 60, 2)).\(pad(micros, 6))Z"
  }

  /// Parses RFC 3339, or a date alone, which is its midnight in UTC. Accepted are `T` or a space, up to nine fraction
  /// digits, and `Z` or an offset. Nil for any other text.
  public static func timestamp(_ text: String) -> Timestamp? {
    var scanner = Scanner(Array(text.utf8))
    guard let year = scanner.digits(4), scanner.skip("-"), let month = scanner.digits(2), scanner.skip("-"),
      let day = scanner.digits(2), (1...12).contains(month), day >= 1, day <= daysIn(month: month, year: year),
      year >= 1
    else { return nil }
    let days = self.days(year: year, month: month, day: day)
    if scanner.isAtEnd { return days * secondsPerDay * microsecondsPerSecond }
    guard scanner.skip("T") || scanner.skip("t") || scanner.skip(" "), let hour = scanner.digits(2), scanner.skip(":"),
      let minute = scanner.digits(2), hour < 24, minute < 60
    else { return nil }
    var second: Int64 = 0
    var micros: Int64 = 0
    if scanner.skip(":") {
      guard let value = scanner.digits(2), value < 60 else { return nil }
      second = value
      if scanner.skip(".") {
        guard let fraction = scanner.fraction() else { return nil }
        micros = fraction
      }
    }
    guard let offset = scanner.offset(), scanner.isAtEnd else { return nil }
    let seconds = days * secondsPerDay + hour * 3600 + minute * 60 + second - offset
    let timestamp = seconds * microsecondsPerSecond + micros
    return range.contains(timestamp) ? timestamp : nil
  }

  private static func pad(_ number: Int64, _ width: Int) -> String {
    assert(number >= 0, "the parts of a date are not negative")
    let text = String(number)
    return String(repeating: "0", count: max(0, width - text.count)) + text
  }

  /// The quotient rounded down, and the remainder, which is never negative.
  public static func floorDivide(_ value: Int64, _ by: Int64) -> (Int64, Int64) {
    assert(by > 0, "the divisor is positive")
    let (quotient, remainder) = value.quotientAndRemainder(dividingBy: by)
    return remainder < 0 ? (quotient - 1, remainder + by) : (quotient, remainder)
  }

  /// The number of days of a month in the Gregorian calendar.
  public static func daysIn(month: Int64, year: Int64) -> Int64 {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  /// The number of days since 1970-01-01 in the proleptic Gregorian calendar. Years are counted from March, so that
  /// the leap day is the last of its year, and eras of 400 years repeat.
  public static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
    assert((1...12).contains(month) && (1...31).contains(day), "the date is in the calendar")
    let shifted = month <= 2 ? year - 1 : year
    let (era, yearOfEra) = floorDivide(shifted, 400)
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  /// The date that many days after 1970-01-01.
  public static func civil(fromDays days: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let (era, dayOfEra) = floorDivide(days + 719_468, 146_097)
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    assert((1...12).contains(month) && (0...365).contains(dayOfYear), "the day lies in a year")
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
  }

  private struct Scanner {
    let bytes: [UInt8]
    var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { position == bytes.count }

    mutating func skip(_ character: Character) -> Bool {
      guard position < bytes.count, bytes[position] == character.asciiValue else { return false }
      position += 1
      return true
    }

    mutating func digits(_ count: Int) -> Int64? {
      guard position + count <= bytes.count else { return nil }
      var value: Int64 = 0
      for byte in bytes[position..<(position + count)] {
        guard (0x30...0x39).contains(byte) else { return nil }
        value = value * 10 + Int64(byte - 0x30)
      }
      position += count
      return value
    }

    /// Parses one to nine digits of a second, truncated to microseconds.
    mutating func fraction() -> Int64? {
      let start = position
      while position < bytes.count, (0x30...0x39).contains(bytes[position]) { position += 1 }
      guard (1...9).contains(position - start) else { return nil }
      let digits = bytes[start..<position].prefix(6) + Array(repeating: 0x30, count: max(0, 6 - (position - start)))
      return digits.reduce(Int64(0)) { $0 * 10 + Int64($1 - 0x30) }
    }

    /// Parses an offset from UTC, in seconds.
    mutating func offset() -> Int64? {
      if skip("Z") || skip("z") { return 0 }
      let sign: Int64 = skip("+") ? 1 : skip("-") ? -1 : 0
      guard sign != 0, let hours = digits(2), skip(":"), let minutes = digits(2), hours < 24, minutes < 60 else {
        return nil
      }
      return sign * (hours * 3600 + minutes * 60)
    }
  }
}
