import Foundation
import GraphModel
import GraphTesting
import Testing

@testable import GraphAccess

/// Share links that users make for scopes of their own.
@Suite struct ShareLinkTests {
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

  private func owner(_ name: String, of scope: UniqueID?) throws -> AccessUser {
    _ = try file.addUser(name, role: nil, now: 1, random: random)
    return try file.grant(.owner, to: name, on: scope, now: 1)
  }

  private func share(
    _ scope: UniqueID, by sharer: AccessUser, label: String? = nil, expires: Timestamp? = nil, now: Timestamp = 2
  ) throws -> (link: TokenRecord, token: AccessToken) {
    try file.shareScope(
      scope, role: .reader, label: label, expires: expires, by: sharer, now: now, random: random)
  }

  @Test func ownerOfAScopeSharesIt() throws {
    let ann = try owner("ann", of: board)
    let made = try share(board, by: ann, label: "plan", expires: 50)
    #expect(made.link.user.isLink && made.link.user.name == "link: plan" && made.link.expires == 50)
    let holder = try file.authenticate(made.token, now: 3).user
    #expect(holder.rights.role(in: board) == .reader && holder.rights.role(in: other) == nil)
    #expect(try file.links(to: board, for: ann, now: 3).map(\.user.name) == ["link: plan"])
    // An owner of everything owns this scope, too.
    #expect(try file.links(to: board, for: try owner("root", of: nil), now: 3).count == 1)
    #expect(throws: Refusal.self) { try file.links(to: other, for: ann, now: 3) }
  }

  @Test func linkWithoutALabelHasDigits() throws {
    let ann = try owner("ann", of: board)
    let names = try [share(board, by: ann), share(board, by: ann)].map(\.link.user.name)
    #expect(Set(names).count == 2 && names.allSatisfy { $0.count == AccessFile.linkPrefix.count + 16 })
  }

  @Test(arguments: [Role.reader, .commenter, .editor]) func othersDoNotShare(role: Role) throws {
    let ann = try owner("ann", of: board)
    let made = try share(board, by: ann)
    _ = try file.addUser("bob", role: role, now: 1, random: random)
    let bob = try file.grant(.owner, to: "bob", on: other, now: 1)
    let refusal = #expect(throws: Refusal.self) { try share(board, by: bob) }
    #expect(refusal?.code == .notAllowed && refusal?.message.contains("your role here is \(role.rawValue)") == true)
    #expect(throws: Refusal.self) { try file.links(to: board, for: bob, now: 3) }
    // The link does not exist for bob.
    let missing = #expect(throws: Refusal.self) { try file.removeLink(made.link.user.id, by: bob, now: 3) }
    #expect(missing?.code == .notFound)
    #expect(try file.authenticate(made.token, now: 4).user.isLink)
  }

  @Test func removedLinkEndsForAllItsBrowsers() throws {
    let ann = try owner("ann", of: board)
    let made = try share(board, by: ann)
    let cookie = try file.createBrowserToken(
      ofUser: made.link.user.id, parent: made.token.selector, expires: 100, now: 3, random: random)
    // The list has the link once, however many browsers have opened it.
    #expect(try file.links(to: board, for: ann, now: 4).map(\.selector) == [made.token.selector])
    try file.removeLink(made.link.user.id, by: ann, now: 5)
    #expect(throws: Refusal.self) { try file.authenticate(cookie, now: 6) }
    #expect(throws: Refusal.self) { try file.authenticate(made.token, now: 6) }
    #expect(try file.links(to: board, for: ann, now: 6).isEmpty)
    #expect(throws: Refusal.self) { try file.removeLink(made.link.user.id, by: ann, now: 7) }
  }

  /// A member who leaves may know the secrets of its links.
  @Test func linksEndWithTheirMaker() throws {
    let (ann, bob) = (try owner("ann", of: board), try owner("bob", of: board))
    let (own, others) = (try share(board, by: ann, label: "plan"), try share(board, by: bob))
    let kept = try file.createLink(
      to: board, role: .editor, label: "console", expires: nil, now: 2, random: random)
    #expect(own.link.user.maker == ann.id && kept.link.maker == nil)
    #expect(try file.removeUser("ann", now: 3).map(\.name) == ["link: plan"])
    #expect(throws: Refusal.self) { try file.authenticate(own.token, now: 4) }
    for token in [others.token, kept.token] { #expect(try file.authenticate(token, now: 4).user.isLink) }
    #expect(try file.removeUser("bob", keepsLinks: true, now: 5).isEmpty)
    #expect(try file.authenticate(others.token, now: 6).user.maker == bob.id)
    #expect(try file.names()[bob.id] == "bob")
  }

  @Test func accountIsNoLink() throws {
    let ann = try owner("ann", of: nil)
    _ = try file.createToken(of: "ann", label: "", expires: nil, now: 2, random: random)
    #expect(throws: Refusal.self) { try file.removeLink(ann.id, by: ann, now: 3) }
    #expect(throws: Refusal.self) { try file.removeLink("", by: ann, now: 3) }
    #expect(try file.user(named: "ann").id == ann.id)
  }

  @Test func scopeHasALimitedNumberOfLinks() throws {
    let ann = try owner("ann", of: board)
    for number in 0..<AccessFile.maximumLinks { _ = try share(board, by: ann, label: "\(number)", expires: 10) }
    let refusal = #expect(throws: Refusal.self) { try share(board, by: ann) }
    #expect(refusal?.code == .limit)
    // Links that have ended do not count.
    #expect(try share(board, by: ann, now: 10).link.user.isLink)
  }
}
