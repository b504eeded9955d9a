import Crypto
import Foundation
import GraphModel
import GraphWire

/// A new P-256 key and its self-signed certificate (RFC 5280), in PEM.
///
/// Clients verify it by the hash of its key, or use the certificate itself as their file of trusted authorities.
struct SelfSignedCertificate {
  let certificate: String
  let key: String
  let keyHash: PublicKeyHash
  let end: Timestamp

  private static let ecdsaWithSHA256 = DER.sequence(DER.identifier(1, 2, 840, 10_045, 4, 3, 2))
  private static let serialSize = 16
  private static let microsecondsPerDay = 86_400 * RFC3339.microsecondsPerSecond

  /// - Parameters:
  ///   - names: the host names and IP addresses of the server, at least one.
  ///   - begin: the beginning of the validity.
  ///   - days: the length of the validity.
  init(names: [HostName], begin: Timestamp, days: Int) throws {
    precondition(!names.isEmpty, "a certificate is for at least one name")
    let privateKey = P256.Signing.PrivateKey()
    let keyInfo = Array(privateKey.publicKey.derRepresentation)
    end = begin + Int64(days) * Self.microsecondsPerDay
    // Issuer and subject are the same.
    let name = DER.sequence(DER.set(DER.sequence(DER.identifier(2, 5, 4, 3), DER.utf8String(names[0].text))))
    let version3 = DER.tagged(0, isConstructed: true, DER.integer([2]))
    let content = DER.sequence(
      version3, DER.integer(Self.randomSerial()), Self.ecdsaWithSHA256, name,
      DER.sequence(Self.time(begin), Self.time(end)), name, keyInfo,
      DER.tagged(3, isConstructed: true, Self.extensions(names)))
    let signature = try privateKey.signature(for: content).derRepresentation
    let complete = DER.sequence(content, Self.ecdsaWithSHA256, DER.bitString(Array(signature)))
    certificate = Self.pem("CERTIFICATE", complete)
    key = privateKey.pemRepresentation + "\n"
    keyHash = PublicKeyHash(ofKeyInfo: keyInfo)
  }

  private static func extensions(_ names: [HostName]) -> [UInt8] {
    // The bits 0 and 5: the key signs handshakes and certificates.
    let usage = DER.bitString([0b1000_0100], unused: 2)
    let serverAuthentication = DER.identifier(1, 3, 6, 1, 5, 5, 7, 3, 1)
    return DER.sequence(
      // Marks the certificate as an authority that can't sign further authorities: TLS libraries accept a file of
      // trusted authorities only if it contains an authority.
      DER.sequence(
        DER.identifier(2, 5, 29, 19), DER.yes, DER.octetString(DER.sequence(DER.yes, DER.integer([0])))),
      DER.sequence(DER.identifier(2, 5, 29, 15), DER.yes, DER.octetString(usage)),
      DER.sequence(DER.identifier(2, 5, 29, 37), DER.octetString(DER.sequence(serverAuthentication))),
      DER.sequence(
        DER.identifier(2, 5, 29, 17), DER.octetString(DER.sequence(names.flatMap(\.alternativeName)))))
  }

  /// A positive number without a zero byte at its beginning.
  private static func randomSerial() -> [UInt8] {
    var bytes = (0..<serialSize).map { _ in UInt8.random(in: 0...255) }
    bytes[0] = bytes[0] & 0x7f | 0x40
    return bytes
  }

  private static func time(_ time: Timestamp) -> [UInt8] {
    DER.time(String(RFC3339.text(time).filter(\.isNumber).prefix(14)))
  }

  private static func pem(_ label: String, _ bytes: [UInt8]) -> String {
    let lines = Data(bytes).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
    return "-----BEGIN \(label)-----\n\(lines)\n-----END \(label)-----\n"
  }
}

/// A name of a server in its certificate: a host name or an IP address.
struct HostName {
  let text: String
  /// The name as a member of the extension for alternative names.
  let alternativeName: [UInt8]

  static let expected = "a host name such as notes.example.org, or an IP address"
  private static let nameTag: UInt8 = 2
  private static let addressTag: UInt8 = 7

  /// - Returns: nil for a text that can be neither.
  init?(_ text: String) {
    var (version4, version6) = (in_addr(), in6_addr())
    if inet_pton(AF_INET, text, &version4) == 1 {
      alternativeName = DER.tagged(Self.addressTag, withUnsafeBytes(of: &version4) { Array($0) })
    } else if inet_pton(AF_INET6, text, &version6) == 1 {
      alternativeName = DER.tagged(Self.addressTag, withUnsafeBytes(of: &version6) { Array($0) })
    } else {
      let labels = text.split(separator: ".", omittingEmptySubsequences: false)
      let isName = labels.allSatisfy { label in
        (1...63).contains(label.utf8.count) && !label.hasPrefix("-") && !label.hasSuffix("-")
          && label.utf8.allSatisfy { byte in
            let character = Character(UnicodeScalar(byte))
            return character.isASCII && (character.isLetter || character.isNumber || character == "-")
          }
      }
      guard isName, text.utf8.count <= ServerAddress.maximumHostLength else { return nil }
      alternativeName = DER.tagged(Self.nameTag, Array(text.utf8))
    }
    self.text = text
  }
}
