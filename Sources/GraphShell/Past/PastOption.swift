import ArgumentParser
import GraphModel

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The option `--at`: the state of the graph that a command reads.
package struct PastOption: ParsableArguments {
  @Option(
    name: .customLong("at"), parsing: .unconditional,
    help: ArgumentHelp(
      """
      Show an earlier state: at a revision (120 or r120) or a time (2026-11-21 09:30, "10 minutes ago", \
      "yesterday 14:00", "monday 9:00").
      """,
      valueName: "when"))
  package var text: String?

  package init() {}

  package func validate() throws { _ = try when() }

  private func when() throws -> RevisionSpecifier? {
    try text.map { try RevisionSpecifier($0, option: "--at") }
  }

  /// A shell that reads that state; the daemon resolves a time, and the user is informed of the revision.
  @MainActor
  package func shell(_ shell: CommandContext) async throws -> CommandContext {
    var past = shell
    switch try when() {
    case nil: break
    case .revision(let revision)?: past.revision = revision
    case .now?: past.revision = try await resolved(.max, shell)
    case .time(let time)?: past.revision = try await resolved(time, shell)
    }
    return past
  }

  /// The revision at a time, which is also printed on standard error.
  @MainActor
  private func resolved(_ time: Timestamp, _ shell: CommandContext) async throws -> Revision {
    let found = try await shell.client.revision(at: time)
    if !shell.output.json {
      let commit =
        found.revision == 0
        ? ", before the first commit"
        : ", \(Output.localTime(found.time)) by \(TextTable.visible(found.author))"
      shell.output.message("as of revision \(found.revision)\(commit)")
    }
    return found.revision
  }
}

/// The clock and time zone of the user.
enum LocalClock {
  static var now: Timestamp {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Timestamp(time.tv_sec) * RFC3339.microsecondsPerSecond + Timestamp(time.tv_nsec / 1_000)
  }

  /// Conversions in the time zone of the environment.
  static let wall = LocalTimeZone(
    offset: { moment in
      var time = time_t(moment)
      var fields = tm()
      localtime_r(&time, &fields)
      return Int64(fields.tm_gmtoff)
    },
    moment: { wall in
      var time = time_t(wall)
      var fields = tm()
      // `gmtime_r` supplies the calendar fields of the wall time; `mktime` interprets them in the time zone.
      gmtime_r(&time, &fields)
      fields.tm_isdst = -1
      return Int64(mktime(&fields))
    },
    abbreviation: { moment in
      var time = time_t(moment)
      var fields = tm()
      localtime_r(&time, &fields)
      return fields.tm_zone.map { String(cString: $0) }
    })
}
