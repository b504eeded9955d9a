import ArgumentParser
import CommandLineIO
import Foundation
import GraphAccess
import GraphModel

/// `stickiesd audit`
struct AuditCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "audit", abstract: "Show logins, refusals, and changes of rights.",
    discussion: """
      A line for each event, the oldest first: logins of users with their addresses, refused credentials and requests, \
      and each change of users, tokens and grants. It contains no notes and no secrets. Programs of the daemon's own \
      user are not listed. "+3" at the end of a line counts the further events of the kind in the ten seconds before it.
      """)

  @OptionGroup var store: StoreFlags
  @Option(
    help: ArgumentHelp(
      "Only events since then: a time such as 2026-11-28T17:00:00Z, or an age such as 24h.", valueName: "time"))
  var since: String?
  @Option(help: ArgumentHelp("Only events of this user: a name, or an id of stickiesd user list.", valueName: "name"))
  var user: String?
  @Flag(help: "Print each event as a line of JSON.") var json = false

  func validate() throws {
    if let since, Self.time(since, now: AccountCommand.now) == nil {
      throw ValidationError("--since takes a time such as 2026-11-28T17:00:00Z, or \(DurationOption.expected)")
    }
  }

  mutating func run() async throws {
    let (name, json) = (user, json)
    let start = since.flatMap { Self.time($0, now: AccountCommand.now) }
    try await StoreCommand.reportingFailures(json: json) {
      let directory = try await store.settings().data
      let file = try AccessFile.open(directory: directory)
      let users = if let file { try file.users(withRemoved: true) } else { [AccessUser]() }
      let names = AuditNames(users)
      let wanted = try name.map { try names.ids(of: $0) }
      let log = try AuditLog(directory: directory).entries()
      let changes = if let file { try file.changes() } else { [AuditEntry]() }
      // Each of the two lists is in order, except after a change of the clock. Entries with equal times keep their
      // order.
      let entries = (changes + log.entries).enumerated()
        .sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }.map(\.element)
      for entry in entries {
        if let start, entry.time < start { continue }
        if let wanted, !wanted.contains(where: { entry.user == $0 }) { continue }
        Console.print(json ? names.json(entry).text : names.line(entry))
      }
      if log.damaged > 0 {
        StandardError.write(
          "stickiesd: \(log.damaged) lines of \(AuditLog.name) can't be read; the others are listed")
      }
    }
  }

  /// The time of `--since`; nil for an invalid text.
  static func time(_ text: String, now: Timestamp) -> Timestamp? {
    if let age = DurationOption(text) { return now - age.microseconds }
    return RFC3339.timestamp(text)
  }
}

/// The names of users for the lines of the audit log. The log itself contains only ids, so that erased names are in no
/// line.
struct AuditNames {
  private let users: [AccessUser]
  private let names: [String: String]

  init(_ users: [AccessUser]) {
    self.users = users
    names = Dictionary(uniqueKeysWithValues: users.map { ($0.principal.id, $0.name) })
  }

  /// The ids of the users with a name, removed ones included; or an id itself.
  func ids(of name: String) throws -> [String] {
    if Principal.isReserved(name) { return [name] }
    let ids = users.filter { UTF8Comparison.equal($0.name, name) }.map(\.principal.id)
    guard !ids.isEmpty else {
      throw Refusal(.notFound, "there is no user \"\(name)\"; stickiesd user list --all shows the users")
    }
    return ids
  }

  func json(_ entry: AuditEntry) -> JSON {
    guard case .object(var members) = entry.json else { preconditionFailure("an entry is an object") }
    if let user = entry.user, let name = names[user], !name.isEmpty { members.append(.init("name", .string(name))) }
    return .object(members)
  }

  /// The entry as one line. Names and reasons are escaped, because other users have chosen them.
  func line(_ entry: AuditEntry) -> String {
    var parts = [RFC3339.text(entry.time), entry.event]
    if let user = entry.user {
      let shown = if let name = names[user], !name.isEmpty { name } else { user }
      parts.append(shown)
    }
    if let address = entry.address { parts.append(address) }
    if let token = entry.token { parts.append("token \(token)") }
    if !entry.text.isEmpty { parts.append(entry.text) }
    if entry.omitted > 0 { parts.append("+\(entry.omitted)") }
    return parts.map(\.escapedForLine).joined(separator: "  ")
  }
}
