import Foundation
import GraphModel
import GraphServer
import GraphTesting
import GraphWire
import Logging
import Testing

@testable import GraphClient

/// Sessions over TLS: deltas, replaced certificates, restarts.
@MainActor
@Suite(.timeLimit(.minutes(1))) struct EncryptedSessionTests {
  private let directory: TemporaryDirectory
  private let authority: TestAuthority
  private let log = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }

  init() throws {
    directory = try TemporaryDirectory()
    authority = try TestAuthority(in: directory.path)
  }

  private func serve(
    _ body: (ServedGraph, ServerCertificate, TestAuthority.Identity) async throws -> Void
  ) async throws {
    let identity = try authority.issue()
    let certificate = try ServerCertificate(certificate: identity.certificate, key: identity.key)
    try await ServedGraph.serve(at: .tls(host: "127.0.0.1", port: 0), certificate) {
      try await body($0, certificate, identity)
    }
  }

  @Test func everyWatcherReceivesEveryCommit() async throws {
    try await serve { graph, _, identity in
      var watchers = [(client: GraphClient, results: LiveResults<Project>)]()
      for _ in 0..<8 {
        let client = try await graph.connect { $0.security.pin = identity.hash }
        watchers.append((client, client.liveResults(Project.self, sort: [\.title])))
      }
      for watcher in watchers { await wait { !watcher.results.isLoading } }
      let writer = try await graph.connect { $0.security.pin = identity.hash }
      // Longer than one TLS record, which has at most 16 KiB.
      let text = String(repeating: "long ", count: 10_000)
      for number in 10..<60 {
        _ = graph.insert("\(number) \(text)", into: writer)
        try await writer.save()
      }
      let expected = (10..<60).map { "\($0) \(text)" }
      for watcher in watchers {
        await wait { watcher.results.objects.count == expected.count }
        #expect(watcher.results.objects.map(\.title) == expected)
        await watcher.client.close()
      }
      await writer.close()
    }
  }

  @Test func replacedCertificateKeepsSessionsAndServesNewOnes() async throws {
    try await serve { graph, certificate, identity in
      let old = try await graph.connect { $0.security.pin = identity.hash }
      let changed = try authority.issue()
      #expect(certificate.reload(log))
      #expect(certificate.keyHash == changed.hash && changed.hash != identity.hash)
      _ = graph.insert("before and after", into: old)
      try await old.save()
      #expect(old.state == .connected)
      let new = try await graph.connect { $0.security.pin = changed.hash }
      #expect(try await new.titles == ["before and after"])
      await old.close()
      await new.close()
    }
  }

  @Test func brokenReplacementLeavesFormerCertificateInUse() async throws {
    try await serve { graph, certificate, identity in
      try TestAuthority.write("no certificate", to: identity.certificate)
      #expect(!certificate.reload(log))
      let client = try await graph.connect { $0.security.pin = identity.hash }
      #expect(try await client.titles == [])
      await client.close()
    }
  }

  @Test func sessionResumesAfterRestart() async throws {
    try await serve { graph, _, identity in
      let client = try await graph.connect { $0.security.pin = identity.hash }
      let results = client.liveResults(Project.self)
      _ = graph.insert("first", into: client)
      try await client.save()
      await wait { results.objects.count == 1 }
      try await graph.stop()
      _ = graph.insert("second", into: client)
      let saving = Task { try await client.save() }
      try await graph.start()
      _ = try await saving.value
      await wait { results.objects.count == 2 }
      #expect(Set(results.objects.map(\.title)) == ["first", "second"])
      await client.close()
    }
  }

  @Test func serverWithOtherKeyAfterRestartEndsClient() async throws {
    try await serve { graph, certificate, identity in
      let client = try await graph.connect {
        $0.security.acceptsUnknownKey = { _ in true }
      }
      #expect(client.verification == .firstUse(identity.hash))
      _ = try authority.issue()
      #expect(certificate.reload(log))
      try await graph.stop()
      try await graph.start()
      await client.wait { $0 == .closed }
      #expect(client.ending?.code == .notAllowed)
    }
  }

  @Test func oldVersionsAndOtherProtocolsAreRefused() async throws {
    try await serve { graph, _, _ in
      let address = graph.address
      let newest = try await BareTLSClient.completesHandshake(with: address, version: .tlsv13)
      let older = try await BareTLSClient.completesHandshake(with: address, version: .tlsv12)
      let old = try await BareTLSClient.completesHandshake(with: address, version: .tlsv11)
      let other = try await BareTLSClient.completesHandshake(with: address, version: .tlsv13, protocol: "http/1.1")
      #expect(newest && older && !old && !other)
    }
  }

  @Test func stalledAndBrokenHandshakesDoNotDisturbSessions() async throws {
    try await serve { graph, _, identity in
      let client = try await graph.connect { $0.security.pin = identity.hash }
      // Connections that send nothing, the beginning of a handshake, or garbage.
      var sockets = [Int32]()
      defer { for socket in sockets { close(socket) } }
      for number in 0..<60 {
        let socket = try PlainSocket.connect(to: graph.address)
        sockets.append(socket)
        let bytes: [UInt8] = [[], [0x16, 0x03, 0x01], [0x16] + [UInt8](repeating: 0xff, count: 600)][number % 3]
        if !bytes.isEmpty { #expect(PlainSocket.send(bytes[...], to: socket) == bytes.count) }
      }
      _ = graph.insert("undisturbed", into: client)
      try await client.save()
      #expect(try await client.titles == ["undisturbed"])
      let another = try await graph.connect { $0.security.pin = identity.hash }
      #expect(try await another.titles == ["undisturbed"])
      await another.close()
      await client.close()
    }
  }

  @Test func backgroundContextRequiresKeyOfItsClient() async throws {
    try await serve { graph, certificate, identity in
      let client = try await graph.connect { $0.security.acceptsUnknownKey = { _ in true } }
      let background = try await client.makeBackgroundContext()
      #expect(try await background.perform { $0.verification } == .pin(identity.hash))
      await background.close()
      _ = try authority.issue()
      #expect(certificate.reload(log))
      let failure = await #expect(throws: SecurityFailure.self) { _ = try await client.makeBackgroundContext() }
      #expect(failure?.code == .keyChanged)
      await client.close()
    }
  }

  /// A client as the result of a task: it stays on the main actor.
  @MainActor private struct Connected {
    let client: GraphClient
  }

  @Test func manyConnectionsAtOnceAreAllServed() async throws {
    try await serve { graph, _, identity in
      let connections = (0..<40).map { _ in
        Task { @MainActor in Connected(client: try await graph.connect { $0.security.pin = identity.hash }) }
      }
      for connection in connections {
        let client = try await connection.value.client
        #expect(try await client.titles == [])
        await client.close()
      }
    }
  }
}
