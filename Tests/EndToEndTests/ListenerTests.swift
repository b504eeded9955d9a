import Foundation
import Testing

/// The TCP addresses on which the system says that a daemon listens.
@Suite struct ListenerTests {
  private let daemon: Daemon

  init() throws { daemon = try Daemon() }

  /// The addresses as the kernel writes them: an address and a port in hexadecimal digits.
  private func addresses() throws -> Set<String> {
    let process = "/proc/\(daemon.process.processIdentifier)"
    let descriptors = try FileManager.default.contentsOfDirectory(atPath: process + "/fd")
    // A descriptor may have been closed since they were listed.
    let sockets = Set(
      descriptors.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "\(process)/fd/\($0)") }
        .filter { $0.hasPrefix("socket:[") }.map { String($0.dropFirst("socket:[".count).dropLast()) })
    #expect(!sockets.isEmpty, "the daemon has sockets")
    var found = Set<String>()
    for table in ["tcp", "tcp6"] {
      let text = try String(contentsOfFile: "\(process)/net/\(table)", encoding: .utf8)
      for line in text.split(separator: "\n").dropFirst() {
        let fields = line.split(separator: " ").map(String.init)
        // The state of a socket that listens, and its inode.
        if fields.count > 9, fields[3] == "0A", sockets.contains(fields[9]) { found.insert(fields[1]) }
      }
    }
    return found
  }

  /// A port on 127.0.0.1, in the kernel's form.
  private func loopback(_ address: String) throws -> String {
    let digits = address.split(separator: ":").last?.prefix { $0.isNumber }
    let port = try #require(digits.flatMap { Int($0) }, "\(address)")
    let text = String(port, radix: 16, uppercase: true)
    return "0100007F:" + String(repeating: "0", count: 4 - text.utf8.count) + text
  }

  @Test func daemonWithASocketListensOnNoPort() throws {
    try daemon.start(listen: [])
    #expect(try addresses() == [])
    #expect(daemon.stop() == 0)
  }

  @Test func daemonListensOnItsAddressesOnly() throws {
    try daemon.start()
    // HTTP is served only if it was asked for.
    #expect(try addresses() == [try loopback(daemon.tcp)])
    #expect(daemon.stop() == 0)
  }
}
