import Foundation
import GraphClient
import GraphHub
import GraphModel
import GraphReplica
import GraphServer
import GraphTesting
import Synchronization
import Testing

/// Clients that log in with a token.
@MainActor
@Suite(.timeLimit(.minutes(1))) struct CredentialsTests {
  /// Knows two tokens, which it can end.
  private final class Accounts: Authenticating {
    private let ended = Mutex(Set<UInt64>())

    private static let users: [String: (Principal, UInt64)] = [
      "a": (Principal(id: "user:a", name: "ann"), 1), "b": (Principal(id: "user:b", name: "bob"), 2),
    ]

    func end(_ token: UInt64) { ended.withLock { _ = $0.insert(token) } }

    func authenticate(_ credential: String?) -> Result<ClientIdentity, Refusal> {
      guard let credential, let (principal, token) = Self.users[credential],
        ended(among: [token: 0]).isEmpty
      else {
        return .failure(Refusal(.notAllowed, "the token is wrong"))
      }
      return .success(.user(principal, token: token, access: GrantedAccess(.editor, of: principal)))
    }

    func ended(among tokens: [UInt64: Int64]) -> [UInt64: Refusal] {
      let ended = ended.withLock { $0.intersection(tokens.keys) }
      return Dictionary(uniqueKeysWithValues: ended.map { ($0, Refusal(.notAllowed, "the token was revoked")) })
    }

    func erasedPrincipals() -> [String] { [] }

    func record(generation: Int64, of principal: String, at revision: Revision) {}

    func record(_ event: AuditEvent, from address: String, omitted: Int) {}
  }

  @Test func authorIsTheUserOfTheToken() async throws {
    try await ServedGraph.serve(authenticator: Accounts()) { graph in
      let client = try await graph.connect {
        $0.author = "eve"
        $0.credentials = .token("b")
      }
      #expect(client.author == "bob" && client.welcome?.principal == "user:b")
      _ = graph.insert("one", into: client)
      try await client.save()
      #expect(try await client.log(limit: 1).map(\.author) == ["bob"])
      // The owner's own programs log in on request only.
      let owner = try await graph.connect()
      #expect(owner.welcome?.author == "ann" && owner.welcome?.principal == "ann")
      #expect(try await owner.log(limit: 1).map(\.author) == ["bob"])
      await owner.close()
      await client.close()
    }
  }

  /// A program that connects once more, for work of its own.
  @Test func furtherClientHasTheSameToken() async throws {
    try await ServedGraph.serve(authenticator: Accounts()) { graph in
      let client = try await graph.connect { $0.credentials = .token("b") }
      let further = try await GraphClient.connect(
        to: client.address, model: graph.model, options: client.options(author: "eve"))
      #expect(further.author == "bob" && further.welcome?.principal == "user:b")
      await further.close()
      await client.close()
    }
  }

  @Test func wrongTokenIsRefused() async throws {
    try await ServedGraph.serve(authenticator: Accounts()) { graph in
      let refusal = await #expect(throws: Refusal.self) {
        _ = try await graph.connect { $0.credentials = .token("c") }
      }
      #expect(refusal?.code == .notAllowed && refusal?.message == "the token is wrong")
    }
    // A server without accounts says so.
    try await ServedGraph.serve { graph in
      let refusal = await #expect(throws: Refusal.self) {
        _ = try await graph.connect { $0.credentials = .token("a") }
      }
      #expect(refusal?.message.contains("has no accounts") == true)
    }
  }

  @Test func endOfTokenClosesItsClientsForGood() async throws {
    let accounts = Accounts()
    try await ServedGraph.serve(authenticator: accounts) { graph in
      let ann = try await graph.connect { $0.credentials = .token("a") }
      let bob = try await graph.connect { $0.credentials = .token("b") }
      accounts.end(1)
      await ann.wait { $0 == .closed }
      #expect(ann.ending?.code == .notAllowed && ann.ending?.message == "the token was revoked")
      #expect(try await bob.titles == [])
      await bob.close()
    }
  }

  /// The next connection uses the token that the provider returns then.
  @Test func providerIsAskedForEachConnection() async throws {
    let tokens = Mutex(["b", "a"])
    let credentials = Credentials.provider { tokens.withLock { $0.popLast() ?? "" } }
    try await ServedGraph.serve(authenticator: Accounts()) { graph in
      let client = try await graph.connect { $0.credentials = credentials }
      #expect(client.welcome?.author == "ann")
      await client.close()
      let second = try await graph.connect { $0.credentials = credentials }
      #expect(second.welcome?.author == "bob")
      await second.close()
      // An empty text is no credential.
      let third = try await graph.connect { $0.credentials = credentials }
      #expect(third.welcome?.principal == "ann")
      await third.close()
    }
  }

  @Test func fileMustBePrivateAndContainOneWord() async throws {
    let folder = try TemporaryDirectory()
    let path = folder.path + "/token"
    try await ServedGraph.serve(authenticator: Accounts()) { graph in
      @MainActor func refusal() async -> String? {
        await #expect(throws: Refusal.self) { _ = try await graph.connect { $0.credentials = .file(path: path) } }?
          .message
      }
      #expect(await refusal()?.contains("can't be read") == true)
      try Data("a\n".utf8).write(to: URL(fileURLWithPath: path))
      chmod(path, 0o640)
      #expect(await refusal()?.contains("other users") == true)
      chmod(path, 0o600)
      let client = try await graph.connect { $0.credentials = .file(path: path) }
      #expect(client.welcome?.author == "ann")
      await client.close()
      for content in ["", " \n", "a b", String(repeating: "a", count: 5_000)] {
        try Data(content.utf8).write(to: URL(fileURLWithPath: path))
        chmod(path, 0o600)
        #expect(await refusal()?.contains("contains no token") == true, "\(content.prefix(9))")
      }
      unlink(path)
      mkdir(path, 0o700)
      #expect(await refusal()?.contains("regular file") == true)
    }
  }
}
