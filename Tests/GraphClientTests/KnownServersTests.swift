import Foundation
import GraphTesting
import GraphWire
import Testing

@testable import GraphClient

/// The file in which clients remember encrypted servers.
@Suite struct KnownServersTests {
  private let directory: TemporaryDirectory
  private let known: KnownServers
  private let first = PublicKeyHash(ofKeyInfo: [1])
  private let second = PublicKeyHash(ofKeyInfo: [2])

  init() throws {
    directory = try TemporaryDirectory()
    known = KnownServers(path: directory.path + "/a/b/known-servers")
  }

  @Test func lastEntryOfServerCounts() throws {
    #expect(try known.entry(host: "h", port: 1) == nil)
    try known.record(.key(first), host: "H.example", port: 1)
    try known.record(.authority, host: "h.example", port: 2)
    #expect(try known.entry(host: "h.EXAMPLE", port: 1) == .key(first))
    #expect(try known.entry(host: "h.example", port: 2) == .authority)
    #expect(try known.entry(host: "h.example", port: 3) == nil)
    try known.record(.key(second), host: "h.example", port: 1)
    #expect(try known.entry(host: "h.example", port: 1) == .key(second))
    #expect(try known.hasUsedEncryption(host: "H.example"))
    #expect(try !known.hasUsedEncryption(host: "example"))
  }

  @Test func sameEntryIsWrittenOnce() throws {
    for _ in 0..<3 { try known.record(.key(first), host: "h", port: 1) }
    #expect(try String(contentsOfFile: known.path, encoding: .utf8) == "h 1 \(first)\n")
  }

  /// An editor of another system may have written the file.
  @Test func fileWithOtherLineEndingsIsRead() throws {
    try known.record(.authority, host: "h", port: 1)
    try "# a comment\r\nh 1 \(first)\r\n\r\nh 2 authority\r\n".write(
      toFile: known.path, atomically: false, encoding: .utf8)
    #expect(try known.entry(host: "h", port: 1) == .key(first))
    #expect(try known.entry(host: "h", port: 2) == .authority)
  }

  @Test func fileIsPrivate() throws {
    try known.record(.authority, host: "h", port: 1)
    let attributes = try FileManager.default.attributesOfItem(atPath: known.path)
    #expect(attributes[.posixPermissions] as? Int == 0o600)
  }

  @Test func fileThatOthersMayWriteIsRefused() throws {
    try known.record(.authority, host: "h", port: 1)
    try FileManager.default.setAttributes([.posixPermissions: 0o620], ofItemAtPath: known.path)
    #expect(throws: KnownServers.FileError.self) { try known.entry(host: "h", port: 1) }
    #expect(throws: KnownServers.FileError.self) { try known.record(.key(first), host: "h", port: 1) }
  }

  @Test(arguments: ["h 1", "h one authority", "h 1 sha256:12", "h 1 authority more"])
  func unreadableLineIsReportedWithItsNumber(line: String) throws {
    try known.record(.authority, host: "h", port: 1)
    let text = try String(contentsOfFile: known.path, encoding: .utf8) + "# a comment\n\n" + line + "\n"
    try text.write(toFile: known.path, atomically: false, encoding: .utf8)
    #expect {
      try known.entry(host: "h", port: 1)
    } throws: { error in
      "\(error)".contains("line 4 ") && "\(error)".contains(known.path)
    }
  }

  @Test func linkIsNotFollowedForWriting() throws {
    try FileManager.default.createDirectory(atPath: directory.path + "/a/b", withIntermediateDirectories: true)
    let target = directory.path + "/target"
    try "".write(toFile: target, atomically: true, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: target)
    try FileManager.default.createSymbolicLink(atPath: known.path, withDestinationPath: target)
    #expect(throws: KnownServers.FileError.self) { try known.record(.authority, host: "h", port: 1) }
    #expect(try String(contentsOfFile: target, encoding: .utf8).isEmpty)
  }
}
