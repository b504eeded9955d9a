import ArgumentParser
import GraphModel
import StickiesKit

#if canImport(Glibc)
  import Glibc
#endif

/// `--at`: which state of the graph a command reads.
struct Past: ParsableArguments {
  @Option(
    name: .customLong("at"), parsing: .unconditional,
    help: ArgumentHelp(
      """
      As it was: at a revision (120 or r120) or a time (2026-11-21 09:30, "10 minutes ago", "yesterday 14:00", \
      "monday 9:00").
      """,
      valueName: "when"))
  var text: String?

  func validate() throws { _ = try when() }

  private func when() throws -> When? {
    try text.map { try When($0, option: "--at") }
  }

  /// The shell for that state; a time is resolved by the daemon, and a person is told to what.
  @MainActor
  func shell(_ shell: Shell) async throws -> Shell {
    var past = shell
    switch try when() {
    case nil: break
    case .revision(let revision)?: past.revision = revision
    case .now?: past.revision = try await resolved(.max, shell)
    case .time(let time)?: past.revision = try await resolved(time, shell)
    }
    return past
  }

  /// The revision of a time, which is said on standard error.
  @MainActor
  private func resolved(_ time: Timestamp, _ shell: Shell) async throws -> Revision {
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

/// The clock and the zone of whoever types.
enum LocalClock {
  static var now: Timestamp {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Timestamp(time.tv_sec) * Dates.microsecondsPerSecond + Timestamp(time.tv_nsec / 1_000)
  }

  /// The clocks of the place that the environment names.
  static let wall = WallClock(
    offset: { moment in
      var time = time_t(moment)
      var fields = tm()
      localtime_r(&time, &fields)
      return Int64(fields.tm_gmtoff)
    },
    moment: { wall in
      var time = time_t(wall)
      var fields = tm()
      // The fields of the calendar are the same everywhere; where they are is for `mktime` to say.
      gmtime_r(&time, &fields)
      fields.tm_isdst = -1
      return Int64(mktime(&fields))
    })
}

extension Shell {
  /// An object that a person names, as it was. It is looked for among what is there now, and read by its id then, which
  /// costs little however long ago it was; what is not there any more is looked for among what was.
  /// - Parameter noun: what the search says there is none of.
  func find(_ noun: String, _ search: (Shell) async throws -> ObjectImage) async throws -> ObjectImage {
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
        throw Refusal(.notFound, refusal.message + " at revision \(revision), nor now")
      }
    }
    let entity = model.entity(known.id.entity)?.name ?? ""
    if let image = try await images(entity, where: .identifiers([known.id])).first { return image }
    throw Refusal(.notFound, "\(entity) \(known.id.description.prefix(8)) was not there at revision \(revision)")
  }
}
