import Foundation
import GraphWire

/// A running stickiesd with its own store, listening on a Unix-domain socket and on TCP.
final class Daemon {
  let process: ServerProcess
  private(set) var unix: ServerAddress
  private(set) var tcp = ServerAddress.tcp(host: "127.0.0.1", port: 0)
  /// The seconds from exec to the first "listening" line.
  private(set) var startSeconds = 0.0

  /// - Parameter schema: a folder with another model than that of the notes.
  init(_ bench: Bench, data: String, schema: String? = nil) throws {
    unix = .unix(path: data + ".socket")
    process = try ServerProcess(
      bench.daemon,
      ["--data", data, "--listen", "\(unix)", "--listen", "\(tcp)", "--log-level", "error"]
        + (schema.map { ["--schema", $0] } ?? []))
    for number in 0..<2 {
      let line = try process.line()
      if number == 0 { startSeconds = now() - process.startedAt }
      guard line.hasPrefix("listening ") else { throw BenchmarkError(description: "the daemon says: \(line)") }
      let address = try ServerAddress(parsing: String(line.dropFirst("listening ".count)))
      if case .tcp = address { tcp = address } else { unix = address }
    }
  }

  func stop() { process.stop() }
}
