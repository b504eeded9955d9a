import Foundation
import GraphTesting
import Logging
import Testing

@testable import GraphServer

/// The files of a server's certificate: the refused contents, and the time at which a change takes effect.
@Suite struct ServerCertificateTests {
  private let directory: TemporaryDirectory
  private let authority: TestAuthority
  private let log = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }

  init() throws {
    directory = try TemporaryDirectory()
    authority = try TestAuthority(in: directory.path)
  }

  private func refusal(_ certificate: String, _ key: String) -> String? {
    do {
      _ = try ServerCertificate(certificate: certificate, key: key)
      return nil
    } catch {
      return error.description
    }
  }

  @Test func unusableFilesAreRefusedWithReason() throws {
    let good = try authority.issue()
    let other = try authority.issue("other")
    let expired = try authority.issue("expired", validity: -7_200 ... -3_600)
    let early = try authority.issue("early", validity: 3_600...7_200)
    #expect(refusal(good.certificate, good.key) == nil)
    #expect(refusal(directory.path + "/none", good.key)?.contains("can't be read (No such file") == true)
    #expect(refusal(directory.path, good.key)?.contains("is not a regular file") == true)
    #expect(refusal(good.certificate, other.key)?.contains("is not the one of the certificate") == true)
    #expect(refusal(expired.certificate, expired.key)?.contains("expired on") == true)
    #expect(refusal(early.certificate, early.key)?.contains("is valid from") == true)
    #expect(refusal(good.key, good.key)?.contains("certificate") == true)
    #expect(refusal(good.certificate, good.certificate)?.contains("is not a private key in PEM") == true)
  }

  @Test func keyOfOtherUsersIsRefused() throws {
    let identity = try authority.issue()
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: identity.key)
    #expect(refusal(identity.certificate, identity.key)?.contains("chmod 600") == true)
  }

  @Test func largeFileIsRefused() throws {
    let identity = try authority.issue()
    let large = directory.path + "/large.pem"
    try TestAuthority.write(String(repeating: "x", count: CertificateFiles.maximumSize + 1), to: large)
    #expect(refusal(large, identity.key)?.contains("more than \(CertificateFiles.maximumSize)") == true)
  }

  @Test func changeTakesEffectWhenBothFilesAreSettled() throws {
    let first = try authority.issue()
    let certificate = try ServerCertificate(certificate: first.certificate, key: first.key)
    certificate.check(log)
    #expect(certificate.keyHash == first.hash)
    let second = try authority.issue()
    // The first check only sees the change.
    certificate.check(log)
    #expect(certificate.keyHash == first.hash)
    certificate.check(log)
    #expect(certificate.keyHash == second.hash)
  }

  @Test func brokenFilesAreReadOnceAndCorrectedOnesReplaceThem() throws {
    let first = try authority.issue()
    let certificate = try ServerCertificate(certificate: first.certificate, key: first.key)
    try TestAuthority.write("broken", to: first.key)
    for _ in 0..<3 { certificate.check(log) }
    #expect(certificate.keyHash == first.hash)
    let second = try authority.issue()
    for _ in 0..<2 { certificate.check(log) }
    #expect(certificate.keyHash == second.hash)
  }
}
