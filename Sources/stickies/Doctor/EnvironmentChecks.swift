import GraphModel
import StickiesKit

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Checks the disk with the data.
enum DiskCheck {
  /// With less free space than this, commits may soon be refused.
  static let lowBytes: UInt64 = 64 << 20
  /// With less free space than this, nothing can be written.
  static let fullBytes: UInt64 = 1 << 20

  static func finding(_ folder: String) -> CheckResult {
    var space = statvfs()
    var path = folder
    // Before the first start the folder does not exist; its nearest existing parent is checked.
    while statvfs(path, &space) != 0 {
      guard errno == ENOENT, path.count > 1, let slash = path.lastIndex(of: "/") else {
        return CheckResult(
          "disk", .warning, "the disk of \(folder) can't be checked: \(String(cString: strerror(errno)))")
      }
      path = slash == path.startIndex ? "/" : String(path[..<slash])
    }
    let free = UInt64(space.f_bavail) * UInt64(space.f_frsize)
    let state = "\(free >> 20) MiB are free on the disk of \(folder)"
    let mend =
      "free some space on that disk, or move the data to a larger one; with some space, stop the daemon and remove old "
      + "history with stickiesd compact --keep-commits N"
    if space.f_blocks > 0, free < fullBytes {
      return CheckResult("disk", .problem, "the disk is full: \(state)", mend: mend)
    }
    if space.f_files > 0, space.f_favail == 0 {
      return CheckResult(
        "disk", .problem, "the disk of \(folder) has no room for new files", mend: "delete files there")
    }
    if space.f_blocks > 0, free < lowBytes { return CheckResult("disk", .warning, "only \(state)", mend: mend) }
    return CheckResult("disk", .fine, state)
  }
}

/// Compares the daemon's clock with this machine's.
enum ClockCheck {
  private static let toleratedSeconds: Int64 = 60

  /// - Parameter newest: the time of the newest commit; if it is in the future, the clocks differ.
  static func finding(newest: Timestamp?) -> CheckResult {
    let now = Int64(Date().timeIntervalSince1970 * 1_000_000)
    let ahead = if let newest, newest > now { (newest - now) / RFC3339.microsecondsPerSecond } else { Int64(0) }
    guard ahead > toleratedSeconds else {
      return CheckResult("clock", .fine, "the newest commit has no time in the future")
    }
    return CheckResult(
      "clock", .warning, "the newest commit is \(ahead) seconds ahead of this machine's clock",
      mend: "set the clocks of this machine and the daemon's, by NTP if you can")
  }
}

/// Checks the capabilities of the terminal.
enum TerminalCheck {
  static func findings(_ environment: [String: String] = ProcessInfo.processInfo.environment) -> [CheckResult] {
    func variable(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
    return [
      colors(variable("TERM"), areOff: variable("NO_COLOR") != nil),
      letters(variable("LC_ALL") ?? variable("LC_CTYPE") ?? variable("LANG")),
    ]
  }

  /// Checks the terminal's type; nil if it is not set.
  private static func colors(_ kind: String?, areOff: Bool) -> CheckResult {
    guard let kind, kind != "dumb" else {
      return CheckResult(
        "colors", .warning, "the terminal says it has no colors: TERM is \(kind == nil ? "not set" : "dumb")",
        mend: "set TERM to your terminal's type, such as xterm-256color")
    }
    if areOff { return CheckResult("colors", .fine, "off: NO_COLOR is set") }
    if ["vt100", "vt220", "linux", "xterm"].contains(kind) {
      return CheckResult(
        "colors", .warning, "TERM is \(kind), which has fewer than the 256 colors that notes use",
        mend: "set TERM to xterm-256color if your terminal has them")
    }
    return CheckResult("colors", .fine, "TERM is \(kind)")
  }

  /// Checks the locale; nil if it is not set.
  private static func letters(_ locale: String?) -> CheckResult {
    let advice = "export LANG=C.UTF-8"
    guard let locale else {
      return CheckResult("letters", .warning, "the locale is not set, which is not UTF-8", mend: advice)
    }
    guard locale.lowercased().filter({ $0 != "-" }).hasSuffix("utf8") else {
      return CheckResult("letters", .warning, "the locale is \(locale), which is not UTF-8", mend: advice)
    }
    return CheckResult("letters", .fine, "the locale is \(locale)")
  }
}
