import GraphModel
import Testing

@testable import GraphShell

/// Times as people write them, from one clock: Saturday 2026-11-21, 10:30:15 in a zone two hours east of Greenwich.
@Suite struct RevisionSpecifierTests {
  private static let now = RFC3339.timestamp("2026-11-21T08:30:15Z") ?? 0
  private static let zone: Int64 = 7_200

  private static func read(_ text: String, now: Timestamp = now, zone: Int64 = zone) throws -> RevisionSpecifier {
    try RevisionSpecifier(parsing: text, now: now, clock: .fixed(zone))
  }

  @Test(arguments: [
    // Dates and times, in the zone unless they say another one.
    ("2026-11-21", "2026-11-20T22:00:00Z"), ("2026-11-21 09:30", "2026-11-21T07:30:00Z"),
    ("2026-11-21T09:30:05.25", "2026-11-21T07:30:05.25Z"), ("2026-11-21T08:30:00Z", "2026-11-21T08:30:00Z"),
    ("2026-11-21t08:30:00z", "2026-11-21T08:30:00Z"), ("2026-11-21 03:30:00-05:00", "2026-11-21T08:30:00Z"),
    ("2024-02-29 12:00", "2024-02-29T10:00:00Z"), ("0001-01-02", "0001-01-01T22:00:00Z"),
    // So long ago.
    ("10 minutes ago", "2026-11-21T08:20:15Z"),
    ("2 hours ago", "2026-11-21T06:30:15Z"), ("a minute ago", "2026-11-21T08:29:15Z"),
    ("an hour ago", "2026-11-21T07:30:15Z"), ("90s ago", "2026-11-21T08:28:45Z"),
    ("2h ago", "2026-11-21T06:30:15Z"), ("0 seconds ago", "2026-11-21T08:30:15Z"),
    ("two hours ago", "2026-11-21T06:30:15Z"), ("ten minutes ago", "2026-11-21T08:20:15Z"),
    ("10:30:14.25", "2026-11-21T08:30:14.25Z"), ("today 9:00:00.123456789", "2026-11-21T07:00:00.123456Z"),
    ("3 days ago", "2026-11-18T08:30:15Z"), ("  2   WEEKS ago ", "2026-11-07T08:30:15Z"),
    ("1 month ago", "2026-10-21T08:30:15Z"), ("12 months ago", "2025-11-21T08:30:15Z"),
    ("2 years ago", "2024-11-21T08:30:15Z"), ("last week", "2026-11-14T08:30:15Z"),
    ("last month", "2026-10-21T08:30:15Z"), ("last year", "2025-11-21T08:30:15Z"),
    ("1h ago", "2026-11-21T07:30:15Z"), ("1h30m ago", "2026-11-21T07:00:15Z"),
    ("1 hour and 30 minutes ago", "2026-11-21T07:00:15Z"),
    // As `date` writes them: --iso-8601=seconds and =ns, -R, +%s and +%z.
    ("2026-11-21T10:30:15+02:00", "2026-11-21T08:30:15Z"), ("2026-11-21T03:30:15-0500", "2026-11-21T08:30:15Z"),
    ("2026-11-21T10:30:15+02", "2026-11-21T08:30:15Z"), ("2026-11-21 10:30:15 +0200", "2026-11-21T08:30:15Z"),
    ("2026-11-21T10:30:14,123456789+02:00", "2026-11-21T08:30:14.123456Z"),
    ("2026-11-21 08:30:15 UTC", "2026-11-21T08:30:15Z"), ("Sat, 21 Nov 2026 10:30:15 +0200", "2026-11-21T08:30:15Z"),
    ("Sat, 21 Nov 2026 08:30:15 GMT", "2026-11-21T08:30:15Z"), ("7 Nov 2026 09:30", "2026-11-07T07:30:00Z"),
    ("Sat Nov 21 08:30:15 UTC 2026", "2026-11-21T08:30:15Z"), ("Sat Nov  7 09:30:15 2026", "2026-11-07T07:30:15Z"),
    ("Sat Nov 21 08:05:15 AM GMT 2026", "2026-11-21T08:05:15Z"),
    ("Fri Nov 20 12:30:15 PM 2026", "2026-11-20T10:30:15Z"), ("7 Nov 2026", "2026-11-06T22:00:00Z"),
    ("Sat Nov 21 10:30:15 2026 +0200", "2026-11-21T08:30:15Z"),
    ("@0", "1970-01-01T00:00:00Z"), ("@1795249815", "2026-11-21T08:30:15Z"),
    ("@1795249814.25", "2026-11-21T08:30:14.25Z"), ("@-1.5", "1969-12-31T23:59:58.5Z"),
    // Days by name; without a time from their beginning.
    ("today", "2026-11-20T22:00:00Z"), ("today 08:30", "2026-11-21T06:30:00Z"),
    ("today at 8:30", "2026-11-21T06:30:00Z"), ("yesterday", "2026-11-19T22:00:00Z"),
    ("yesterday 14:00", "2026-11-20T12:00:00Z"), ("yesterday 2pm", "2026-11-20T12:00:00Z"),
    ("yesterday 2:30 pm", "2026-11-20T12:30:00Z"), ("yesterday 12am", "2026-11-19T22:00:00Z"),
    ("yesterday noon", "2026-11-20T10:00:00Z"), ("09:15", "2026-11-21T07:15:00Z"),
    ("10:30:15", "2026-11-21T08:30:15Z"), ("9am", "2026-11-21T07:00:00Z"),
    // The newest day of that name, today if its time has been.
    ("monday 9:00", "2026-11-16T07:00:00Z"), ("friday", "2026-11-19T22:00:00Z"),
    ("saturday 9:00", "2026-11-21T07:00:00Z"), ("saturday 11:00", "2026-11-14T09:00:00Z"),
    ("Sun", "2026-11-14T22:00:00Z"), ("last saturday 9:00", "2026-11-14T07:00:00Z"),
    ("last friday", "2026-11-19T22:00:00Z"),
  ])
  func timesAreParsedAsPeopleWriteThem(text: String, expected: String) throws {
    let meant = try #require(RFC3339.timestamp(expected))
    #expect(try Self.read(text) == .time(meant), "\(text)")
  }

  /// Not a time: the newest commit may be of a clock that was ahead.
  @Test func nowIsNewestCommit() throws {
    for text in ["now", " NOW "] { #expect(try Self.read(text) == .now) }
  }

  @Test func missingDayOfMonthBecomesItsLast() throws {
    let leapDay = try #require(RFC3339.timestamp("2024-02-29T12:00:00Z"))
    #expect(
      try Self.read("1 year ago", now: leapDay, zone: 0) == .time(#require(RFC3339.timestamp("2023-02-28T12:00:00Z"))))
    #expect(
      try Self.read("4 years ago", now: leapDay, zone: 0) == .time(#require(RFC3339.timestamp("2020-02-29T12:00:00Z"))))
    let may = try #require(RFC3339.timestamp("2026-05-31T12:00:00Z"))
    #expect(
      try Self.read("3 months ago", now: may, zone: 0) == .time(#require(RFC3339.timestamp("2026-02-28T12:00:00Z"))))
    #expect(
      try Self.read("1 month ago", now: may, zone: 0) == .time(#require(RFC3339.timestamp("2026-04-30T12:00:00Z"))))
  }

  /// Clocks that were an hour ahead until 2026-10-25 01:00 in Greenwich, as in London.
  private static let london: LocalTimeZone = {
    let change: Int64 = (RFC3339.timestamp("2026-10-25T01:00:00Z") ?? 0) / 1_000_000
    return LocalTimeZone(
      offset: { $0 < change ? 3_600 : 0 }, moment: { $0 - 3_600 < change ? $0 - 3_600 : $0 })
  }()

  /// `date` prints the abbreviation of the local zone.
  @Test(arguments: [
    ("Sat Oct 24 12:00:00 BST 2026", "2026-10-24T11:00:00Z"), ("Sun Oct 25 01:30:00 BST 2026", "2026-10-25T00:30:00Z"),
    ("Sun Oct 25 01:30:00 GMT 2026", "2026-10-25T01:30:00Z"), ("Sat Oct 24 01:30:00 UTC 2026", "2026-10-24T01:30:00Z"),
    ("Sat Oct 24 01:30:00 PM BST 2026", "2026-10-24T12:30:00Z"), ("2026-10-24T12+01:00", "2026-10-24T11:00:00Z"),
    ("2026-10-24 12:00:01 bst", "2026-10-24T11:00:01Z"), ("2026-10-25T12+00:00", "2026-10-25T12:00:00Z"),
    ("2026-10-24T12-0530", "2026-10-24T17:30:00Z"),
  ])
  func abbreviationOfTheLocalZoneIsUnderstood(text: String, expected: String) throws {
    let now = try #require(RFC3339.timestamp("2026-10-26T08:30:00Z"))
    let meant = try #require(RFC3339.timestamp(expected))
    var clock = Self.london
    clock.abbreviation = { [offset = clock.offset] in offset($0) == 0 ? "GMT" : "BST" }
    #expect(try RevisionSpecifier(parsing: text, now: now, clock: clock) == .time(meant), "\(text)")
  }

  @Test(arguments: ["Sat Oct 24 12:00:00 CEST 2026", "Mon Oct 26 08:00:00 BST 2026", "2026-10-24 12:00:01 EST"])
  func abbreviationOfAnotherZoneIsRefused(text: String) throws {
    let now = try #require(RFC3339.timestamp("2026-10-26T08:30:00Z"))
    var clock = Self.london
    clock.abbreviation = { [offset = clock.offset] in offset($0) == 0 ? "GMT" : "BST" }
    let error = #expect(throws: RevisionSpecifierError.self) {
      try RevisionSpecifier(parsing: text, now: now, clock: clock)
    }
    #expect(error?.description.contains("names another time zone than yours") == true, "\(String(describing: error))")
    #expect(error?.description.contains("date -R or date -Iseconds") == true)
  }

  @Test(arguments: [
    ("2026-10-24 12:00", "2026-10-24T11:00:00Z"), ("2026-10-26 08:15", "2026-10-26T08:15:00Z"),
    ("2026-10-25", "2026-10-24T23:00:00Z"), ("2026-10-26", "2026-10-26T00:00:00Z"),
    ("yesterday 14:00", "2026-10-25T14:00:00Z"), ("yesterday", "2026-10-24T23:00:00Z"),
    ("saturday 9:00", "2026-10-24T08:00:00Z"), ("last week", "2026-10-19T08:30:00Z"),
    ("1 month ago", "2026-09-26T07:30:00Z"), ("today", "2026-10-26T00:00:00Z"),
  ])
  func localTimesAcrossClockChangesAreConverted(text: String, expected: String) throws {
    let now = try #require(RFC3339.timestamp("2026-10-26T08:30:00Z"))
    let meant = try #require(RFC3339.timestamp(expected))
    #expect(try RevisionSpecifier(parsing: text, now: now, clock: Self.london) == .time(meant), "\(text)")
  }

  /// In the hour that occurs twice, a time that a log has just shown is in the past, however the system reads it.
  @Test func ambiguousLocalTimeIsThePastOne() throws {
    let change = try #require(RFC3339.timestamp("2026-10-25T01:00:00Z")) / 1_000_000
    let later = LocalTimeZone(offset: Self.london.offset, moment: { $0 < change ? $0 - 3_600 : $0 })
    let now = try #require(RFC3339.timestamp("2026-10-25T01:10:00Z"))
    let meant = try #require(RFC3339.timestamp("2026-10-25T00:30:00Z"))
    for clock in [Self.london, later] {
      #expect(try RevisionSpecifier(parsing: "1:30", now: now, clock: clock) == .time(meant))
      #expect(throws: RevisionSpecifierError.self) { try RevisionSpecifier(parsing: "2:30", now: now, clock: clock) }
    }
  }

  @Test func skippedLocalTimeIsRefused() throws {
    let change = try #require(RFC3339.timestamp("2026-03-29T01:00:00Z")) / 1_000_000
    let now = try #require(RFC3339.timestamp("2026-03-29T01:10:00Z"))
    for ahead: Int64 in [0, 3_600] {
      let spring = LocalTimeZone(
        offset: { $0 < change ? 0 : 3_600 },
        moment: { $0 < change ? $0 : $0 < change + 3_600 ? $0 - ahead : $0 - 3_600 })
      for text in ["1:30", "2026-03-29 01:59:59", "sunday 1:30"] {
        let error = #expect(throws: RevisionSpecifierError.self) {
          try RevisionSpecifier(parsing: text, now: now, clock: spring)
        }
        #expect(error?.description == "\"\(text)\" does not exist: the clocks here skipped it")
      }
      let meant = try #require(RFC3339.timestamp("2026-03-29T00:59:00Z"))
      #expect(try RevisionSpecifier(parsing: "0:59", now: now, clock: spring) == .time(meant))
    }
  }

  /// The log shows the time of the commit, truncated to the second.
  @Test(arguments: [
    ("2026-11-21T08:30:05Z", "2026-11-21T08:30:05.999999Z"), ("10:30:05", "2026-11-21T08:30:05.999999Z"),
    ("2026-11-21 10:30:05+02:00", "2026-11-21T08:30:05.999999Z"), ("10:30:05.0", "2026-11-21T08:30:05Z"),
    ("10:30", "2026-11-21T08:30:00Z"), ("2026-11-21 10:30+02:00", "2026-11-21T08:30:00Z"),
    ("10:30:15", "2026-11-21T08:30:15Z"), ("10 minutes ago", "2026-11-21T08:20:15Z"),
  ])
  func secondIncludesItsEnd(text: String, expected: String) throws {
    let meant = try #require(RFC3339.timestamp(expected))
    #expect(
      try RevisionSpecifier(parsing: text, now: Self.now, clock: .fixed(Self.zone), toTheEnd: true) == .time(meant),
      "\(text)")
  }

  @Test func dayUsesLocalTimeZone() throws {
    // Half past one in the morning of the 21st there, still the 20th in Greenwich.
    let night = try #require(RFC3339.timestamp("2026-11-20T23:30:00Z"))
    #expect(try Self.read("today", now: night) == .time(#require(RFC3339.timestamp("2026-11-20T22:00:00Z"))))
    #expect(try Self.read("today", now: night, zone: 0) == .time(#require(RFC3339.timestamp("2026-11-20T00:00:00Z"))))
    #expect(
      try Self.read("today", now: night, zone: -18_000) == .time(#require(RFC3339.timestamp("2026-11-20T05:00:00Z"))))
  }

  @Test(arguments: [("120", 120), ("r120", 120), ("R0", 0), ("0", 0), (" 7 ", 7), ("r007", 7)])
  func numberIsARevision(text: String, revision: Revision) throws {
    #expect(try Self.read(text) == .revision(revision))
  }

  @Test(arguments: [
    "", " ", "r", "r-1", "-1", "1.5", "soon", "next century", "ago", "minutes ago", "some minutes ago",
    "10 minuets ago", "10 minutes", "-3 days ago", "yesterday 25:00", "yesterday 14:60", "yesterday 14", "monday 9:0",
    "today 13pm", "today 0am", "2026-13-01", "2026-02-29", "2026-11-21 24:00", "2026-11-21 9:30", "21.11.2026",
    "yesterday 14:00 please", "last", "last century", "last friday 30:00", "in", "next", "in a while", "tomorrow 30:00",
    "mo 9:00", "sat nov 21 13:30:15 pm utc 2026", "sat nov 31 10:30:15 2026",
    "sat nov 21 10:30:15 utc", "14:00:00:00", "r12 r13", "١٢٠",
  ])
  func invalidTimeListsForms(text: String) throws {
    let error = #expect(throws: RevisionSpecifierError.self) { try Self.read(text) }
    #expect(error?.reason == nil)
    let words = try #require(error).description
    #expect(words.contains("\"\(text)\"") && words.contains("yesterday 14:00") && words.contains("r120"))
  }

  @Test(arguments: [
    "today 10:31", "2026-11-21 10:30:16", "2027-01-01", "23:00", "9999-12-31T23:59:59Z", "tomorrow", "tomorrow 9:00",
    "in 5 minutes", "next week", "next friday 9:00",
  ])
  func futureTimeIsRefused(text: String) throws {
    let error = #expect(throws: RevisionSpecifierError.self) { try Self.read(text) }
    #expect(error?.description == "\"\(text)\" is in the future: only the past can be shown")
  }

  @Test(arguments: [
    "5000 years ago", "99999999999 years ago", "99999999999999999999 days ago", "9223372036854775807 seconds ago",
    "0001-01-01",
  ])
  func timeBeforeFirstYearIsRefused(text: String) throws {
    #expect(
      try #require(throws: RevisionSpecifierError.self) { try Self.read(text) }.reason?.contains("supported year")
        == true)
  }

  @Test func revisionBeyondRangeIsRefused() throws {
    #expect(throws: RevisionSpecifierError.self) { try Self.read("9223372036854775808") }
    #expect(try Self.read("9223372036854775807") == .revision(.max))
  }
}
