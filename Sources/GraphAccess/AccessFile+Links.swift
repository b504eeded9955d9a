// Tests: ShareLinkTests.swift
import GRDB
import GraphModel

/// Share links that a user makes for a scope of its own. `ShareCommand` makes links without a user, because
/// its caller owns the data directory.
extension AccessFile {
  /// The most links to one scope that can be used at a time, so that a client can't fill the file.
  public static let maximumLinks = 100

  /// Makes a share link.
  /// - Parameters:
  ///   - sharer: the user who shares, an owner of the scope.
  ///   - label: as in `createLink`; nil for random digits.
  ///   - expires: the time at which the link ends; nil for never.
  /// - Throws: `Refusal` if the sharer is no owner of the scope, or if the scope has too many links.
  public func shareScope(
    _ scope: UniqueID, role: Role, label: String?, expires: Timestamp?, by sharer: AccessUser, now: Timestamp,
    random: () -> UInt64
  ) throws -> (link: TokenRecord, token: AccessToken) {
    try Self.requireOwner(sharer, of: scope)
    guard try links(to: scope, now: now).count < Self.maximumLinks else {
      throw Refusal(
        .limit, "there are \(Self.maximumLinks) share links already, as many as one scope can have; remove one first")
    }
    let name = if let label { label } else { TokenSelector(random()).description }
    let made = try createLink(
      to: scope, role: role, label: name, expires: expires, by: sharer, now: now, random: random)
    let record = try read { try Self.link(made.link.id, self, $0) }
    return (try invariant(record, "a link was just made"), made.token)
  }

  /// The links to a scope that can be used, the newest first.
  /// - Throws: `Refusal` if the sharer is no owner of the scope.
  public func links(to scope: UniqueID, for sharer: AccessUser, now: Timestamp) throws -> [TokenRecord] {
    try Self.requireOwner(sharer, of: scope)
    return try links(to: scope, now: now)
  }

  /// Removes a link, whose holders lose their access within a second.
  /// - Parameter id: the id of the user that stands for the link.
  /// - Throws: `Refusal(.notFound)` if there is no such link to a scope of which the sharer is an owner.
  public func removeLink(_ id: String, by sharer: AccessUser, now: Timestamp) throws {
    // The links of others do not exist for the sharer.
    let link = try read { try Self.link(id, self, $0) }?.user
    guard let link, link.grants.contains(where: { sharer.rights.role(in: $0.scope) == .owner }) else {
      throw Refusal(.notFound, "there is no share link \(id.excerpt); it may have been removed already")
    }
    try removeUser(link.name, now: now)
  }

  /// The shown names of users by their ids, of removed ones as well; erased names are missing.
  public func names() throws -> [String: String] {
    let known = try users(withRemoved: true).filter { !$0.name.isEmpty }
    return Dictionary(uniqueKeysWithValues: known.map { ($0.id, $0.name) })
  }

  private static func requireOwner(_ sharer: AccessUser, of scope: UniqueID) throws {
    let role = sharer.rights.role(in: scope)
    if role == .owner { return }
    let own = if let role { "your role here is \(role.rawValue)" } else { "you have no role here" }
    throw Refusal(.notAllowed, "\(own), and sharing needs the role owner: ask an owner")
  }

  private func links(to scope: UniqueID, now: Timestamp) throws -> [TokenRecord] {
    try read { database in
      try Row.fetchAll(
        database,
        sql: Self.columns + """
           WHERE \(Self.isLink) AND EXISTS (SELECT 1 FROM access_grant AS g WHERE g.user = u.id AND g.scope = ?) \
          ORDER BY t.created DESC, t.selector
          """, arguments: [scope.description]
      ).map { try record($0, database) }.filter { $0.end(at: now) == nil }
    }
  }

  private static func link(_ id: String, _ file: AccessFile, _ database: Database) throws -> TokenRecord? {
    try Row.fetchOne(database, sql: columns + " WHERE \(isLink) AND u.id = ?", arguments: [id])
      .map { try file.record($0, database) }
  }

  /// The rows of the links' own tokens. A browser that has opened a link has another token of the same user.
  private static let isLink = "u.link AND u.removed IS NULL AND NOT t.browser"
}
