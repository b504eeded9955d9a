import Crypto
import Foundation
import GraphTesting
import GraphWire
import X509

/// Certificates for tests: an authority, and servers' certificates that it signs, in PEM files.
struct TestAuthority {
  private let key = P256.Signing.PrivateKey()
  private let name: DistinguishedName
  private let directory: String
  let file: String

  /// - Parameter directory: where the files are written.
  init(in directory: String) throws {
    self.directory = directory
    file = directory + "/authority.pem"
    name = try DistinguishedName { CommonName("tests") }
    let certificate = try Certificate(
      version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: Certificate.PublicKey(key.publicKey),
      notValidBefore: Date().addingTimeInterval(-3_600), notValidAfter: Date().addingTimeInterval(86_400),
      issuer: name, subject: name, signatureAlgorithm: .ecdsaWithSHA256,
      extensions: try Certificate.Extensions { Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil)) },
      issuerPrivateKey: Certificate.PrivateKey(key))
    try certificate.serializeAsPEM().pemString.write(toFile: file, atomically: true, encoding: .utf8)
  }

  /// The files of a server's certificate, and the hash of its key.
  struct Identity {
    let certificate: String
    let key: String
    let hash: PublicKeyHash
  }

  /// Writes a certificate and its key, replacing those of the same file name.
  /// - Parameters:
  ///   - host: the host name in the certificate, or 127.0.0.1.
  ///   - validity: the validity in seconds from now.
  func issue(
    _ file: String = "server", for host: String = "127.0.0.1", validity: ClosedRange<Double> = -60...86_400
  ) throws -> Identity {
    let serverKey = P256.Signing.PrivateKey()
    let alternative: GeneralName =
      host == "127.0.0.1" ? .ipAddress(.init(contentBytes: [127, 0, 0, 1])) : .dnsName(host)
    let now = Date()
    let certificate = try Certificate(
      version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: Certificate.PublicKey(serverKey.publicKey),
      notValidBefore: now.addingTimeInterval(validity.lowerBound),
      notValidAfter: now.addingTimeInterval(validity.upperBound), issuer: name,
      subject: try DistinguishedName { CommonName(host) }, signatureAlgorithm: .ecdsaWithSHA256,
      extensions: try Certificate.Extensions { SubjectAlternativeNames([alternative]) },
      issuerPrivateKey: Certificate.PrivateKey(key))
    let identity = Identity(
      certificate: "\(directory)/\(file).pem", key: "\(directory)/\(file).key",
      hash: PublicKeyHash(ofKeyInfo: Array(serverKey.publicKey.derRepresentation)))
    try Self.write(serverKey.pemRepresentation, to: identity.key)
    try Self.write(try certificate.serializeAsPEM().pemString, to: identity.certificate)
    return identity
  }

  static func write(_ text: String, to path: String) throws {
    try text.write(toFile: path, atomically: true, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
  }
}
