import ArgumentParser
import GraphClient
import GraphModel
import GraphOffline
import GraphReplicaStore
import GraphShell
import StickiesKit
import StickiesModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

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
        The first time the command shows the number of objects, and --yes then deletes those that you were shown. \
        Objects that others have changed since then stay; the command names them. It is refused while sync is off or \
        an edit was not sent.
        """)
    @OptionGroup var options: CommonOptions
    @Flag(help: "Do it, after the command has shown how many objects it would delete.") var yes = false

    @MainActor
    func run() async throws {
      let (address, replica) = (try options.address, try OfflineConnection.replica(of: options.address))
      let shown = ShownDeletion(replica)
      var objects = try replica.objectsToDelete(model: StickiesModel.model)
      guard yes else {
        try shown.record(objects.seen)
        throw Refusal(
          .denied,
          "\(Output.count(objects.count, "object")) would be deleted here and on the daemon: use --yes to do it")
      }
      if let seen = shown.recorded, seen.revision < objects.seen.revision {
        objects = OfflineReplica.Everything(objects.objects, seen: seen)
      }
      let outcome = try await options.connecting { security in
        do {
          return try await replica.deleteEverywhere(objects) {
            try await OfflineConnection.connection(address, security, $0)
          }
        } catch let refusal as Refusal where refusal.code == .conflict {
          // The server may no longer have what was shown.
          shown.forget()
          throw refusal
        }
      }
      shown.forget()
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

/// The state of the server that "sync delete-everywhere" has shown, in a file of the replica's folder. Any command may
/// have brought the copy up to date since then.
private struct ShownDeletion {
  private let file: PrivateFile

  init(_ replica: OfflineReplica) { file = PrivateFile(path: replica.path + "/delete-everywhere") }

  func record(_ token: Token) throws {
    do {
      try file.write("\(token.store) \(token.revision) \(token.fingerprint)\n")
    } catch {
      throw StoreFailure(.full, "\(error.path) can't be written", cause: error.cause, advice: "Free some space.")
    }
  }

  /// The recorded state; nil for none.
  var recorded: Token? {
    guard let bytes = FileManager.default.contents(atPath: file.path) else { return nil }
    let parts = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace)
    guard parts.count == 3, let store = UniqueID(String(parts[0])), let revision = Revision(parts[1]),
      let fingerprint = UInt64(parts[2])
    else { return nil }
    return Token(store: store, revision: revision, fingerprint: fingerprint)
  }

  func forget() { try? FileManager.default.removeItem(atPath: file.path) }
}
