/// The clocks of a place: how far they are ahead of Greenwich, through the year.
public struct WallClock: Sendable {
  /// The offset at a moment, in seconds east of Greenwich; the moment in seconds since 1970.
  public var offset: @Sendable (Int64) -> Int64
  /// The moment, in seconds since 1970, at which the clocks there show a time: that in seconds since 1970 as if it were
  /// Greenwich's. Of a time that they show twice, one of both; of one that they leap over, one beside it.
  public var moment: @Sendable (Int64) -> Int64

  /// Clocks of any kind.
  public init(offset: @escaping @Sendable (Int64) -> Int64, moment: @escaping @Sendable (Int64) -> Int64) {
    (self.offset, self.moment) = (offset, moment)
  }

  /// Clocks that are never changed.
  public static func fixed(_ seconds: Int64) -> WallClock {
    WallClock(offset: { _ in seconds }, moment: { $0 - seconds })
  }
}
