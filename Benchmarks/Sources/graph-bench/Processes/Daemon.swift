import Foundation
import GraphWire

/// A running stickiesd with its own store, listening on a Unix-domain socket and on TCP, encrypted or not.
final class Daemon {
  let process: ServerProcess
  private(set) var unix: ServerAddress
  private(set) var tcp = ServerAddress.tcp(host: "127.0.0.1", port: 0)
  /// The port of HTTP; nil if it is not served.
  private(set) var httpPort: Int?
  /// The seconds from exec to the first "listening" line.
  private(set) var startSeconds = 0.0

  /// - Parameters:
  ///   - schema: a folder with another model than that of the notes.
  ///   - servesHTTP: whether it serves HTTP, on a free port.
  ///   - encrypts: whether TCP is encrypted; the certificate is in the data directory.
  init(
    _ bench: Bench, data: String, schema: String? = nil, servesHTTP: Bool = false, encrypts: Bool = false
  ) throws {
    if encrypts { tcp = .tls(host: "127.0.0.1", port: 0) }
    unix = .unix(path: data + ".socket")
    process = try ServerProcess(
      bench.daemon,
      ["--data", data, "--listen", "\(unix)", "--listen", "\(tcp)", "--log-level", "error"]
        + (schema.map { ["--schema", $0] } ?? []) + (servesHTTP ? ["--http", "127.0.0.1:0"] : []))
    for number in 0..<2 {
      let line = try process.line()
      if number == 0 { startSeconds = now() - process.startedAt }
      guard line.hasPrefix("listening ") else { throw BenchmarkError(description: "the daemon says: \(line)") }
      let address = try ServerAddress(parsing: String(line.dropFirst("listening ".count)))
      if case .unix = address { unix = address } else { tcp = address }
    }
    if servesHTTP {
      let line = try process.line()
      guard line.hasPrefix("listening http://"), let port = line.split(separator: ":").last.flatMap({ Int($0) }) else {
        throw BenchmarkError(description: "the daemon says: \(line)")
      }
      httpPort = port
    }
  }

  func stop() { process.stop() }
}
