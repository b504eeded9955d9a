/// A time zone: its offset from UTC at each time.
struct LocalTimeZone: Sendable {
  /// Returns the offset at a time, in seconds east of UTC; the time is in seconds since 1970.
  var offset: @Sendable (Int64) -> Int64
  /// Returns the time, in seconds since 1970, of a local time, which is given in seconds since 1970 as if it were
  /// UTC. For an ambiguous local time it returns either time; for a skipped one, a time near the gap.
  var moment: @Sendable (Int64) -> Int64

  /// Returns the zone's abbreviation at a time, such as `CEST`; nil if it has none. The time is in seconds since 1970.
  var abbreviation: @Sendable (Int64) -> String?

  /// Creates a time zone.
  init(
    offset: @escaping @Sendable (Int64) -> Int64, moment: @escaping @Sendable (Int64) -> Int64,
    abbreviation: @escaping @Sendable (Int64) -> String? = { _ in nil }
  ) {
    (self.offset, self.moment, self.abbreviation) = (offset, moment, abbreviation)
  }

  /// Returns a time zone with a fixed offset.
  static func fixed(_ seconds: Int64) -> LocalTimeZone {
    LocalTimeZone(offset: { _ in seconds }, moment: { $0 - seconds })
  }
}
