import ArgumentParser
import GraphClient
import GraphModel
import GraphShell
import GraphWire
import StickiesKit

struct Status: AsyncParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Show the state of the daemon and its store.")

  @OptionGroup var options: CommonOptions

  @MainActor
  func run() async throws {
    // Works with any model; only a model with notes has a next number.
    try await options.withGraph { shell in
      let status = try await shell.client.status()
      let next = Self.nextNumber(status, shell.client.context.model)
      if shell.output.json {
        var members = [
          JSON.Member("server", .string(status.server)), .init("address", .string(shell.client.address.description)),
          .init("transport", .string(TransportDescription.text(shell.client))),
          .init("user", .string(shell.client.author)), .init("role", .string(Self.role(shell.client))),
          .init("process", .integer(Int64(status.process))), .init("data", .string(status.location)),
          .init("size", .integer(Int64(status.size))),
          .init("commitLogSize", .integer(Int64(status.commitLogSize))),
          .init("store", .string(status.head.store.hyphenated)),
          .init("revision", .integer(status.head.revision)), .init("oldest", .integer(status.oldest)),
        ]
        if let next { members.append(.init("nextNumber", .integer(next))) }
        members += [
          .init("sessions", .integer(Int64(status.sessions))),
          .init("registrations", .integer(Int64(status.registrations))),
        ]
        if !status.web.isEmpty { members.append(.init("web", .string(status.web))) }
        if !status.exposures.isEmpty { members.append(.init("exposures", .array(status.exposures.map(JSON.string)))) }
        if !status.failure.isEmpty { members.append(.init("failure", .string(status.failure))) }
        shell.output.print(JSON.object(members))
      } else {
        shell.output.print(
          """
          server         \(status.server) (process \(status.process)) at \(shell.client.address)
          transport      \(TransportDescription.text(shell.client))
          user           \(shell.client.author) (\(Self.role(shell.client)))
          data           \(status.location)
          \(status.web.isEmpty ? "" : "web board      \(status.web)\n")\
          \(Self.sizes(status))\
          revision       \(status.head.revision)
          oldest kept    \(status.oldest)\
          \(next.map { "\nnext note      #\($0)" } ?? "")\
          \(Self.sessions(status))\
          \(status.failure.isEmpty ? "" : "\ncommits        refused: \(status.failure)")\
          \(status.exposures.map { "\nwarning        \($0)" }.joined())
          """)
      }
    }
  }

  /// The lines with the sizes; none for a user who sees a part of the graph, from whom the daemon withholds them.
  private static func sizes(_ status: ServerStatus) -> String {
    if status.size == 0 { return "" }
    let log = status.commitLogSize == 0 ? "not in use" : "\(status.commitLogSize) bytes"
    return "size           \(status.size) bytes\ncommit log     \(log)\n"
  }

  /// The line with the other sessions; none for a user who sees a part of the graph.
  private static func sessions(_ status: ServerStatus) -> String {
    if status.size == 0 { return "" }
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
