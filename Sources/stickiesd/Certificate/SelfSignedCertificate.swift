import Crypto
import Foundation
import GraphWire
import X509

/// A new P-256 key and its self-signed certificate, in PEM.
///
/// Clients verify it by the hash of its key, or with the certificate itself as their file of authorities.
struct SelfSignedCertificate {
  let certificate: String
  let key: String
  let keyHash: PublicKeyHash
  let end: Date

  /// - Parameters:
  ///   - names: the host names and IP addresses of the server, at least one.
  ///   - begin: the beginning of the validity.
  ///   - days: the length of the validity.
  init(names: [HostName], begin: Date, days: Int) throws {
    precondition(!names.isEmpty, "a certificate is for at least one name")
    let privateKey = P256.Signing.PrivateKey()
    let subject = try DistinguishedName { CommonName(names[0].text) }
    end = begin.addingTimeInterval(Double(days) * 86_400)
    let certificate = try Certificate(
      version: .v3, serialNumber: Certificate.SerialNumber(),
      publicKey: Certificate.PublicKey(privateKey.publicKey),
      notValidBefore: begin, notValidAfter: end, issuer: subject, subject: subject,
      signatureAlgorithm: .ecdsaWithSHA256,
      extensions: try Certificate.Extensions {
        // Its own authority: TLS libraries accept a given file of authorities only if it has one.
        Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
        Critical(KeyUsage(digitalSignature: true, keyCertSign: true))
        try ExtendedKeyUsage([.serverAuth])
        SubjectAlternativeNames(names.map(\.generalName))
      },
      issuerPrivateKey: Certificate.PrivateKey(privateKey))
    self.certificate = try certificate.serializeAsPEM().pemString + "\n"
    key = privateKey.pemRepresentation + "\n"
    keyHash = PublicKeyHash(ofKeyInfo: Array(privateKey.publicKey.derRepresentation))
  }
}

/// A name of a server in its certificate: a host name or an IP address.
struct HostName {
  let text: String
  let generalName: GeneralName

  static let expected = "a host name such as notes.example.org, or an IP address"

  /// - Returns: nil for a text that can be neither.
  init?(_ text: String) {
    var (version4, version6) = (in_addr(), in6_addr())
    if inet_pton(AF_INET, text, &version4) == 1 {
      generalName = .ipAddress(.init(contentBytes: withUnsafeBytes(of: &version4) { Array($0)[...] }))
    } else if inet_pton(AF_INET6, text, &version6) == 1 {
      generalName = .ipAddress(.init(contentBytes: withUnsafeBytes(of: &version6) { Array($0)[...] }))
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
      generalName = .dnsName(text)
    }
    self.text = text
  }
}
