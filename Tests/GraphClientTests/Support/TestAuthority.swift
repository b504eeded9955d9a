import Crypto
import Foundation
import GraphTesting
import GraphWire

/// Certificates for tests, made by OpenSSL: an authority, and servers' certificates that it signs, in PEM files.
struct TestAuthority {
  private let directory: String
  let file: String

  /// - Parameter directory: where the files are written.
  init(in directory: String) throws {
    self.directory = directory
    file = directory + "/authority.pem"
    try Self.write(P256.Signing.PrivateKey().pemRepresentation, to: directory + "/authority.key")
    try OpenSSL.run(
      [
        "req", "-x509", "-key", "authority.key", "-subj", "/CN=tests", "-days", "1", "-out", "authority.pem",
        "-addext", "basicConstraints=critical,CA:TRUE",
      ], in: directory)
    // `openssl ca` alone can write a certificate whose validity is over.
    try Self.write(
      """
      [ca]
      default_ca = tests
      [tests]
      database = database
      new_certs_dir = .
      rand_serial = yes
      unique_subject = no
      default_md = sha256
      policy = names
      copy_extensions = copy
      [names]
      commonName = supplied

      """, to: directory + "/authority.cnf")
    try Self.write("", to: directory + "/database")
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
    let identity = Identity(
      certificate: "\(directory)/\(file).pem", key: "\(directory)/\(file).key",
      hash: PublicKeyHash(ofKeyInfo: Array(serverKey.publicKey.derRepresentation)))
    try Self.write(serverKey.pemRepresentation, to: identity.key)
    let alternative = host == "127.0.0.1" ? "IP:\(host)" : "DNS:\(host)"
    try OpenSSL.run(
      [
        "req", "-new", "-key", identity.key, "-subj", "/CN=\(host)", "-addext", "subjectAltName=\(alternative)",
        "-out", "request.pem",
      ], in: directory)
    // The new certificate is written to a second file and then renamed, because a server may be reading the old one.
    try OpenSSL.run(
      [
        "ca", "-batch", "-notext", "-config", "authority.cnf", "-cert", "authority.pem", "-keyfile", "authority.key",
        "-startdate", Self.time(validity.lowerBound), "-enddate", Self.time(validity.upperBound), "-in",
        "request.pem", "-out", "new.pem",
      ], in: directory)
    try Self.write(try String(contentsOfFile: directory + "/new.pem", encoding: .utf8), to: identity.certificate)
    return identity
  }

  static func write(_ text: String, to path: String) throws {
    try text.write(toFile: path, atomically: true, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
  }

  /// A time in seconds from now, such as 20270131120000Z.
  private static func time(_ seconds: Double) -> String {
    let text = Date().addingTimeInterval(seconds).formatted(.iso8601)
    return text.filter { $0.isNumber || $0 == "Z" }
  }
}
