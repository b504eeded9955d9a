// Tests: EncryptedConnectionTests.swift
import GraphWire

/// A connection that was not made, or was ended, because it is not as secure as it has to be. Another attempt with the
/// same settings fails in the same way.
public struct SecurityFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kind of failure, for programs.
  public enum Code: String, Sendable {
    /// The address leads to another machine, without encryption.
    case unencrypted
    /// The host was encrypted before, and the address is not.
    case downgrade
    /// No authority vouches for the server, and its key is not known.
    case unknownKey
    /// The server has another key than the pinned or the known one.
    case keyChanged
    /// The certificate is not valid: it expired, is of another host, or its signature is not trusted.
    case notTrusted
    /// The program at the address does not speak TLS, or not this protocol.
    case notEncrypted
    /// A setting can't be used: a file of authorities or of known servers.
    case settings
  }

  /// The kind of failure.
  public let code: Code
  /// The address of the server.
  public let address: ServerAddress
  /// The failure and the advice, as a sentence.
  public let message: String
  /// The hash of the key that the server presented, if it presented one.
  public var key: PublicKeyHash?

  init(_ code: Code, _ address: ServerAddress, _ message: String, key: PublicKeyHash? = nil) {
    (self.code, self.address, self.message, self.key) = (code, address, message, key)
  }

  public var description: String { message }
}
