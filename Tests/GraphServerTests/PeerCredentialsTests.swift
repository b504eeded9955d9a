#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif
import GraphHub
import GraphModel
import Testing

@testable import GraphServer

/// The users at the other ends of sockets.
@Suite struct PeerCredentialsTests {
  private func name(_ user: uid_t) -> String? { user == 1_001 ? "bob" : nil }

  @Test func ownUserAndRootOwnTheMachine() {
    #expect(PeerCredentials.peer(of: 1_000, server: 1_000, name: name) == .owner)
    #expect(PeerCredentials.peer(of: 0, server: 1_000, name: name) == .owner)
  }

  @Test func anotherUserHasTheNameOfTheSystem() {
    #expect(PeerCredentials.peer(of: 1_001, server: 1_000, name: name) == .user(Principal(id: "uid:1001", name: "bob")))
    #expect(
      PeerCredentials.peer(of: 1_002, server: 1_000, name: name) == .user(Principal(id: "uid:1002", name: "uid:1002")))
    // A server of root gives its sessions to root only.
    #expect(PeerCredentials.peer(of: 1_001, server: 0, name: name) == .user(Principal(id: "uid:1001", name: "bob")))
  }

  @Test func systemTellsTheUserOfUnixSocketOnly() throws {
    var ends = [Int32](repeating: -1, count: 2)
    try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
    defer { for end in ends { close(end) } }
    #expect(PeerCredentials.user(ofSocket: ends[0]) == geteuid())
    #expect(PeerCredentials.peer(ofSocket: ends[0]) == .owner)
    let network = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(network) }
    #expect(PeerCredentials.user(ofSocket: network) == nil)
    #expect(PeerCredentials.peer(ofSocket: network) == .network)
    #expect(PeerCredentials.peer(ofSocket: -1) == nil)
  }
}
