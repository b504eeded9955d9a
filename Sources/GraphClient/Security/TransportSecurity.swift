// Tests: EncryptedConnectionTests.swift
import GraphWire

/// The settings with which a client verifies servers and refuses connections.
///
/// The first of these decides about a server at a `tls://` address:
/// - the pinned key;
/// - the authorities of a given file, one of which must have signed its certificate for this host;
/// - the key that this client accepted before;
/// - the authorities of the system;
/// - the closure, which may accept its key.
///
/// Unix-domain sockets and the machine's own TCP addresses are not verified.
public struct TransportSecurity: Sendable {
  /// The authorities that may sign the certificates of servers.
  public enum Authorities: Hashable, Sendable {
    /// The certificate authorities that the operating system trusts.
    case system
    /// Only the certificate authorities in a file with certificates in PEM.
    case file(String)
  }

  /// The hash of the public key that the server must have. It replaces a key that was accepted before, and the
  /// certificate's name, issuer and dates are not verified.
  public var pin: PublicKeyHash?
  /// The authorities that may sign the certificates of servers.
  public var authorities = Authorities.system
  /// The file that remembers servers; nil to remember no servers; `acceptsUnknownKey` is then called for each new
  /// client.
  public var knownServers: KnownServers?
  /// Decides about a server that no authority has signed, at the first connection to it. Without it, such a server is
  /// refused, with its hash in the error.
  public var acceptsUnknownKey: (@Sendable (UnknownServerKey) async -> Bool)?
  /// Whether connections to other machines may be unencrypted. Every machine on the route can then read and change the
  /// messages.
  public var allowsUnencrypted = false

  /// Verification by the system's authorities, without a memory of servers.
  public init() {}

  /// The settings for a further connection of a client: the server must be the same.
  func requiring(_ verification: ServerVerification?) -> TransportSecurity {
    guard let verification else { return self }
    var settings = self
    settings.acceptsUnknownKey = nil
    if let key = verification.key { settings.pin = key }
    return settings
  }
}

/// A server's key that was not seen before, and the reason why no authority has certified it.
public struct UnknownServerKey: Hashable, Sendable {
  /// The address of the server.
  public let address: ServerAddress
  /// The hash of its public key. Compare it with the key that the server's operator has published.
  public let key: PublicKeyHash
  /// The reason why its certificate alone is not enough.
  public let reason: String
}

/// The way in which a server's identity was verified.
public enum ServerVerification: Hashable, Sendable, CustomStringConvertible {
  /// An authority signed its certificate for this host.
  case authority
  /// It has the pinned key.
  case pin(PublicKeyHash)
  /// It has the key that was accepted at an earlier connection.
  case known(PublicKeyHash)
  /// Its key was accepted at this, the first, connection.
  case firstUse(PublicKeyHash)

  /// The hash of the key by which it was verified; nil for an authority.
  public var key: PublicKeyHash? {
    switch self {
    case .authority: nil
    case .pin(let key), .known(let key), .firstUse(let key): key
    }
  }

  public var description: String {
    switch self {
    case .authority: "verified by a certificate authority"
    case .pin(let key): "verified by the pinned key \(key)"
    case .known(let key): "verified by the known key \(key)"
    case .firstUse(let key): "verified by the key \(key), accepted now"
    }
  }
}
