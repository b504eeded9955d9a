import ArgumentParser
import GraphModel
import StickiesFiles
import StickiesKit

#if canImport(Glibc)
  import Glibc
#endif

/// The option `--at`: the state of the graph that a command reads.
struct PastOption: ParsableArguments {
  @Option(
    name: .customLong("at"), parsing: .unconditional,
    help: ArgumentHelp(
      """
      Read an earlier state: at a revision (120 or r120) or a time (2026-11-21 09:30, "10 minutes ago", \
      "yesterday 14:00", "monday 9:00").
      """,
      valueName: "when"))
  var text: String?

  func validate() throws { _ = try when() }

  private func when() throws -> RevisionSpecifier? {
    try text.map { try RevisionSpecifier($0, option: "--at") }
  }

  /// A shell that reads that state; the daemon resolves a time, and the user is informed of the revision.
  @MainActor
  func shell(_ shell: CommandContext) async throws -> CommandContext {
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
      StandardError.write("stickies: as of revision \(found.revision)\(commit)")
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
    })
}

extension CommandContext {
  /// Finds an object by a user's description and returns it as of the past revision. It is searched in the present
  /// and then read by id, which is fast for any revision; a deleted object is searched in the past state.
  /// - Parameter noun: the noun in the search's message that nothing was found.
  func find(_ noun: String, _ search: (CommandContext) async throws -> ObjectImage) async throws -> ObjectImage {
    guard let revision else { return try await search(self) }
    var present = self
    present.revision = nil
    let known: ObjectImage
    do {
      known = try await search(present)
    } catch let refusal as Refusal where refusal.code == .notFound {
      do {
        return try await search(self)
      } catch let refusal as Refusal where refusal.message.hasPrefix("there is no \(noun)") {
        throw Refusal(.notFound, refusal.message + " at revision \(revision) or now")
      }
    }
    let entity = model.entity(known.id.entity)?.name ?? ""
    if let image = try await images(entity, where: .identifiers([known.id])).first { return image }
    throw Refusal(.notFound, "\(entity) \(known.id.description.prefix(8)) did not exist at revision \(revision)")
  }
}
