import Foundation
import GRDB
import GraphModel
import GraphTesting
import Synchronization
import Testing

@testable import GraphAccess

/// Roles on the complete store and on scopes, share links, and the erasure of names.
@Suite struct AccessGrantTests {
  private let directory: TemporaryDirectory
  private let file: AccessFile
  private let board = UniqueID(high: 7, low: 1)
  private let other = UniqueID(high: 7, low: 2)

  init() throws {
    directory = try TemporaryDirectory()
    chmod(directory.path, 0o700)
    file = try AccessFile.create(directory: directory.path)
  }

  private func random() -> UInt64 { .random(in: 0 ... .max) }

  private func roles(_ user: AccessUser) -> [UniqueID?: Role] {
    Dictionary(uniqueKeysWithValues: user.grants.map { ($0.scope, $0.role) })
  }

  @Test func rolesAreGrantedReplacedAndRemovedByScope() throws {
    #expect(try file.addUser("ann", role: nil, now: 1, random: random).grants.isEmpty)
    _ = try file.grant(.reader, to: "ann", on: board, now: 2)
    _ = try file.grant(.editor, to: "ann", on: other, now: 3)
    let both = try file.grant(.owner, to: "ann", on: board, now: 4)
    #expect(roles(both) == [board: .owner, other: .editor])
    #expect(both.role == nil)
    // The role on the store and those on scopes are independent.
    #expect(try file.grant(.reader, to: "ann", now: 5).role == .reader)
    #expect(roles(try file.removeGrant(of: "ann", on: other, now: 6)) == [nil: .reader, board: .owner])
    #expect(roles(try file.removeGrant(of: "ann", now: 7)) == [board: .owner])
    let missing = #expect(throws: Refusal.self) { try file.removeGrant(of: "ann", now: 8) }
    #expect(missing?.code == .notFound)
    #expect(throws: Refusal.self) { try file.grant(.reader, to: "eve", now: 9) }
  }

  @Test func eachChangeOfGrantsHasANewGeneration() throws {
    _ = try file.addUser("bob", now: 1, random: random)
    var seen = Set([try file.addUser("ann", now: 1, random: random).generation])
    let changes: [() throws -> AccessUser] = [
      { try file.grant(.reader, to: "ann", now: 2) }, { try file.grant(.editor, to: "ann", now: 3) },
      { try file.grant(.reader, to: "ann", on: board, now: 4) }, { try file.removeGrant(of: "ann", on: board, now: 5) },
    ]
    for change in changes { #expect(seen.insert(try change().generation).inserted) }
    // The changes of another user, and a rename, are none.
    let last = try file.user(named: "ann").generation
    _ = try file.grant(.reader, to: "bob", now: 6)
    #expect(try file.renameUser("ann", to: "anna", now: 7).generation == last)
  }

  /// Each of a thousand changes is made, and has a generation of its own.
  @Test func twoAdministratorsChangeRolesAtOnce() throws {
    let names = ["ann", "bob"]
    for name in names { _ = try file.addUser(name, role: nil, now: 1, random: random) }
    let before = try file.changes().count
    let (path, board) = (directory.path, board)
    let results = Mutex([Result<[Int64], any Error>]())
    DispatchQueue.concurrentPerform(iterations: 2) { admin in
      let result = Result {
        let file = try AccessFile.create(directory: path)
        return try (0..<500).map { number in
          let role = Role.allCases[(number + admin) % Role.allCases.count]
          return try file.grant(role, to: names[number % 2], on: board, now: Timestamp(number)).generation
        }
      }
      results.withLock { $0.append(result) }
    }
    let generations = try results.withLock { try $0.flatMap { try $0.get() } }
    #expect(Set(generations).count == 1_000)
    #expect(try file.changes().count == before + 1_000)
    let users = try names.map { try file.user(named: $0) }
    #expect(users.map(\.generation).max() == generations.max())
    for user in users { #expect(user.grants.count == 1 && generations.contains(user.generation)) }
  }

  @Test func stateOfATokenShowsGrantsOfAnotherProcess() throws {
    _ = try file.addUser("ann", role: nil, now: 1, random: random)
    let token = try file.createToken(of: "ann", label: "", expires: nil, now: 1, random: random)
    func grants() throws -> [UniqueID?: Role] {
      let state = try #require(try file.states(of: [token.selector], now: 2)[token.selector])
      return roles(try state.get().user)
    }
    #expect(try grants().isEmpty)
    let process = try #require(try AccessFile.open(directory: directory.path))
    _ = try process.grant(.reader, to: "ann", on: board, now: 3)
    #expect(try grants() == [board: .reader])
    // Without a change, the same rows are used.
    #expect(try grants() == [board: .reader])
    _ = try process.removeGrant(of: "ann", on: board, now: 4)
    #expect(try grants().isEmpty)
    try process.removeUser("ann", now: 5)
    #expect(throws: Refusal.self) { try grants() }
  }

  @Test func numberOfGrantsIsLimited() throws {
    _ = try file.addUser("ann", role: nil, now: 1, random: random)
    for number in 0..<UInt64(AccessUser.maximumGrants) {
      _ = try file.grant(.reader, to: "ann", on: UniqueID(high: 9, low: number), now: 1)
    }
    let refusal = #expect(throws: Refusal.self) { try file.grant(.reader, to: "ann", on: board, now: 2) }
    #expect(refusal?.code == .limit)
    // A present grant can still be replaced.
    let changed = try file.grant(.editor, to: "ann", on: UniqueID(high: 9, low: 3), now: 2)
    #expect(changed.grants.count == AccessUser.maximumGrants)
  }

  @Test func damagedScopeIsReported() throws {
    _ = try file.addUser("ann", now: 1, random: random)
    try file.write { try $0.execute(sql: "UPDATE access_grant SET scope = 'board'") }
    let failure = #expect(throws: StoreFailure.self) { try file.users() }
    #expect(failure?.code == .corrupt)
  }

  // MARK: - Share links

  @Test func shareLinkIsATokenWithARoleOnOneScope() throws {
    let made = try file.createLink(
      to: board, role: .reader, label: "plan", expires: 500, now: 1, random: random)
    #expect(made.link.isLink && made.link.name == "link: plan" && roles(made.link) == [board: .reader])
    let record = try file.authenticate(made.token, now: 400)
    #expect(record.user.principal == made.link.principal)
    #expect(throws: Refusal.self) { try file.authenticate(made.token, now: 500) }
    // A name is used once, and no user can have the name of a link.
    #expect(throws: Refusal.self) {
      try file.createLink(to: other, role: .reader, label: "plan", expires: nil, now: 2, random: random)
    }
    #expect(throws: Refusal.self) { try file.addUser("link: plan", now: 2, random: random) }
    #expect(throws: Refusal.self) {
      try file.createLink(to: board, role: .owner, label: "all", expires: nil, now: 2, random: random)
    }
    #expect(throws: Refusal.self) {
      try file.createLink(
        to: board, role: .reader, label: made.token.secretText, expires: nil, now: 2, random: random)
    }
    #expect(try file.users().map(\.name) == ["link: plan"])
    try file.removeUser("link: plan", now: 3)
    #expect(throws: Refusal.self) { try file.authenticate(made.token, now: 4) }
  }

  // MARK: - Erasure

  @Test func erasedNameIsNowhereInTheFile() throws {
    let name = "Wilhelmina Featherstone"
    let user = try file.addUser("first " + name, now: 1, random: random)
    _ = try file.renameUser("first " + name, to: name, now: 2)
    let token = try file.createToken(of: name, label: "laptop of " + name, expires: nil, now: 3, random: random)
    _ = try file.addUser("bob", now: 3, random: random)
    try file.eraseUser(name, now: 4)
    #expect(throws: Refusal.self) { try file.authenticate(token, now: 5) }
    #expect(try file.erasedPrincipals() == [user.principal.id])
    #expect(try file.users().map(\.name) == ["bob"])
    #expect(try file.users(withRemoved: true).first { $0.isRemoved }?.id == user.id)
    for name in try FileManager.default.contentsOfDirectory(atPath: directory.path) {
      let content = try Data(contentsOf: URL(fileURLWithPath: directory.path + "/" + name))
      #expect(content.range(of: Data("Wilhelmina".utf8)) == nil, "\(name)")
    }
  }

  @Test func nameOfARemovedUserIsErasedByTheId() throws {
    let user = try file.addUser("ann", now: 1, random: random)
    try file.removeUser("ann", now: 2)
    // Another user has the name now.
    let second = try file.addUser("ann", now: 3, random: random)
    #expect(throws: Refusal.self) { try file.eraseUser("user:0000", now: 4) }
    try file.eraseUser(user.principal.id, now: 4)
    #expect(try file.erasedPrincipals() == [user.principal.id])
    #expect(try file.users() == [second])
  }
}
