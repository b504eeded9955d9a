// Tests: ServerCertificateTests.swift
import Foundation
import GraphModel
import GraphWire
import NIOCore
import NIOSSL

/// The two files of a server's identity: a chain of certificates in PEM, the server's own first, and its private key.
struct CertificateFiles: Sendable {
  let certificate: String
  let key: String

  /// A larger file is not read: chains have a few KiB.
  static let maximumSize = 1 << 20

  /// The parts of the files that a server uses.
  struct Contents: Sendable {
    let context: NIOSSLContext
    let keyHash: PublicKeyHash
    /// The end of the validity of the server's own certificate, in seconds since 1970.
    let end: Int64
    let stamp: Stamp
  }

  /// Differs if a file was replaced or written: device, inode, size, mode, and times to the nanosecond of each.
  struct Stamp: Equatable, Sendable {
    private let parts: [Int64]

    fileprivate init(_ statuses: [stat?]) {
      parts = statuses.flatMap { status -> [Int64] in
        guard let status else { return [-1] }
        #if canImport(Darwin)
          let (written, changed) = (status.st_mtimespec, status.st_ctimespec)
        #else
          let (written, changed) = (status.st_mtim, status.st_ctim)
        #endif
        return [
          Int64(truncatingIfNeeded: status.st_dev), Int64(bitPattern: UInt64(status.st_ino)), Int64(status.st_size),
          Int64(written.tv_sec), Int64(written.tv_nsec), Int64(changed.tv_sec), Int64(changed.tv_nsec),
          Int64(status.st_mode),
        ]
      }
    }
  }

  /// The stamp of the files as they are now; a missing file has one too.
  var stamp: Stamp {
    Stamp(
      [certificate, key].map { path in
        var status = stat()
        return stat(path, &status) == 0 ? status : nil
      })
  }

  /// Reads and checks the files.
  /// - Parameter now: the time in seconds since 1970.
  /// - Throws: `CertificateFailure` for files that are missing, unreadable, not a certificate and its key, open to
  ///   other users, or not valid now.
  func read(now: Int64) throws(CertificateFailure) -> Contents {
    // Taken first: a change while the files are read is noticed by the next check.
    let stamp = stamp
    let (chainBytes, _) = try Self.bytes(of: certificate, "certificate")
    let (keyBytes, mode) = try Self.bytes(of: key, "private key")
    guard mode & S_IRWXO == 0 else {
      throw CertificateFailure(
        "every user of this machine may use the private key \(key)", advice: "Protect it with: chmod 600 \(key)")
    }
    let chain: [NIOSSLCertificate]
    do { chain = try NIOSSLCertificate.fromPEMBytes(chainBytes) } catch {
      throw CertificateFailure("\(certificate) is not a certificate in PEM", advice: Self.advice)
    }
    guard let own = chain.first else {
      throw CertificateFailure("\(certificate) contains no certificate in PEM", advice: Self.advice)
    }
    let (begin, end) = (Int64(own.notValidBefore), Int64(own.notValidAfter))
    guard now <= end else {
      throw CertificateFailure(
        "the certificate \(certificate) expired on \(RFC3339.text(end * 1_000_000))", advice: Self.advice)
    }
    guard now >= begin else {
      throw CertificateFailure(
        "the certificate \(certificate) is valid from \(RFC3339.text(begin * 1_000_000)) on only",
        advice: "Check the clock of this machine, or wait.")
    }
    guard let keyInfo = try? own.extractPublicKey().toSPKIBytes() else {
      throw CertificateFailure("the certificate \(certificate) has a key of an unknown kind", advice: Self.advice)
    }
    let privateKey: NIOSSLPrivateKey
    do { privateKey = try NIOSSLPrivateKey(bytes: keyBytes, format: .pem) } catch {
      throw CertificateFailure(
        "\(key) is not a private key in PEM, or it has a passphrase",
        advice: "Give a key without a passphrase, which only the daemon's user may read.")
    }
    do {
      let context = try NIOSSLContext(configuration: Self.configuration(chain, privateKey))
      return Contents(context: context, keyHash: PublicKeyHash(ofKeyInfo: keyInfo), end: end, stamp: stamp)
    } catch {
      throw CertificateFailure(
        "the private key \(key) is not the one of the certificate \(certificate)",
        advice: "Give the two files of one certificate.")
    }
  }

  private static let advice =
    "Renew it where it was issued, or create another with stickiesd certificate."

  private static func configuration(_ chain: [NIOSSLCertificate], _ key: NIOSSLPrivateKey) -> TLSConfiguration {
    var configuration = TLSConfiguration.makeServerConfiguration(
      certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
    configuration.minimumTLSVersion = .tlsv12
    // For TLS 1.2: only ciphers with forward secrecy and authenticated encryption. TLS 1.3 has no others.
    configuration.cipherSuiteValues = [
      .TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, .TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
      .TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, .TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
      .TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, .TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
    ]
    configuration.applicationProtocols = [TransportNames.applicationProtocol]
    configuration.shutdownTimeout = .seconds(2)
    return configuration
  }

  /// The contents of a regular file of at most `maximumSize` bytes, and its mode.
  private static func bytes(of path: String, _ what: String) throws(CertificateFailure) -> ([UInt8], mode_t) {
    // Opening a pipe must not wait for its writer.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      let cause = String(cString: strerror(errno))
      throw CertificateFailure(
        "the \(what) \(path) can't be read (\(cause))",
        advice: "Create both files with stickiesd certificate --name HOST, or name yours with --certificate and --key.")
    }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw CertificateFailure("the \(what) \(path) is not a regular file", advice: "Give the path of a file in PEM.")
    }
    guard status.st_size <= maximumSize else {
      throw CertificateFailure(
        "the \(what) \(path) has \(status.st_size) bytes, more than \(maximumSize)",
        advice: "Give the path of a file in PEM.")
    }
    var bytes = [UInt8]()
    while bytes.count <= maximumSize {
      let part = [UInt8](unsafeUninitializedCapacity: 16 << 10) { buffer, count in
        count = max(0, Foundation.read(descriptor, buffer.baseAddress, buffer.count))
      }
      if part.isEmpty { break }
      bytes += part
    }
    return (bytes, status.st_mode)
  }
}
