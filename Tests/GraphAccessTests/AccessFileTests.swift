import Foundation
import GRDB
import GraphModel
import GraphTesting
import Testing

@testable import GraphAccess

/// The file of users and tokens.
@Suite struct AccessFileTests {
  private let directory: TemporaryDirectory
  private let file: AccessFile
  private var path: String { directory.path + "/access.sqlite" }

  init() throws {
    directory = try TemporaryDirectory()
    chmod(directory.path, 0o700)
    file = try AccessFile.create(directory: directory.path)
  }

  private func random() -> UInt64 { .random(in: 0 ... .max) }

  private func token(_ user: String, expires: Timestamp? = nil) throws -> AccessToken {
    try file.createToken(of: user, label: "laptop", expires: expires, now: 100, random: random)
  }

  private func mode() throws -> mode_t {
    var status = stat()
    try #require(lstat(path, &status) == 0)
    return status.st_mode & 0o777
  }

  // MARK: - Users and tokens

  @Test func usersAreListedRenamedAndRemoved() throws {
    let ann = try file.addUser("ann", now: 1, random: random)
    _ = try file.addUser("bob", now: 2, random: random)
    #expect(try file.users().map(\.name) == ["ann", "bob"])
    #expect(try file.renameUser("ann", to: "anna", now: 3).id == ann.id)
    #expect(throws: Refusal.self) { try file.addUser("bob", now: 4, random: random) }
    #expect(throws: Refusal.self) { try file.renameUser("anna", to: "bob", now: 4) }
    #expect(throws: Refusal.self) { try file.renameUser("ann", to: "a", now: 4) }
    try file.removeUser("anna", now: 5)
    #expect(throws: Refusal.self) { try file.removeUser("anna", now: 6) }
    #expect(try file.users().map(\.name) == ["bob"])
    // The name is free again, for another account.
    let second = try file.addUser("anna", now: 7, random: random)
    #expect(second.id != ann.id)
    #expect(try file.users(withRemoved: true).count == 3)
    let actions = try file.read { try String.fetchAll($0, sql: "SELECT action FROM log ORDER BY number") }
    #expect(actions == ["user add", "user add", "user rename", "user remove", "user add"])
  }

  @Test func tokenIsValidUntilItIsRevoked() throws {
    let ann = try file.addUser("ann", now: 1, random: random)
    let token = try token("ann")
    let other = try self.token("ann")
    #expect(try file.authenticate(token, now: 200).user == ann)
    #expect(try file.ended(among: [token.selector: .editor, other.selector: .editor], now: 200).isEmpty)
    #expect(try file.revokeToken(token.selector, now: 300))
    #expect(try !file.revokeToken(token.selector, now: 301))
    #expect(throws: Refusal.self) { try file.authenticate(token, now: 302) }
    let ended = try file.ended(among: [token.selector: .editor, other.selector: .editor], now: 302)
    #expect(ended.keys.map { $0 } == [token.selector])
    #expect(try file.authenticate(other, now: 302).selector == other.selector)
    #expect(try file.tokens(of: "ann", now: 302).map(\.selector) == [other.selector])
    #expect(try file.tokens(withEnded: true, now: 302).count == 2)
    #expect(throws: Refusal.self) { try file.revokeToken(TokenSelector(1), now: 303) }
    #expect(throws: Refusal.self) { try file.createToken(of: "eve", label: "", expires: nil, now: 1, random: random) }
  }

  @Test func grantEndsSessionsWithTheFormerRole() throws {
    #expect(try file.addUser("ann", now: 1, random: random).role == .editor)
    let token = try token("ann")
    #expect(try file.authenticate(token, now: 200).user.role == .editor)
    #expect(try file.grant(.reader, to: "ann", now: 201).role == .reader)
    #expect(try file.users().map(\.role) == [.reader])
    // A client that connects again gets the new role.
    let ended = try file.ended(among: [token.selector: .editor], now: 202)
    #expect(ended[token.selector]?.code == .unavailable)
    #expect(try file.ended(among: [token.selector: .reader], now: 202).isEmpty)
    #expect(try file.authenticate(token, now: 203).user.role == .reader)
    #expect(throws: Refusal.self) { try file.grant(.owner, to: "eve", now: 204) }
  }

  @Test func fileWithoutRolesGetsThem() throws {
    _ = try file.addUser("ann", now: 1, random: random)
    let queue = try DatabaseQueue(path: path)
    try queue.write { try $0.execute(sql: "ALTER TABLE user DROP COLUMN role; PRAGMA user_version = 1") }
    try queue.close()
    let opened = try #require(try AccessFile.open(directory: directory.path))
    #expect(try opened.users().map(\.role) == [.editor])
    #expect(try opened.grant(.reader, to: "ann", now: 2).role == .reader)
  }

  @Test func unknownRoleIsDamage() throws {
    _ = try file.addUser("ann", now: 1, random: random)
    try file.write { try $0.execute(sql: "UPDATE user SET role = 'king'") }
    let failure = #expect(throws: StoreFailure.self) { try file.users() }
    #expect(failure?.code == .corrupt)
  }

  @Test func removalOfUserAndExpiryEndTokens() throws {
    _ = try file.addUser("ann", now: 1, random: random)
    let (short, long) = (try token("ann", expires: 500), try token("ann"))
    #expect(try file.ended(among: [short.selector: .editor, long.selector: .editor], now: 499).isEmpty)
    let ended = try file.ended(among: [short.selector: .editor, long.selector: .editor], now: 500)
    #expect(ended.keys.map { $0 } == [short.selector])
    try file.removeUser("ann", now: 600)
    #expect(throws: Refusal.self) { try file.authenticate(long, now: 601) }
    #expect(try file.ended(among: [long.selector: .editor, TokenSelector(9): .editor], now: 601).count == 2)
  }

  @Test func lastUseIsRecordedAboutOnceAMinute() throws {
    _ = try file.addUser("ann", now: 1, random: random)
    let token = try token("ann")
    for (now, expected) in [(1_000, 1_000), (60_000_999, 1_000), (60_001_000, 60_001_000)] as [(Timestamp, Timestamp)] {
      _ = try file.authenticate(token, now: now)
      #expect(try file.tokens(now: now).map(\.lastUsed) == [expected])
    }
    // A clock that went back does not stop it.
    _ = try file.authenticate(token, now: 5)
    #expect(try file.tokens(now: 5).map(\.lastUsed) == [5])
  }

  @Test func noFileContainsTheSecret() throws {
    _ = try file.addUser("ann", now: 1, random: random)
    let token = try token("ann")
    _ = try file.authenticate(token, now: 200)
    let secret = Data(token.secretText.utf8.dropFirst(20).prefix(20))
    for name in try FileManager.default.contentsOfDirectory(atPath: directory.path) {
      let content = try Data(contentsOf: URL(fileURLWithPath: directory.path + "/" + name))
      #expect(content.range(of: secret) == nil, "\(name)")
    }
  }

  // MARK: - Other processes and bad files

  @Test func changesOfAnotherProcessAreSeen() throws {
    let other = try #require(try AccessFile.open(directory: directory.path))
    let version = try file.dataVersion()
    #expect(try file.dataVersion() == version)
    _ = try other.addUser("ann", now: 1, random: random)
    #expect(try file.dataVersion() != version)
    #expect(try file.users().map(\.name) == ["ann"])
  }

  @Test func fileIsPrivate() throws {
    #expect(try mode() == 0o600)
    let empty = try TemporaryDirectory()
    chmod(empty.path, 0o700)
    #expect(try AccessFile.open(directory: empty.path) == nil)
    // An open umask changes nothing.
    let before = umask(0)
    defer { umask(before) }
    _ = try AccessFile.create(directory: empty.path)
    var status = stat()
    #expect(lstat(empty.path + "/access.sqlite", &status) == 0 && status.st_mode & 0o777 == 0o600)
  }

  @Test(arguments: [0o640, 0o604, 0o660, 0o606] as [mode_t]) func fileOpenToOthersIsRefused(mode: mode_t) throws {
    chmod(path, mode)
    let failure = #expect(throws: StoreFailure.self) { try AccessFile.open(directory: directory.path) }
    #expect(failure?.code == .readOnly && failure?.description.contains("chmod 600") == true)
    #expect(throws: StoreFailure.self) { try file.verify() }
  }

  @Test func movedReplacedAndLinkedFilesAreRefused() throws {
    try file.verify()
    let aside = path + ".aside"
    rename(path, aside)
    #expect(throws: StoreFailure.self) { try file.verify() }
    symlink(aside, path)
    #expect(throws: StoreFailure.self) { try AccessFile.open(directory: directory.path) }
    unlink(path)
    _ = try AccessFile.create(directory: directory.path)
    #expect(throws: StoreFailure.self) { try file.verify() }
    rename(aside, path)
    try file.verify()
  }

  @Test func cutFileIsDamagedAndNotOneWithoutUsers() throws {
    #expect(try !file.hasUsers())
    _ = try file.addUser("ann", now: 1, random: random)
    try file.removeUser("ann", now: 2)
    #expect(try file.hasUsers())
    truncate(path, 0)
    let failure = #expect(throws: StoreFailure.self) { try AccessFile.open(directory: directory.path) }
    #expect(failure?.code == .corrupt && failure?.description.contains("it is empty") == true)
    #expect(throws: StoreFailure.self) { try AccessFile.create(directory: directory.path) }
    #expect(throws: StoreFailure.self) { try file.hasUsers() }
  }

  @Test(arguments: [0o770, 0o707, 0o720] as [mode_t])
  func directoryInWhichOthersCanReplaceTheFileIsRefused(mode: mode_t) throws {
    chmod(directory.path, mode)
    let failure = #expect(throws: StoreFailure.self) { try AccessFile.open(directory: directory.path) }
    #expect(failure?.code == .readOnly && failure?.description.contains("chmod go-w") == true)
    #expect(throws: StoreFailure.self) { try file.verify() }
    // Only the owner of a file can replace it there.
    chmod(directory.path, mode | S_ISVTX)
    try file.verify()
    chmod(directory.path, 0o700)
  }

  @Test func creationLeavesNoOtherFile() throws {
    _ = try AccessFile.create(directory: directory.path)
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["access.sqlite"])
  }

  @Test func namesAndLabelsThatAreTokensAreRefused() throws {
    let ann = try file.addUser("ann", now: 1, random: random)
    let secret = try token("ann").secretText
    #expect(throws: Refusal.self) { try file.addUser(secret, now: 2, random: random) }
    #expect(throws: Refusal.self) { try file.renameUser("ann", to: secret, now: 2) }
    #expect(throws: Refusal.self) {
      try file.createToken(of: "ann", label: "for " + secret, expires: nil, now: 2, random: random)
    }
    #expect(try file.users() == [ann])
  }

  @Test func damagedAndForeignFilesAreRefused() throws {
    let folder = try TemporaryDirectory()
    chmod(folder.path, 0o700)
    let path = folder.path + "/access.sqlite"
    try Data("this is a text with the name of a database".utf8).write(to: URL(fileURLWithPath: path))
    chmod(path, 0o600)
    let failure = #expect(throws: StoreFailure.self) { try AccessFile.open(directory: folder.path) }
    #expect(failure?.code == .corrupt)
    unlink(path)
    let queue = try DatabaseQueue(path: path)
    try queue.write { try $0.execute(sql: "CREATE TABLE x (y)") }
    try queue.close()
    chmod(path, 0o600)
    let foreign = #expect(throws: StoreFailure.self) { try AccessFile.open(directory: folder.path) }
    #expect(foreign?.code == .notAStore)
    let later = try DatabaseQueue(path: self.path)
    try later.write { try $0.execute(sql: "PRAGMA user_version = 9") }
    try later.close()
    let newer = #expect(throws: StoreFailure.self) { try AccessFile.open(directory: directory.path) }
    #expect(newer?.code == .newerVersion)
  }
}
