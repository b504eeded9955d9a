// Tests: TransportPolicyTests.swift
import GraphWire

/// The addresses to which a client connects without encryption.
enum TransportPolicy {
  /// - Throws: `SecurityFailure` for an address of another machine without encryption, for a host that was encrypted
  ///   before, and for settings that have no effect.
  static func check(_ address: ServerAddress, _ security: TransportSecurity) throws(SecurityFailure) {
    if address.isEncrypted { return }
    guard security.pin == nil, security.authorities == .system else {
      throw SecurityFailure(
        .settings, address, "a pin or a file of authorities needs an encrypted address: write tls:// in \(address)")
    }
    if case .tcp(let host, _) = address, address.isUnprotected { try checkUnprotected(address, host, security) }
  }

  private static func checkUnprotected(
    _ address: ServerAddress, _ host: String, _ security: TransportSecurity
  ) throws(SecurityFailure) {
    if let known = security.knownServers {
      let hasUsedEncryption: Bool
      do { hasUsedEncryption = try known.hasUsedEncryption(host: host) } catch {
        throw SecurityFailure(.settings, address, error.description)
      }
      guard !hasUsedEncryption else {
        throw SecurityFailure(
          .downgrade, address,
          "\(host) was encrypted before, and \(address) is not: use tls://, or remove the lines of \(host) from "
            + "\(known.path) if its server has no encryption now")
      }
    }
    guard security.allowsUnencrypted else {
      throw SecurityFailure(
        .unencrypted, address,
        "\(address) is another machine, and the connection is not encrypted: use tls://, or allow it with --insecure "
          + "if every machine of that network may read and change the data")
    }
  }
}
