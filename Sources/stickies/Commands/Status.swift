import ArgumentParser
import GraphClient
import GraphModel
import GraphShell
import GraphWire
import StickiesKit

struct Status: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "Show the state of the daemon and its store.")

  @OptionGroup var options: CommonOptions

  @MainActor
  func run() async throws {
    // Works with any model; only a model with notes has a next number.
    try await options.withGraph { shell in
      let status = try await shell.client.status()
      let roles = try await GrantedRoles(shell)
      if shell.output.json {
        shell.output.print(Self.json(status, roles, shell.client))
      } else {
        shell.output.print(Self.text(status, roles, shell.client))
      }
    }
  }

  @MainActor
  private static func json(_ status: ServerStatus, _ roles: GrantedRoles, _ client: GraphClient) -> JSON {
    var members = [
      JSON.Member("server", .string(status.server)), .init("address", .string(client.address.description)),
      .init("transport", .string(TransportDescription.text(client))), .init("user", .string(client.author)),
      .init("established", .string(Identity(client).rawValue)), .init("role", .string(role(client))),
      .init("grants", roles.json),
    ]
    // The daemon withholds them from users with a role.
    if !status.location.isEmpty {
      members += [.init("process", .integer(Int64(status.process))), .init("data", .string(status.location))]
    }
    if !hidesFigures(status) {
      members += [
        .init("size", .integer(Int64(status.size))), .init("commitLogSize", .integer(Int64(status.commitLogSize))),
      ]
    }
    members += [
      .init("store", .string(status.head.store.hyphenated)), .init("revision", .integer(status.head.revision)),
      .init("oldest", .integer(status.oldest)),
    ]
    if let next = nextNumber(status, client.context.model) { members.append(.init("nextNumber", .integer(next))) }
    if !hidesFigures(status) {
      members += [
        .init("sessions", .integer(Int64(status.sessions))),
        .init("registrations", .integer(Int64(status.registrations))),
      ]
    }
    if !status.web.isEmpty { members.append(.init("web", .string(status.web))) }
    if !status.exposures.isEmpty { members.append(.init("exposures", .array(status.exposures.map(JSON.string)))) }
    if !status.failure.isEmpty { members.append(.init("failure", .string(status.failure))) }
    return .object(members)
  }

  @MainActor
  private static func text(_ status: ServerStatus, _ roles: GrantedRoles, _ client: GraphClient) -> String {
    """
    server         \(TextTable.visible(status.server))\(process(status)) at \(client.address)
    transport      \(TransportDescription.text(client))
    user           \(TextTable.visible(client.author)) (\(role(client)))
    identity       \(Identity(client).sentence)\(roles.text("rights         "))
    \(status.location.isEmpty ? "" : "data           \(TextTable.visible(status.location))\n")\
    \(status.web.isEmpty ? "" : "web board      \(TextTable.visible(status.web))\n")\
    \(sizes(status))\
    revision       \(status.head.revision)
    oldest kept    \(status.oldest)\
    \(nextNumber(status, client.context.model).map { "\nnext note      #\($0)" } ?? "")\
    \(sessions(status))\
    \(status.failure.isEmpty ? "" : "\ncommits        refused: \(TextTable.visible(status.failure))")\
    \(status.exposures.map { "\nwarning        \(TextTable.visible($0))" }.joined())
    """
  }

  /// Whether the daemon withholds the figures that count everything, from a user who sees a part of it. A store has a
  /// size.
  private static func hidesFigures(_ status: ServerStatus) -> Bool { status.size == 0 }

  /// The number of the process; empty if the daemon withholds it.
  private static func process(_ status: ServerStatus) -> String {
    status.process == 0 ? "" : " (process \(status.process))"
  }

  /// The lines with the sizes.
  private static func sizes(_ status: ServerStatus) -> String {
    if hidesFigures(status) { return "" }
    let log = status.commitLogSize == 0 ? "not in use" : "\(status.commitLogSize) bytes"
    return "size           \(status.size) bytes\ncommit log     \(log)\n"
  }

  /// The line with the other sessions.
  private static func sessions(_ status: ServerStatus) -> String {
    if hidesFigures(status) { return "" }
    let queries = Output.count(Int(status.registrations), "live query", "live queries")
    return "\nsessions       \(Output.count(Int(status.sessions), "other")), \(queries)"
  }

  /// The role of the user.
  @MainActor
  private static func role(_ client: GraphClient) -> String {
    guard let welcome = client.welcome else {
      preconditionFailure("a command has a connection that was welcomed")
    }
    return welcome.role
  }

  /// The number of the next note; nil if the model has no notes.
  private static func nextNumber(_ status: ServerStatus, _ model: Model) -> Int64? {
    guard let number = model.entity(named: Note.entityName)?.property(named: NoteProperties.number.name) else {
      return nil
    }
    // Each sequence has a counter, unless the daemon withholds them from a user who sees a part of the graph.
    return status.counters.first { $0.property == number.number }?.next
  }
}
