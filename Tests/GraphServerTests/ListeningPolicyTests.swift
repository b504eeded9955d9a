import GraphWire
import Testing

@testable import GraphServer

/// The addresses that a server serves without a decision of its operator.
@Suite struct ListeningPolicyTests {
  private func refusal(_ address: String, hasAccounts: Bool, allowsExposure: Bool = false) throws -> String? {
    var configuration = GraphServer.Configuration(addresses: [try ServerAddress(parsing: address)])
    configuration.hasAccounts = hasAccounts
    configuration.allowsExposure = allowsExposure
    do {
      try ListeningPolicy.check(configuration)
      return nil
    } catch let error as ExposedAddressError {
      return error.description
    }
  }

  @Test func addressesOfThisMachineAreServed() throws {
    for address in ["unix:///tmp/s", "tcp://127.0.0.1:0", "tcp://localhost:7417", "tcp://[::1]:7417"] {
      #expect(try refusal(address, hasAccounts: false) == nil)
    }
  }

  @Test func unencryptedAddressOfNetworkIsRefused() throws {
    for address in ["tcp://0.0.0.0:7417", "tcp://[::]:7417", "tcp://192.0.2.1:7417", "tcp://host.example:7417"] {
      let refusal = try #require(try self.refusal(address, hasAccounts: true))
      #expect(refusal.contains("not encrypted") && refusal.contains("--insecure"))
      #expect(try self.refusal(address, hasAccounts: true, allowsExposure: true) == nil)
    }
  }

  @Test func exposuresNameWhatIsMissing() throws {
    let addresses = try ["tls://0.0.0.0:1", "tcp://0.0.0.0:2", "tls://127.0.0.1:3", "unix:///s"].map {
      try ServerAddress(parsing: $0)
    }
    let open = AddressExposure.find(in: addresses, hasAccounts: false)
    #expect(open.map(\.missing) == [.accounts, .encryption] && open.map(\.address) == Array(addresses.prefix(2)))
    #expect(AddressExposure.find(in: addresses, hasAccounts: true).map(\.address) == [addresses[1]])
    let refusal = ExposedAddressError(exposure: try #require(open.first)).description
    #expect(refusal.contains("stickiesd user add") && refusal.contains("stickiesd token create"))
  }

  @Test func encryptedAddressNeedsCertificate() throws {
    let configuration = GraphServer.Configuration(addresses: [.tls(host: "127.0.0.1", port: 0)])
    #expect(throws: CertificateFailure.self) { try ListeningPolicy.check(configuration) }
  }
}
