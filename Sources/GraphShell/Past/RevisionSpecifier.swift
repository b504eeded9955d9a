import GraphModel

/// A state of the graph as a user specifies it: a revision or a time in the past. Parsing is pure: the clock is
/// passed in.
enum RevisionSpecifier: Hashable, Sendable {
  /// `120` or `r120`.
  case revision(Revision)
  /// `now`: the newest commit, regardless of its time.
  case now
  /// Any other time; never after `now`.
  case time(Timestamp)

  /// - Parameters:
  ///   - now: the time that relative times count from, in microseconds since 1970.
  ///   - clock: the time zone of times without an offset.
  ///   - toTheEnd: whether a time with seconds but without a fraction means the end of that second, so that a time
  ///     copied from the log includes that commit. Otherwise it means the beginning.
  init(parsing text: String, now: Timestamp, clock: LocalTimeZone, toTheEnd: Bool = false)
    throws(RevisionSpecifierError)
  {
    let words = text.lowercased().split(whereSeparator: \.isWhitespace).map(String.init)
    if let revision = try Self.revision(words, text) {
      self = .revision(revision)
      return
    }
    if words == ["now"] {
      self = .now
      return
    }
    let reader = TimeParser(now: now, clock: clock)
    guard let time = reader.time(words) else { throw RevisionSpecifierError(text: text, reason: nil) }
    guard time != TimeParser.never else {
      throw RevisionSpecifierError(text: text, reason: "does not exist: the clocks here skipped it")
    }
    guard time != TimeParser.foreign else {
      throw RevisionSpecifierError(
        text: text,
        reason: "names another time zone than yours, and its abbreviation can mean several: write what date -R or "
          + "date -Iseconds prints")
    }
    guard RFC3339.range.contains(time) else {
      throw RevisionSpecifierError(text: text, reason: "is before the first supported year")
    }
    guard time <= now else {
      throw RevisionSpecifierError(text: text, reason: "is in the future: only the past can be shown")
    }
    let rest = toTheEnd && Self.namesASecond(words) ? RFC3339.microsecondsPerSecond - 1 : 0
    self = .time(min(time + rest, now))
  }

  /// Returns whether the words contain a time with seconds and without a fraction.
  private static func namesASecond(_ words: [String]) -> Bool {
    words.contains { word in
      if word.hasPrefix("@") { return !word.contains(".") }
      guard let clock = word.split(separator: "t", omittingEmptySubsequences: false).last else { return false }
      let parts = clock.split(separator: ":", maxSplits: 3)
      return parts.count > 2 && parts[1].utf8.count == 2 && parts[2].prefix(2).utf8.count == 2
        && ![".", ","].contains(parts[2].dropFirst(2).first)
    }
  }

  private static func revision(_ words: [String], _ text: String) throws(RevisionSpecifierError) -> Revision? {
    guard words.count == 1, let word = words.first else { return nil }
    let digits = word.hasPrefix("r") ? word.dropFirst() : word[...]
    guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    guard let revision = Revision(digits) else {
      throw RevisionSpecifierError(text: text, reason: "is too large for a revision")
    }
    return revision
  }
}

/// A time that cannot be used; the description lists the valid forms.
struct RevisionSpecifierError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The invalid text.
  let text: String
  /// The problem with a time; nil if the text is not a time.
  let reason: String?

  /// The valid forms, with examples.
  static let forms = """
    a revision (120 or r120), a date with or without a time (2026-11-21, 2026-11-21 09:30, 2026-11-21T09:30:00+0200), \
    what date or date -R prints, @1763717415, "10 minutes ago", "1h ago", "yesterday 14:00", "monday 9:00", \
    "today 08:30", "last week"
    """

  var description: String {
    guard let reason else { return "\"\(text)\" is neither a time nor a revision: write \(Self.forms)" }
    return "\"\(text)\" \(reason)"
  }
}

/// Parses times from lowercase words.
private struct TimeParser {
  let now: Timestamp
  let clock: LocalTimeZone

  private static let second = RFC3339.microsecondsPerSecond
  private static let day = 86_400 * second

  /// Returns a time, which may be in the future; nil for invalid words.
  func time(_ words: [String]) -> Timestamp? {
    guard let first = words.first else { return nil }
    if words.last == "ago" { return ago(words.dropLast()) }
    if words.count == 1, first.hasPrefix("@") { return seconds(first.dropFirst()) }
    if first == "last" { return last(words.dropFirst()) }
    if first == "in" || first == "next" {
      // Future times are refused, so any time after `now` can stand for this one.
      return (first == "in" ? ago(words.dropFirst()) : last(words.dropFirst())).map { _ in now + 1 }
    }
    if let days = dayNamed(first) { return at(words.dropFirst(), ofDay: days) }
    if let date = Self.unixDate(words) { return dated(date) }
    if let weekday = Self.weekday(first) { return newest(weekday, words.dropFirst()) }
    if first.utf8.count >= 10, first.utf8.dropFirst(4).first == UInt8(ascii: "-") { return dated(words) }
    if let date = mailDate(words) { return dated(date) }
    // A time of day without a day is today's.
    return at(words[...], ofDay: today)
  }

  // MARK: - Days

  /// The current day in the local time zone, in days since 1970.
  private var today: Int64 { RFC3339.floorDivide(wall, Self.day).0 }

  /// The current local time.
  private var wall: Timestamp { now + clock.offset(RFC3339.floorDivide(now, Self.second).0) * Self.second }

  /// Returns the time of a local time. If it is ambiguous, prefers one that is not in the future.
  private func moment(_ wall: Timestamp) -> Timestamp {
    let (seconds, rest) = RFC3339.floorDivide(wall, Self.second)
    let moment = clock.moment(seconds)
    let time = moment * Self.second + rest
    guard time > now else { return time }
    // The offset some hours earlier; clocks are never put back by more.
    let earlier = seconds - clock.offset(moment - 4 * 3_600)
    return earlier < moment && earlier + clock.offset(earlier) == seconds ? earlier * Self.second + rest : time
  }

  /// The result for a local time that the zone skips.
  static let never = Timestamp.max

  /// Converts a local time that the user wrote with a time of day; `never` if the zone skips it.
  private func written(_ wall: Timestamp) -> Timestamp {
    let time = moment(wall)
    let isShown = time + clock.offset(RFC3339.floorDivide(time, Self.second).0) * Self.second == wall
    return isShown ? time : Self.never
  }

  private func dayNamed(_ word: String) -> Int64? {
    switch word {
    case "today": today
    case "yesterday": today - 1
    case "tomorrow": today + 1
    default: nil
    }
  }

  private static let weekdays = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"]

  /// Returns the weekday, 0 for Sunday; three letters are enough.
  private static func weekday(_ word: String) -> Int64? {
    guard word.utf8.count >= 3 else { return nil }
    return weekdays.firstIndex { $0.hasPrefix(word) }.map(Int64.init)
  }

  /// Returns the latest such weekday whose given time, or midnight, is not in the future.
  private func newest(_ weekday: Int64, _ clock: ArraySlice<String>) -> Timestamp? {
    // 1970 began on a Thursday.
    let back = RFC3339.floorDivide(today + 4 - weekday, 7).1
    guard let time = at(clock, ofDay: today - back) else { return nil }
    return time <= now || time == Self.never ? time : at(clock, ofDay: today - back - 7)
  }

  private func last(_ words: ArraySlice<String>) -> Timestamp? {
    guard let word = words.first else { return nil }
    if let weekday = Self.weekday(word) {
      let back = RFC3339.floorDivide(today + 3 - weekday, 7).1 + 1
      return at(words.dropFirst(), ofDay: today - back)
    }
    return words.count == 1 ? before(1, word) : nil
  }

  private func at(_ clock: ArraySlice<String>, ofDay days: Int64) -> Timestamp? {
    if clock.isEmpty { return moment(days * Self.day) }
    let words = clock.first == "at" ? clock.dropFirst() : clock
    return Self.clock(words.joined()).map { written(days * Self.day + $0) }
  }

  /// Parses `14:00`, `9:00:30`, `9:00:30.5`, `9am`, `2:30pm`, `noon` or `midnight` as microseconds since midnight.
  private static func clock(_ text: String) -> Timestamp? {
    if text == "noon" { return 12 * 3_600 * second }
    if text == "midnight" { return 0 }
    let half = ["am", "pm"].first { text.hasSuffix($0) }
    let halves = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    var micros: Int64 = 0
    if halves.count > 1 {
      // Times have microseconds, so further digits are dropped.
      guard half == nil, halves[0].split(separator: ":").count == 3, (1...9).contains(halves[1].utf8.count),
        let number = digits(halves[1].prefix(6) + String(repeating: "0", count: max(0, 6 - halves[1].utf8.count))),
        digits(halves[1]) != nil
      else { return nil }
      micros = number
    }
    let parts = (half == nil ? halves[0] : text.dropLast(2)).split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count <= 3, half != nil || parts.count > 1 else { return nil }
    var numbers = [Int64]()
    for (place, part) in parts.enumerated() {
      guard (1...2).contains(part.utf8.count), place == 0 || part.utf8.count == 2, let number = digits(part) else {
        return nil
      }
      numbers.append(number)
    }
    guard var hour = numbers.first, numbers.dropFirst().allSatisfy({ $0 < 60 }) else { return nil }
    if half != nil {
      guard (1...12).contains(hour) else { return nil }
      hour = hour % 12 + (half == "pm" ? 12 : 0)
    }
    guard hour < 24 else { return nil }
    // Minutes and seconds that are not written are zero.
    let rest = Array(numbers.dropFirst()) + [0, 0]
    return (hour * 3_600 + rest[0] * 60 + rest[1]) * second + micros
  }

  private static func digits(_ text: some StringProtocol) -> Int64? {
    text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int64(text) : nil
  }

  // MARK: - Dates

  /// Parses RFC 3339. A missing offset means the local zone, a missing time the beginning of the day. As `date`
  /// prints it, the fraction may follow a comma, and the offset may lack the colon or follow a space.
  private func dated(_ words: [String]) -> Timestamp? {
    let text = words.joined(separator: " ")
    if text.utf8.count == 10 { return RFC3339.timestamp(text).map(moment) }
    if words.count == 3, let zone = words.last, Self.isZone(zone) {
      return RFC3339.timestamp("\(words[0])T\(words[1])Z").map { written($0, in: zone) }
    }
    var time = text.uppercased().replacing(",", with: ".")
    for name in [" UTC", " GMT", " UT", " Z"] where time.hasSuffix(name) { time = time.dropLast(name.count) + "Z" }
    // Search after the date, because its dashes are not signs.
    if let sign = time.indices.dropFirst(11).last(where: { "+-".contains(time[$0]) }) {
      let offset = time[time.index(after: sign)...]
      var head = time[..<sign]
      if head.last == " " { head = head.dropLast() }
      // `date -Ihours` prints no minutes.
      let minutes = head.utf8.count == 13 ? ":00" : ""
      let hour = String(head) + minutes + String(time[sign]) + offset.prefix(2)
      if Self.digits(offset) != nil, [2, 4].contains(offset.utf8.count) {
        time = hour + ":" + (offset.utf8.count == 2 ? "00" : String(offset.suffix(2)))
      } else {
        time = hour + String(offset.dropFirst(2))
      }
    }
    return RFC3339.timestamp(time) ?? RFC3339.timestamp(time + "Z").map(written)
  }

  /// The result for a time with the abbreviation of another zone than the local one, which is ambiguous.
  static let foreign = Timestamp.max - 1

  /// Converts a local time with the abbreviation of the local zone. In the hour that occurs twice, the abbreviation
  /// decides.
  private func written(_ wall: Timestamp, in zone: String) -> Timestamp {
    let (seconds, rest) = RFC3339.floorDivide(wall, Self.second)
    let near = clock.moment(seconds)
    for offset in [near, near - 4 * 3_600, near + 4 * 3_600].map(clock.offset) {
      let moment = seconds - offset
      if clock.offset(moment) == offset, clock.abbreviation(moment)?.lowercased() == zone {
        return moment * Self.second + rest
      }
    }
    return Self.foreign
  }

  /// Whether a word is the abbreviation of a zone, and not that of UTC.
  private static func isZone(_ word: String) -> Bool {
    (3...5).contains(word.utf8.count) && word.utf8.allSatisfy { (0x61...0x7A).contains($0) }
      && word != "utc" && word != "gmt"
  }

  private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

  /// Converts `sat, 21 nov 2026 10:30:15 +0200`, as in mail and from `date -R`, to words of RFC 3339; nil for
  /// anything else.
  private func mailDate(_ words: [String]) -> [String]? {
    let words = words.first?.hasSuffix(",") == true ? Array(words.dropFirst()) : words
    guard words.count >= 3, let date = Self.date(day: words[0], month: words[1], year: words[2]) else { return nil }
    return [date] + words[3...]
  }

  /// Converts `sat nov 21 10:30:15 utc 2026` and `sat nov 21 10:30:15 am utc 2026`, as `date` prints them, and
  /// `sat nov 21 10:30:15 2026 +0200`, as git does, to words of RFC 3339; nil for anything else.
  private static func unixDate(_ words: [String]) -> [String]? {
    guard words.count >= 5, weekday(words[0]) != nil else { return nil }
    var time = words[3]
    var rest = words.dropFirst(4)
    if let half = rest.first, half == "am" || half == "pm" {
      guard let micros = clock(time + half) else { return nil }
      let seconds = micros / second
      time = [seconds / 3_600, seconds / 60 % 60, seconds % 60].map(twoDigits).joined(separator: ":")
      rest = rest.dropFirst()
    }
    guard let place = rest.firstIndex(where: { $0.utf8.count == 4 && digits($0) != nil }), rest.count <= 2,
      let date = date(day: words[2], month: words[1], year: rest[place])
    else { return nil }
    return [date, time] + rest[..<place] + rest[(place + 1)...]
  }

  private static func date(day: String, month: String, year: String) -> String? {
    guard (1...2).contains(day.utf8.count), let day = digits(day), let month = months.firstIndex(of: month),
      year.utf8.count == 4, digits(year) != nil
    else { return nil }
    return "\(year)-\(twoDigits(Int64(month) + 1))-\(twoDigits(day))"
  }

  private static func twoDigits(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }

  /// Parses seconds since 1970, with or without a fraction.
  private func seconds(_ text: Substring) -> Timestamp? {
    let isBefore = text.hasPrefix("-")
    let parts = text.dropFirst(isBefore ? 1 : 0).split(separator: ".", omittingEmptySubsequences: false)
    let fraction = parts.count == 2 ? parts[1] : "0"
    guard (1...2).contains(parts.count), let whole = parts.first, !whole.isEmpty, (1...9).contains(fraction.utf8.count),
      Self.digits(fraction) != nil,
      let micros = Self.digits((fraction + "000000").prefix(6)),
      whole.utf8.allSatisfy({ (0x30...0x39).contains($0) })
    else { return nil }
    // A number beyond any date is in the future, or before the first date.
    guard let seconds = Int64(whole), seconds < Timestamp.max / Self.second else { return isBefore ? .min : now + 1 }
    let time = seconds * Self.second + micros
    return isBefore ? -time : time
  }

  // MARK: - Relative times

  /// Parses `10 minutes`, `an hour`, `2h`, `1h30m` or `1 hour 30 minutes`.
  private func ago(_ words: ArraySlice<String>) -> Timestamp? {
    var parts = words.filter { $0 != "and" }.flatMap(Self.parts)
    guard !parts.isEmpty, parts.count.isMultiple(of: 2) else { return nil }
    var time = now
    while !parts.isEmpty {
      let count =
        Self.numbers.firstIndex(of: parts[0] == "a" || parts[0] == "an" ? "one" : parts[0]).map { Int64($0 + 1) }
        ?? Self.digits(parts[0])
        // A number that overflows is before the first date.
        ?? (parts[0].utf8.allSatisfy { (0x30...0x39).contains($0) } ? .max : nil)
      guard let count, let earlier = TimeParser(now: time, clock: clock).before(count, parts[1]) else { return nil }
      // Already before the first date.
      guard earlier != .min else { return earlier }
      time = earlier
      parts.removeFirst(2)
    }
    return time
  }

  /// Splits a word between digits and letters: `1h30m` becomes `1`, `h`, `30`, `m`.
  private static func parts(_ word: String) -> [String] {
    var parts = [String]()
    var wasDigit: Bool?
    for character in word {
      let isDigit = character.isASCII && character.isNumber
      if isDigit == wasDigit { parts[parts.count - 1].append(character) } else { parts.append(String(character)) }
      wasDigit = isDigit
    }
    return parts
  }

  private static let numbers = [
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
  ]

  private func before(_ count: Int64, _ unit: String) -> Timestamp? {
    switch unit {
    case "s", "sec", "secs", "second", "seconds": return before(count, of: Self.second)
    case "m", "min", "mins", "minute", "minutes": return before(count, of: 60 * Self.second)
    case "h", "hour", "hours": return before(count, of: 3_600 * Self.second)
    case "d", "day", "days": return before(count, of: Self.day)
    case "w", "week", "weeks": return before(count, of: 7 * Self.day)
    case "month", "months": return before(months: count)
    case "y", "year", "years": return before(months: count.multipliedReportingOverflow(by: 12).partialValue, count)
    default: return nil
    }
  }

  private func before(_ count: Int64, of unit: Timestamp) -> Timestamp? {
    let (span, overflows) = count.multipliedReportingOverflow(by: unit)
    let (time, isBelow) = now.subtractingReportingOverflow(span)
    return overflows || isBelow ? .min : time
  }

  /// Returns the same time on the same day of an earlier month, or on that month's last day if the month is shorter.
  private func before(months: Int64, _ count: Int64 = 0) -> Timestamp? {
    // Such a time is before the first date. This check also catches a product that has overflowed.
    guard max(months, count) < 1_000_000 else { return .min }
    assert(months >= 0, "a month in the past has a positive distance")
    let (days, time) = RFC3339.floorDivide(wall, Self.day)
    let date = RFC3339.civil(fromDays: days)
    let (year, month) = RFC3339.floorDivide(date.year * 12 + date.month - 1 - months, 12)
    let day = min(date.day, RFC3339.daysIn(month: month + 1, year: year))
    return moment(RFC3339.days(year: year, month: month + 1, day: day) * Self.day + time)
  }
}
