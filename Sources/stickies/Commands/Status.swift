import ArgumentParser
import GraphClient
import GraphModel
import GraphWire
import StickiesKit

struct Status: AsyncParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Tell about the daemon and its store.")

  @OptionGroup var options: Options

  @MainActor
  func run() async throws {
    try await options.withShell { shell in
      let status = try await shell.client.status()
      let number = shell.property("Note", "number").number
      let next = status.counters.first { $0.property == number }?.next ?? 1
      if shell.output.json {
        shell.output.print(
          JSON.object([
            .init("server", .string(status.server)), .init("address", .string(shell.client.address.description)),
            .init("process", .integer(Int64(status.process))), .init("data", .string(status.location)),
            .init("size", .integer(Int64(status.size))), .init("store", .string(status.head.store.hyphenated)),
            .init("revision", .integer(status.head.revision)), .init("oldest", .integer(status.oldest)),
            .init("nextNumber", .integer(next)),
            .init("sessions", .integer(Int64(status.sessions))),
            .init("registrations", .integer(Int64(status.registrations))),
          ]))
      } else {
        shell.output.print(
          """
          server         \(status.server) (process \(status.process)) at \(shell.client.address)
          data           \(status.location)
          size           \(status.size) bytes
          revision       \(status.head.revision)
          oldest kept    \(status.oldest)
          next note      #\(next)
          sessions       \(Output.count(Int(status.sessions), "other")), \
          \(Output.count(Int(status.registrations), "live query", "live queries"))
          """)
      }
    }
  }
}
