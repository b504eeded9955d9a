// Tests: EncryptedConnectionTests.swift
import GraphModel
import GraphWire

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Makes an encrypted connection, and decides whether the server is the right one.
///
/// A handshake either verifies certificates or compares a key. If no authority vouches for the server, a second
/// connection reads its key and stops; the closure that decides about the key therefore never keeps a server waiting in
/// a handshake. A third connection requires the accepted key.
struct EncryptedConnector {
  let address: ServerAddress
  let host: String
  let port: Int
  let security: TransportSecurity
  let handshake: EncryptedHandshake

  func connect() async throws -> Transport {
    precondition(address.isEncrypted, "only tls:// addresses are connected with encryption")
    let known = try knownEntry()
    if let pin = security.pin {
      let transport = try await connect(requiring: pin, .pin(pin))
      // A memory that can't be written does not prevent a connection to a server that was verified without it.
      try? security.knownServers?.record(.key(pin), host: host, port: port)
      return transport
    }
    // A file of authorities is as explicit as a pin, and takes precedence over the memory.
    if case .key(let key)? = known, security.authorities == .system {
      return try await connect(requiring: key, .known(key))
    }
    do {
      let transport = try await handshake.run(.authorities, verification: .authority)
      try? security.knownServers?.record(.authority, host: host, port: port)
      return transport
    } catch let failure as EncryptedHandshake.NotTrusted {
      return try await connectToUnknown(failure, wasVerified: known == .authority)
    }
  }

  private func knownEntry() throws -> KnownServers.Entry? {
    do { return try security.knownServers?.entry(host: host, port: port) } catch {
      throw SecurityFailure(.settings, address, error.description)
    }
  }

  private func connect(requiring key: PublicKeyHash, _ verification: ServerVerification) async throws -> Transport {
    do {
      return try await handshake.run(.key(key), verification: verification)
    } catch let failure as EncryptedHandshake.NotTrusted {
      guard let presented = failure.key else { throw notTrusted(failure) }
      let message =
        if case .known = verification {
          "the key of \(address) has changed: it is \(presented) now, and \(key) was accepted before; another machine "
            + "may pretend to be the server, so accept the new key only if the server's operator confirms it"
        } else {
          "the server at \(address) has the key \(presented), not the pinned \(key)"
        }
      throw SecurityFailure(.keyChanged, address, message, key: presented)
    }
  }

  /// - Parameter wasVerified: whether an authority vouched for the server before.
  private func connectToUnknown(_ failure: EncryptedHandshake.NotTrusted, wasVerified: Bool) async throws -> Transport {
    let presented: EncryptedHandshake.NotTrusted
    do {
      // The handshake compares with no key, so it fails with the key that the server has.
      _ = try await handshake.run(.key(nil), verification: .authority)
      preconditionFailure("a server has no key that equals none")
    } catch let failure as EncryptedHandshake.NotTrusted {
      presented = failure
    }
    guard let key = presented.key else { throw notTrusted(failure) }
    let reason = presented.reason(host: host, otherwise: failure)
    if wasVerified {
      throw SecurityFailure(
        .notTrusted, address,
        "a certificate authority vouched for \(address) before, and now \(reason); its key is \(key)", key: key)
    }
    guard security.authorities == .system else {
      throw SecurityFailure(.notTrusted, address, "the server at \(address) is refused: \(reason)", key: key)
    }
    let question = UnknownServerKey(address: address, key: key, reason: reason)
    guard let accepts = security.acceptsUnknownKey, await accepts(question) else {
      throw SecurityFailure(
        .unknownKey, address,
        "the server at \(address) is not known, and \(reason); its key is \(key): compare it with the key that the "
          + "server's operator names", key: key)
    }
    let transport = try await connect(requiring: key, .firstUse(key))
    assert(transport.verification?.key == key, "the connection is to the server whose key was accepted")
    do { try security.knownServers?.record(.key(key), host: host, port: port) } catch {
      transport.close()
      throw SecurityFailure(.settings, address, error.description)
    }
    return transport
  }

  private func notTrusted(_ failure: EncryptedHandshake.NotTrusted) -> SecurityFailure {
    SecurityFailure(
      .notTrusted, address, "the server at \(address) is refused: \(failure.reason(host: host, otherwise: failure))")
  }
}

extension EncryptedHandshake.NotTrusted {
  /// The reason why a certificate is not enough, as the end of a sentence.
  /// - Parameter otherwise: the failure of the verification by authorities.
  fileprivate func reason(host: String, otherwise: EncryptedHandshake.NotTrusted) -> String {
    let now = Int64(time(nil))
    if let validity, validity.upperBound < now {
      return "its certificate expired on \(RFC3339.text(validity.upperBound * RFC3339.microsecondsPerSecond))"
    }
    if let validity, validity.lowerBound > now {
      return "its certificate is not valid before "
        + RFC3339.text(validity.lowerBound * RFC3339.microsecondsPerSecond)
    }
    if otherwise.isOfOtherHost { return "its certificate is not for \(host)" }
    return "no authority that this client trusts has signed its certificate"
  }
}
