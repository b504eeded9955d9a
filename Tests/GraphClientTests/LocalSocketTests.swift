import Foundation
import GraphTesting
import NIOCore
import Testing

@testable import GraphClient

/// A connection to a socket of this machine is made at once, or refused.
@Suite struct LocalSocketTests {
  private let folder: TemporaryDirectory
  private var path: String { folder.path + "/socket" }

  init() throws { folder = try TemporaryDirectory() }

  /// Listens at the path, with room for one connection that was not accepted.
  private func listen() throws -> CInt {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var name = sockaddr_un()
    name.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: path.utf8) }
    let code = withUnsafePointer(to: &name) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    try #require(code == 0 && listenAt(descriptor, 0) == 0)
    return descriptor
  }

  @Test func missingAndStaleSocketsAreRefused() throws {
    let missing = #expect(throws: IOError.self) { try LocalSocket.connect(path) }
    #expect(missing?.errnoCode == ENOENT)
    close(try listen())
    let stale = #expect(throws: IOError.self) { try LocalSocket.connect(path) }
    #expect(stale?.errnoCode == ECONNREFUSED)
  }

  /// Event loops wait for a server that is too busy, and explain a path that is too long.
  @Test func otherCasesAreLeftToTheEventLoop() throws {
    let server = try listen()
    var clients = [CInt]()
    while let client = try LocalSocket.connect(path) {
      clients.append(client)
      try #require(clients.count < 100)
    }
    #expect(!clients.isEmpty)
    for descriptor in clients + [server] { close(descriptor) }
    #expect(try LocalSocket.connect(String(repeating: "x", count: 108)) == nil)
    let longest = #expect(throws: IOError.self) { try LocalSocket.connect(String(repeating: "x", count: 107)) }
    #expect(longest?.errnoCode == ENOENT)
  }
}

/// Outside of the suite, which has a method of the system call's name.
private func listenAt(_ descriptor: CInt, _ backlog: CInt) -> CInt { listen(descriptor, backlog) }
