import ArgumentParser
import GraphClient
import GraphModel
import GraphOffline
import GraphReplicaStore
import GraphShell
import StickiesKit
import StickiesModel

extension SyncCommand {
  struct Reset: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "reset", abstract: "Load the copy again; nothing is deleted on the daemon.",
      discussion: """
        Edits that were not sent stay, and are sent. With --discard-unsent they are moved to a file, which the command \
        names, when the daemon answers.
        """)
    @OptionGroup var options: CommonOptions
    @Flag(help: "Write the edits that were not sent to a file, and remove them.") var discardUnsent = false
    @Flag(help: "Do not ask.") var yes = false

    @MainActor
    func run() async throws {
      let (address, replica) = (try options.address, try OfflineConnection.replica(of: options.address))
      if discardUnsent {
        let counts = try replica.counts()
        guard yes || counts.unsent + counts.parked == 0 else {
          throw Refusal(
            .denied,
            "\(Output.count(counts.unsent + counts.parked, "edit")) would be removed: use --yes to do it; they are "
              + "written to a file first")
        }
      }
      let output = SyncOutput(options, replica).output
      let (file, report) = try await options.connecting { security in
        try await replica.reset(discardingUnsent: discardUnsent) {
          try await OfflineConnection.connection(address, security, $0)
        }
      }
      if let file { output.message("the removed edits are in \(file)") }
      try SyncOutput(options, replica).show(report)
    }
  }

  struct DeleteEverywhere: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "delete-everywhere", abstract: "Delete everything that the copy has, here and on the daemon.",
      discussion: """
        Objects that others have changed since you received them stay; the command names them. It is refused while \
        sync is off or an edit was not sent.
        """)
    @OptionGroup var options: CommonOptions
    @Flag(help: "Do it; without this the command only shows how many objects it would delete.") var yes = false

    @MainActor
    func run() async throws {
      let (address, replica) = (try options.address, try OfflineConnection.replica(of: options.address))
      let objects = try replica.objectsToDelete(model: StickiesModel.model)
      guard yes else {
        throw Refusal(
          .denied,
          "\(Output.count(objects.count, "object")) would be deleted here and on the daemon: use --yes to do it")
      }
      let outcome = try await options.connecting { security in
        try await replica.deleteEverywhere(objects) { try await OfflineConnection.connection(address, security, $0) }
      }
      let output = SyncOutput(options, replica).output
      if output.json {
        output.print(
          JSON.object([
            .init("deleted", .integer(Int64(outcome.deleted))),
            .init("kept", .array(outcome.kept.map { .string($0.description) })),
          ]))
      } else {
        output.print("\(Output.count(outcome.deleted, "object")) deleted")
        for id in outcome.kept { output.print("\(id) stays: others have changed it") }
      }
    }
  }
}
