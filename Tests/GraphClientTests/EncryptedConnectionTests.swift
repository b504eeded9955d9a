import Foundation
import GraphModel
import GraphServer
import GraphTesting
import GraphWire
import Logging
import Testing

@testable import GraphClient

/// Encrypted connections between real clients and a real server, and the servers that a client refuses.
@MainActor
@Suite(.timeLimit(.minutes(1))) struct EncryptedConnectionTests {
  private let directory: TemporaryDirectory
  private let authority: TestAuthority
  private static let free = ServerAddress.tls(host: "127.0.0.1", port: 0)

  init() throws {
    directory = try TemporaryDirectory()
    authority = try TestAuthority(in: directory.path)
  }

  private var known: KnownServers { KnownServers(path: directory.path + "/state/known-servers") }

  /// Serves an empty graph with a certificate of the authority.
  private func serve(
    _ body: (ServedGraph, ServerCertificate, TestAuthority.Identity) async throws -> Void
  ) async throws {
    let identity = try authority.issue()
    let certificate = try ServerCertificate(certificate: identity.certificate, key: identity.key)
    #expect(certificate.keyHash == identity.hash)
    try await ServedGraph.serve(at: Self.free, certificate) { try await body($0, certificate, identity) }
  }

  private func securityFailure(_ connect: @MainActor () async throws -> GraphClient) async throws -> SecurityFailure? {
    do {
      let client = try await connect()
      await client.close()
      Issue.record("the connection was made")
      return nil
    } catch let failure as SecurityFailure {
      return failure
    }
  }

  @Test func serverOfTrustedAuthorityIsAccepted() async throws {
    try await serve { graph, _, _ in
      let client = try await graph.connect { $0.security.authorities = .file(authority.file) }
      _ = graph.insert("encrypted", into: client)
      try await client.save()
      #expect(try await client.titles == ["encrypted"])
      #expect(client.verification == .authority)
      await client.close()
    }
  }

  @Test func pinnedKeyIsAcceptedAndAnotherOneRefused() async throws {
    try await serve { graph, _, identity in
      let client = try await graph.connect { $0.security.pin = identity.hash }
      #expect(try await client.titles == [])
      #expect(client.verification == .pin(identity.hash))
      await client.close()
      let other = PublicKeyHash(ofKeyInfo: [])
      let failure = try await securityFailure { try await graph.connect { $0.security.pin = other } }
      #expect(failure?.code == .keyChanged && failure?.key == identity.hash)
    }
  }

  @Test func unknownKeyIsAcceptedOnceAndThenRequired() async throws {
    try await serve { graph, certificate, identity in
      let client = try await graph.connect {
        $0.security.knownServers = known
        $0.security.acceptsUnknownKey = { question in question.key == identity.hash }
      }
      #expect(client.verification == .firstUse(identity.hash))
      await client.close()
      let mode = try FileManager.default.attributesOfItem(atPath: known.path)[.posixPermissions] as? Int
      #expect(mode == 0o600)
      // Without the closure: the key is known.
      let second = try await graph.connect { $0.security.knownServers = known }
      #expect(second.verification == .known(identity.hash))
      await second.close()
      let changed = try authority.issue()
      #expect(certificate.reload(.init(label: "tests")))
      let failure = try await securityFailure { try await graph.connect { $0.security.knownServers = known } }
      #expect(failure?.code == .keyChanged && failure?.key == changed.hash)
      #expect(failure?.message.contains("has changed") == true)
      // A pin accepts the new key, and is remembered.
      let pinned = try await graph.connect {
        $0.security.knownServers = known
        $0.security.pin = changed.hash
      }
      await pinned.close()
      let last = try await graph.connect { $0.security.knownServers = known }
      #expect(last.verification == .known(changed.hash))
      await last.close()
    }
  }

  @Test func unknownKeyIsRefusedWithItsHash() async throws {
    try await serve { graph, _, identity in
      let silent = try await securityFailure { try await graph.connect { $0.security.knownServers = known } }
      #expect(silent?.code == .unknownKey && silent?.key == identity.hash)
      #expect(silent?.message.contains("\(identity.hash)") == true)
      let refused = try await securityFailure {
        try await graph.connect { $0.security.acceptsUnknownKey = { _ in false } }
      }
      #expect(refused?.code == .unknownKey)
      #expect(!FileManager.default.fileExists(atPath: known.path))
    }
  }

  @Test func serverThatAuthorityVerifiedCannotFallBackToUnknownKey() async throws {
    try await serve { graph, _, _ in
      let client = try await graph.connect {
        $0.security.knownServers = known
        $0.security.authorities = .file(authority.file)
      }
      await client.close()
      let failure = try await securityFailure {
        try await graph.connect {
          $0.security.knownServers = known
          $0.security.acceptsUnknownKey = { _ in true }
        }
      }
      #expect(failure?.code == .notTrusted)
    }
  }

  @Test func certificateOfAnotherHostIsRefused() async throws {
    let identity = try authority.issue(for: "other.example")
    let certificate = try ServerCertificate(certificate: identity.certificate, key: identity.key)
    try await ServedGraph.serve(at: Self.free, certificate) { graph in
      let failure = try await securityFailure {
        try await graph.connect { $0.security.authorities = .file(authority.file) }
      }
      #expect(failure?.code == .notTrusted)
      #expect(failure?.message.contains("its certificate is not for 127.0.0.1") == true)
    }
  }

  @Test func expiredCertificateIsRefused() async throws {
    let server = try await BareTLSServer(authority.issue(validity: -7_200 ... -3_600))
    let failure = try await securityFailure {
      var options = GraphClient.Options(author: "ann")
      options.security.authorities = .file(authority.file)
      return try await GraphClient.connect(to: server.address, options: options)
    }
    #expect(failure?.code == .notTrusted)
    #expect(failure?.message.contains("its certificate expired on ") == true)
    try await server.close()
  }

  @Test func serverOfAnotherProtocolOrOldTLSIsRefused() async throws {
    let identity = try authority.issue()
    let other = try await BareTLSServer(identity) { $0.applicationProtocols = ["http/1.1"] }
    let old = try await BareTLSServer(identity) {
      $0.minimumTLSVersion = .tlsv1
      $0.maximumTLSVersion = .tlsv11
    }
    for server in [other, old] {
      let failure = try await securityFailure {
        var options = GraphClient.Options(author: "ann")
        options.security.pin = identity.hash
        return try await GraphClient.connect(to: server.address, options: options)
      }
      #expect(failure?.code == .notEncrypted)
    }
    try await other.close()
    try await old.close()
  }

  @Test func plainClientOfEncryptedServerIsToldTheAddress() async throws {
    try await serve { graph, _, _ in
      do {
        let client = try await graph.connect(to: graph.address.tcp)
        await client.close()
        Issue.record("the connection was made")
      } catch let refusal as Refusal {
        #expect(refusal.code == .notAllowed)
        #expect(refusal.message.contains("write tls:// instead of tcp://"))
      }
    }
  }

  @Test func encryptedClientOfPlainServerIsRefused() async throws {
    try await ServedGraph.serve(at: .tcp(host: "127.0.0.1", port: 0)) { graph in
      guard case .tcp(let host, let port) = graph.address else {
        Issue.record("the server listens at \(graph.address)")
        return
      }
      let failure = try await securityFailure { try await graph.connect(to: .tls(host: host, port: port)) }
      #expect(failure?.code == .notEncrypted)
      #expect(failure?.message.contains("does not encrypt") == true)
    }
  }

  @Test func unreadableAuthoritiesAreReported() async throws {
    try await serve { graph, _, _ in
      let failure = try await securityFailure {
        try await graph.connect { $0.security.authorities = .file("/nonexistent.pem") }
      }
      #expect(failure?.code == .settings && failure?.message.contains("/nonexistent.pem") == true)
    }
  }
}
