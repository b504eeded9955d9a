import GraphModel

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Formats times in the local time zone.
public enum LocalTime {
  /// Formats a time as `14:03:22`, preceded by the date unless it is today.
  public static func text(_ time: Timestamp) -> String {
    func fields(_ seconds: time_t) -> tm {
      var seconds = seconds
      var fields = tm()
      localtime_r(&seconds, &fields)
      return fields
    }
    let then = fields(time_t(time / RFC3339.microsecondsPerSecond))
    let now = fields(currentTime())
    func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let clock = "\(two(then.tm_hour)):\(two(then.tm_min)):\(two(then.tm_sec))"
    if then.tm_year == now.tm_year, then.tm_yday == now.tm_yday { return clock }
    return "\(then.tm_year + 1900)-\(two(then.tm_mon + 1))-\(two(then.tm_mday)) \(clock)"
  }
}

/// `time` of the C library, which a parameter hides.
private func currentTime() -> time_t { time(nil) }
