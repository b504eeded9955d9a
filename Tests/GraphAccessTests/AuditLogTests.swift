import Foundation
import GraphModel
import GraphTesting
import Testing

@testable import GraphAccess

/// The files of the audit log: their lines, their size, and who may have access.
@Suite struct AuditLogTests {
  private let directory: TemporaryDirectory
  private var path: String { directory.path + "/" + AuditLog.name }

  init() throws { directory = try TemporaryDirectory() }

  private func mode(_ path: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
  }

  @Test func entriesAreReadAsWritten() throws {
    let log = AuditLog(directory: directory.path)
    #expect(try log.entries().entries.isEmpty)
    let entries = [
      AuditEntry("login", at: 1_000_000, user: "user:a", address: "10.0.0.1", token: "0123456789abcdef"),
      AuditEntry("login refused", at: 2_000_000, address: "2001:db8::1", text: "not valid here", omitted: 3),
      AuditEntry("refused", at: 3_000_000, user: "uid:7", address: "local", text: "this needs the role editor"),
    ]
    for entry in entries { try log.append(entry) }
    let read = try log.entries()
    #expect(read.entries == entries && read.damaged == 0)
    #expect(try mode(path) == 0o600)
  }

  @Test func textCannotAddLine() throws {
    let log = AuditLog(directory: directory.path)
    let forged = "x\n{\"time\":\"2026-01-01T00:00:00Z\",\"event\":\"login\",\"user\":\"user:b\"}\r\n"
    try log.append(AuditEntry("refused", at: 0, user: forged, address: forged, text: forged))
    let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    #expect(bytes.count { $0 == UInt8(ascii: "\n") } == 1)
    let read = try log.entries()
    #expect(read.entries.map(\.event) == ["refused"] && read.entries.first?.text == forged)
  }

  @Test func longTextIsCut() throws {
    let log = AuditLog(directory: directory.path)
    try log.append(AuditEntry("refused", at: 0, text: String(repeating: "é", count: 10_000)))
    let text = try #require(try log.entries().entries.first?.text)
    #expect(text.utf8.count <= AuditEntry.maximumTextSize + 3 && text.hasSuffix("é…"))
  }

  @Test func filesAreRotatedAndBounded() throws {
    let log = AuditLog(directory: directory.path, fileSize: 200)
    for number in 0..<100 { try log.append(AuditEntry("login", at: Timestamp(number), user: "user:\(number)")) }
    let files = try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted()
    #expect(Set(files).isSubset(of: ["audit.log", "audit.log.1", "audit.log.2", "audit.log.3"]))
    #expect(files.count >= 3)
    for file in files {
      #expect(try mode(directory.path + "/" + file) == 0o600)
      // At most one line more than the size.
      #expect(try Data(contentsOf: URL(fileURLWithPath: directory.path + "/" + file)).count < 400)
    }
    let times = try log.entries().entries.map(\.time)
    #expect(times.last == 99 && times == Array((100 - Timestamp(times.count))..<100))
  }

  @Test func damagedLinesAreCountedAndOmitted() throws {
    let log = AuditLog(directory: directory.path)
    try log.append(AuditEntry("login", at: 1))
    let handle = try #require(FileHandle(forWritingAtPath: path))
    try handle.seekToEnd()
    try handle.write(contentsOf: Data("no json\n{\"event\":1}\n\u{0}\n".utf8))
    try handle.close()
    try log.append(AuditEntry("login", at: 2))
    let read = try log.entries()
    #expect(read.entries.map(\.time) == [1, 2] && read.damaged == 3)
  }

  @Test func fileOfOthersIsRefused() throws {
    let log = AuditLog(directory: directory.path)
    try log.append(AuditEntry("login", at: 1))
    for mode in [0o640, 0o602, 0o666] {
      try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
      #expect(throws: StoreFailure.self) { try log.append(AuditEntry("login", at: 2)) }
      #expect(throws: StoreFailure.self) { try log.entries() }
    }
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    #expect(try log.entries().entries.count == 1)
  }

  @Test func linkIsRefused() throws {
    let target = directory.path + "/target"
    #expect(FileManager.default.createFile(atPath: target, contents: nil, attributes: [.posixPermissions: 0o600]))
    try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
    let log = AuditLog(directory: directory.path)
    #expect(throws: StoreFailure.self) { try log.append(AuditEntry("login", at: 1)) }
    try FileManager.default.removeItem(atPath: path)
    try FileManager.default.linkItem(atPath: target, toPath: path)
    #expect(throws: StoreFailure.self) { try log.append(AuditEntry("login", at: 1)) }
    #expect(try Data(contentsOf: URL(fileURLWithPath: target)).isEmpty)
  }

  @Test func changesOfAccountsAreListedWithoutSecrets() throws {
    let file = try AccessFile.create(directory: directory.path)
    var number: UInt64 = 40
    func random() -> UInt64 {
      number += 1
      return number
    }
    let ann = try file.addUser("ann", now: 1, random: random)
    let token = try file.createToken(of: "ann", label: "", expires: nil, now: 2, random: random)
    _ = try file.grant(.reader, to: "ann", now: 3)
    _ = try file.revokeToken(token.selector, now: 4)
    let changes = try file.changes()
    #expect(changes.allSatisfy { $0.user == ann.principal.id })
    #expect(
      changes.map(\.event) == ["user add", "grant", "token create", "grant", "token revoke"], "\(changes)")
    #expect(changes[2].token == token.selector.description && changes[3].text == "reader")
    #expect(!changes.contains { $0.json.text.contains(token.secretText) })
  }
}
