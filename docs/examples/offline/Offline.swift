import Foundation
import GraphClient
import GraphOffline

/// `swift run company-offline SERVER FOLDER`: adds a department for each line of its input, with the server or without.
@main struct Offline {
  @MainActor
  static func main() async throws {
    guard CommandLine.arguments.count == 3, let server = try? ServerAddress(parsing: CommandLine.arguments[1]) else {
      return say("usage: company-offline tcp://HOST:PORT|unix:///PATH FOLDER")
    }
    let kept = OfflineMode.kept(at: URL(filePath: CommandLine.arguments[2], directoryHint: .isDirectory))
    var options = GraphClient.Options(author: "ann@example")
    options.reconnects = false  // the program stays with the server, or with the copy
    let client = try await GraphClient.connect(
      to: server, model: CompanyModel.model, classes: CompanyModel.classes, options: options, offline: kept)
    while let code = readLine() {
      let department = Department(in: client.context)
      department.code = code
      try await client.save()  // on the server's disk, or on this computer's
      say("saved \(code)")
    }
    let codes = try await client.fetch(Department.self, sort: [\.code.ascending]).map(\.code)
    say("\(client.isOffline ? "offline" : "online"): \(codes.joined(separator: " "))")

    let replica = OfflineReplica(of: server, kept)
    if let status = try replica.status() { say("\(status.unsent) not sent, \(status.parked) in conflict") }
    for edit in try replica.conflicts(of: CompanyModel.model) { say("edit \(edit.number): \(edit.message)") }
    await client.close()
  }

  /// Prints a line at once, also into a pipe.
  static func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }
}
