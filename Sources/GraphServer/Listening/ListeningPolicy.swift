// Tests: ListeningPolicyTests.swift
import GraphWire

/// An address that other machines reach, and the protection that it lacks.
public struct AddressExposure: Hashable, Sendable, CustomStringConvertible {
  /// A missing protection of an address that other machines reach.
  public enum MissingProtection: Sendable {
    /// Every machine on the route can read and change the messages.
    case encryption
    /// Every program that reaches the address can read and change everything.
    case accounts
  }

  /// The address.
  public let address: ServerAddress
  /// The missing protection.
  public let missing: MissingProtection

  public var description: String {
    switch missing {
    case .encryption: "\(address) is reachable from other machines and not encrypted"
    case .accounts:
      "\(address) is reachable from other machines, and there are no accounts: every client has all rights"
    }
  }

  /// The exposures of addresses; addresses of this machine have none.
  static func find(in addresses: [ServerAddress], hasAccounts: Bool) -> [AddressExposure] {
    addresses.filter { !$0.isLoopback }.compactMap { address in
      if !address.isEncrypted { return AddressExposure(address: address, missing: .encryption) }
      return hasAccounts ? nil : AddressExposure(address: address, missing: .accounts)
    }
  }
}

/// The refusal to serve an exposed address.
public struct ExposedAddressError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The first exposed address.
  public let exposure: AddressExposure

  public var description: String {
    let advice =
      switch exposure.missing {
      case .encryption:
        "listen on tls:// with a certificate (stickiesd certificate creates one), or give --insecure if every machine "
          + "of that network may read and change the data"
      case .accounts:
        "create accounts with stickiesd user add NAME and stickiesd token create NAME, or give --insecure if every "
          + "client that reaches the address may read and change the data"
      }
    return "\(exposure); \(advice)"
  }
}

/// The addresses that a server may serve: those of this machine, and encrypted ones of a server with accounts. An
/// operator can decide otherwise.
enum ListeningPolicy {
  /// - Parameter others: the addresses of other protocols.
  /// - Throws: `ExposedAddressError`, or `CertificateFailure` for an encrypted address without a certificate.
  static func check(_ configuration: GraphServer.Configuration, others: [ServerAddress] = []) throws {
    let addresses = configuration.addresses + configuration.optionalAddresses + others
    if configuration.certificate == nil, let address = addresses.first(where: \.isEncrypted) {
      throw CertificateFailure(
        "the address \(address) needs a certificate", advice: "Create one with stickiesd certificate --name HOST.")
    }
    if configuration.allowsExposure { return }
    if let first = AddressExposure.find(in: addresses, hasAccounts: configuration.hasAccounts).first {
      throw ExposedAddressError(exposure: first)
    }
  }
}
