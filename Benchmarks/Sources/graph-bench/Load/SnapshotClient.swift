import Foundation
import GraphClient
import GraphModel
import GraphWire

/// Reads all notes with the client library in its own process and keeps none, like a streaming program. Prints their
/// number, the seconds, and the peak growth of the process in KiB.
@MainActor
enum SnapshotClient {
  static func run(address text: String) async throws {
    let address = try ServerAddress(parsing: text)
    let model = try WireClient(address).model()
    guard let entity = model.entity(named: "Note") else { throw BenchmarkError(description: "there are no notes") }
    let client = try await GraphClient.connect(to: address, model: model, options: .init(author: "bench"))
    try ProcessFigures.forgetPeak(getpid())
    let before = ProcessFigures.value(of: "VmRSS", in: "/proc/self/status")
    let start = now()
    var count = 0
    for try await chunk in client.images(of: entity) { count += chunk.count }
    let seconds = now() - start
    let growth = ProcessFigures.value(of: "VmHWM", in: "/proc/self/status") - before
    say("\(count) \(seconds) \(growth)")
    await client.close()
  }
}
