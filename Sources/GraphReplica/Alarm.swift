/// When the owner of a replica wakes to tick it. The deadline moves with almost every frame; a sleep that is begun anew costs
/// more than most frames do.
///
/// So a sleep is begun anew when it would end too late. One that ends too early does so in vain, and is put off only once
/// until it has rung: the answer to a ping puts it off to the next ping, and somebody who idles wakes for nothing else.
public struct Alarm: Hashable, Sendable {
  /// When it rings; nil when nobody sleeps.
  public private(set) var time: Int64?
  private var wasPutOff = false

  /// Nobody sleeps.
  public init() {}

  /// It is to ring at the deadline, or before.
  /// - Returns: whether a sleep until `time` begins, instead of one that is under way.
  public mutating func set(to deadline: Int64) -> Bool {
    if let time {
      guard deadline < time || (deadline > time && !wasPutOff) else { return false }
      wasPutOff = wasPutOff || deadline > time
    }
    time = deadline
    return true
  }

  /// The sleep is over.
  public mutating func ring() { self = Alarm() }
}
