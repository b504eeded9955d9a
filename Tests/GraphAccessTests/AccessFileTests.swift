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

  /// The tokens among these that can no longer be used.
  private func ended(_ tokens: AccessToken..., now: Timestamp) throws -> Set<TokenSelector> {
    let states = try file.states(of: tokens.map(\.selector), now: now)
    #expect(states.count == tokens.count)
    return Set(states.filter { if case .failure = $0.value { true } else { false } }.keys)
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
    #expect(
      actions == ["user add", "grant", "user add", "grant", "user rename", "user remove", "user add", "grant"])
  }

  @Test func tokenIsValidUntilItIsRevoked() throws {
    let ann = try file.addUser("ann", now: 1, random: random)
    let token = try token("ann")
    let other = try self.token("ann")
    #expect(try file.authenticate(token, now: 200).user == ann)
    #expect(try ended(token, other, now: 200).isEmpty)
    #expect(try file.revokeToken(token.selector, now: 300))
    #expect(try !file.revokeToken(token.selector, now: 301))
    #expect(throws: Refusal.self) { try file.authenticate(token, now: 302) }
    #expect(try ended(token, other, now: 302) == [token.selector])
    #expect(try file.authenticate(other, now: 302).selector == other.selector)
    #expect(try file.tokens(of: "ann", now: 302).map(\.selector) == [other.selector])
    #expect(try file.tokens(withEnded: true, now: 302).count == 2)
    #expect(throws: Refusal.self) { try file.revokeToken(TokenSelector(1), now: 303) }
    #expect(throws: Refusal.self) { try file.createToken(of: "eve", label: "", expires: nil, now: 1, random: random) }
  }

  private func browser(_ user: AccessUser, with parent: AccessToken?, now: Timestamp) throws -> AccessToken {
    try file.createBrowserToken(
      ofUser: user.id, parent: parent?.selector, expires: 9_000, now: now, random: random)
  }

  /// A stolen token may have logged browsers in, and these others.
  @Test func revocationEndsTheBrowsersThatTheTokenLoggedIn() throws {
    let ann = try file.addUser("ann", now: 1, random: random)
    let (stolen, other) = (try token("ann"), try token("ann"))
    let first = try browser(ann, with: stolen, now: 200)
    let second = try browser(ann, with: first, now: 201)
    let (honest, owners) = (try browser(ann, with: other, now: 202), try browser(ann, with: nil, now: 203))
    #expect(try file.authenticate(second, now: 204).parent == first.selector)
    // A browser that logs out ends no other one.
    try file.revokeBrowserToken(first, now: 205)
    #expect(try ended(stolen, first, second, honest, owners, now: 206) == [first.selector])
    #expect(try file.revokeToken(stolen.selector, now: 207))
    #expect(
      try ended(stolen, first, second, honest, owners, now: 208)
        == [stolen.selector, first.selector, second.selector])
    #expect(try !file.revokeToken(stolen.selector, now: 209))
    // A login that the token had allowed before comes too late.
    let refusal = #expect(throws: Refusal.self) { try browser(ann, with: stolen, now: 210) }
    #expect(refusal?.message.contains("was revoked") == true)
    // A browser is revoked without the token that logged it in, but with those that it logged in itself.
    let third = try browser(ann, with: honest, now: 211)
    #expect(try file.revokeToken(honest.selector, now: 212))
    #expect(try ended(other, honest, third, now: 213) == [honest.selector, third.selector])
  }

  /// A link lets its holders log in as often as they like, and the file does not grow with it.
  @Test func loginsAboveTheMaximumRemoveTheBrowsersThatWereNotUsed() throws {
    let ann = try file.addUser("ann", now: 1, random: random)
    let link = try token("ann")
    let used = try browser(ann, with: link, now: 200)
    let unused = try browser(ann, with: link, now: 201)
    let below = try browser(ann, with: unused, now: 202)
    var newest = try (3..<AccessFile.maximumBrowsers).map { try browser(ann, with: link, now: 200 + Int64($0)) }
    _ = try file.authenticate(used, now: 1_000)
    #expect(try ended(used, unused, below, now: 1_000).isEmpty)
    newest.append(try browser(ann, with: link, now: 1_001))
    // Two that have ended are removed before others.
    #expect(try ended(used, unused, below, now: 1_002) == [unused.selector])
    try file.revokeBrowserToken(newest[0], now: 1_003)
    newest.append(try browser(ann, with: link, now: 1_004))
    #expect(try ended(below, newest[1], now: 1_005).isEmpty)
    // The clock was set back.
    let early = try browser(ann, with: link, now: 10)
    #expect(try ended(early, now: 11).isEmpty)
    // The removed browser had logged another one in, which still ends with the link.
    let last = try browser(ann, with: link, now: 1_006)
    #expect(try file.tokens(withEnded: true, now: 1_007).filter(\.isBrowser).count == AccessFile.maximumBrowsers)
    let lines = try file.read {
      try Int.fetchOne($0, sql: "SELECT count(*) FROM log WHERE action = 'token create'")
    }
    #expect(lines == AccessFile.maximumBrowsers + 1)
    #expect(try file.revokeToken(link.selector, now: 1_008))
    #expect(try file.tokens(now: 1_009).isEmpty && ended(last, used, now: 1_009).count == 2)
  }

  @Test func fileOfEarlierVersionsKeepsItsRights() throws {
    _ = try file.addUser("ann", now: 1, random: random)
    let queue = try DatabaseQueue(path: path)
    let removal = """
      DROP TABLE access_grant; ALTER TABLE user DROP COLUMN link; ALTER TABLE user DROP COLUMN generation;
      ALTER TABLE user DROP COLUMN seen; ALTER TABLE user DROP COLUMN since; ALTER TABLE user DROP COLUMN maker;
      ALTER TABLE token DROP COLUMN browser; ALTER TABLE token DROP COLUMN parent;

      """
    // The first version had no roles.
    try queue.write { try $0.execute(sql: removal + "PRAGMA user_version = 1") }
    let first = try #require(try AccessFile.open(directory: directory.path))
    #expect(try first.users().map(\.role) == [.editor])
    // The second one had no scopes.
    try queue.write { database in
      try database.execute(
        sql: removal + "ALTER TABLE user ADD COLUMN role TEXT NOT NULL DEFAULT 'editor'; PRAGMA user_version = 2")
      try database.execute(sql: "UPDATE user SET role = 'reader'")
    }
    let second = try #require(try AccessFile.open(directory: directory.path))
    #expect(try second.users().map(\.role) == [.reader])
    #expect(try second.grant(.owner, to: "ann", now: 2).role == .owner)
    // The third one had no tokens of browsers.
    let token = try second.createToken(of: "ann", label: "", expires: nil, now: 3, random: random)
    // Another connection: the first one does not notice that the column is back before it drops it.
    try DatabaseQueue(path: path).write { database in
      try database.execute(
        sql: """
          ALTER TABLE token DROP COLUMN browser; ALTER TABLE token DROP COLUMN parent;
          ALTER TABLE user DROP COLUMN maker; PRAGMA user_version = 3
          """)
    }
    let third = try #require(try AccessFile.open(directory: directory.path))
    #expect(try third.authenticate(token, now: 4).isBrowser == false)
    // The fourth one did not record the logins of browsers, and the makers of links.
    try DatabaseQueue(path: path).write { database in
      try database.execute(
        sql: """
          ALTER TABLE token DROP COLUMN parent; ALTER TABLE user DROP COLUMN maker; PRAGMA user_version = 4
          """)
    }
    let fourth = try #require(try AccessFile.open(directory: directory.path))
    #expect(try fourth.authenticate(token, now: 5).parent == nil)
    try queue.close()
  }

  @Test func unknownRoleIsDamage() throws {
    _ = try file.addUser("ann", now: 1, random: random)
    try file.write { try $0.execute(sql: "UPDATE access_grant SET role = 'king'") }
    let failure = #expect(throws: StoreFailure.self) { try file.users() }
    #expect(failure?.code == .corrupt)
  }

  @Test func removalOfUserAndExpiryEndTokens() throws {
    _ = try file.addUser("ann", now: 1, random: random)
    let (short, long) = (try token("ann", expires: 500), try token("ann"))
    #expect(try ended(short, long, now: 499).isEmpty)
    #expect(try ended(short, long, now: 500) == [short.selector])
    try file.removeUser("ann", now: 600)
    #expect(throws: Refusal.self) { try file.authenticate(long, now: 601) }
    #expect(try ended(long, AccessToken(random: random), now: 601).count == 2)
  }

  /// Only the expiry of a token depends on the clock: a revocation stays when the clock goes back.
  @Test func clockThatJumpsRevivesNoRevokedToken() throws {
    _ = try file.addUser("ann", now: 1_000, random: random)
    let (short, other) = (try token("ann", expires: 5_000), try token("ann"))
    #expect(try ended(short, other, now: 9_000_000) == [short.selector])
    #expect(try ended(short, other, now: 10).isEmpty)
    #expect(try file.revokeToken(other.selector, now: 9_000_000))
    #expect(try ended(short, other, now: 10) == [other.selector])
    #expect(throws: Refusal.self) { try file.authenticate(other, now: 10) }
    #expect(try file.authenticate(short, now: 10).user.name == "ann")
    // The generations of grants are numbers, not times.
    let before = try file.grant(.reader, to: "ann", now: 9_000_000).generation
    #expect(try file.grant(.editor, to: "ann", now: 10).generation > before)
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
