import GraphTesting
import GraphWire
import Testing

@testable import GraphClient

/// The connections that a client makes without encryption.
@Suite struct TransportPolicyTests {
  private func code(_ address: String, _ configure: (inout TransportSecurity) -> Void = { _ in }) throws
    -> SecurityFailure.Code?
  {
    var security = TransportSecurity()
    configure(&security)
    do {
      try TransportPolicy.check(try ServerAddress(parsing: address), security)
      return nil
    } catch let failure as SecurityFailure {
      return failure.code
    }
  }

  @Test func connectionsWithinMachineNeedNoEncryption() throws {
    for address in ["unix:///s", "tcp://127.0.0.1:1", "tcp://localhost:1", "tls://host.example"] {
      #expect(try code(address) == nil)
    }
  }

  @Test func unencryptedConnectionToOtherMachineNeedsPermission() throws {
    #expect(try code("tcp://host.example:1") == .unencrypted)
    #expect(try code("tcp://host.example:1") { $0.allowsUnencrypted = true } == nil)
  }

  @Test func hostThatWasEncryptedIsNeverReachedWithoutEncryption() throws {
    let directory = try TemporaryDirectory()
    let known = KnownServers(path: directory.path + "/known")
    try known.record(.authority, host: "host.example", port: 7417)
    func configure(_ security: inout TransportSecurity) {
      security.allowsUnencrypted = true
      security.knownServers = known
    }
    #expect(try code("tcp://HOST.example:80", configure) == .downgrade)
    #expect(try code("tcp://other.example:80", configure) == nil)
    #expect(try code("tls://host.example", configure) == nil)
  }

  @Test func settingsOfEncryptionNeedEncryptedAddress() throws {
    #expect(try code("tcp://127.0.0.1:1") { $0.pin = PublicKeyHash(ofKeyInfo: []) } == .settings)
    #expect(try code("unix:///s") { $0.authorities = .file("/ca.pem") } == .settings)
  }
}
