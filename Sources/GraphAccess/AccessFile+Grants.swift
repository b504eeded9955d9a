// Tests: AccessGrantTests.swift
import GRDB
import GraphModel

/// The grants of the file, and share links, which are users with one token.
extension AccessFile {
  /// Grants a user a role on the complete store or on one scope. The role replaces the one that the user had there.
  /// Open sessions of the user get the new rights within a second.
  /// - Parameter scope: the object that is the scope; nil for the complete store.
  public func grant(
    _ role: Role, to name: String, on scope: UniqueID? = nil, now: Timestamp
  ) throws -> AccessUser {
    try write { database in
      let user = try self.user(named: name, database)
      try Self.insert(role, of: user, on: scope, now, database)
      return try self.user(named: name, database)
    }
  }

  /// Removes a user's role on the complete store or on one scope.
  /// - Throws: `Refusal(.notFound)` if the user has none there.
  public func removeGrant(of name: String, on scope: UniqueID? = nil, now: Timestamp) throws -> AccessUser {
    try write { database in
      let user = try self.user(named: name, database)
      guard user.grants.contains(where: { $0.scope == scope }) else {
        let place = if let scope { "on \(scope)" } else { "on the complete store" }
        throw Refusal(.notFound, "\"\(name)\" has no role \(place); stickiesd grant list shows the roles")
      }
      try database.execute(
        sql: "DELETE FROM access_grant WHERE user = ? AND scope = ?", arguments: [user.id, Self.text(scope)])
      try Self.log("grant remove", user: user.id, Self.text(scope), now, database)
      try Self.changeGeneration(of: user.id, database)
      return try self.user(named: name, database)
    }
  }

  /// Makes a share link: a token whose holders have a role on one scope.
  /// - Parameters:
  ///   - label: the name under which its holders act, after the prefix "link: "; other users see it as the author of
  ///     changes.
  ///   - expires: the time at which it ends; nil for never.
  ///   - maker: the user who makes the link; nil for the machine's owner.
  /// - Returns: the user that stands for the link, and the secret.
  public func createLink(
    to scope: UniqueID, role: Role, label: String, expires: Timestamp?, by maker: AccessUser? = nil, now: Timestamp,
    random: () -> UInt64
  ) throws -> (link: AccessUser, token: AccessToken) {
    guard role < .owner else { throw Refusal(.invalid, "a share link can't make its holders owners") }
    guard !label.contains(AccessToken.prefix) else {
      throw Refusal(.invalid, "a link's name can't contain \(AccessToken.prefix), the prefix of tokens: it is shown")
    }
    let name = Self.linkPrefix + label
    let link = try addUser(name, role: nil, isLink: true, maker: maker, now: now, random: random)
    do {
      _ = try grant(role, to: name, on: scope, now: now)
      let token = try createToken(of: name, label: "share link", expires: expires, now: now, random: random)
      let made = try read { try user(named: name, $0) }
      assert(made.id == link.id && made.isLink, "a link was just made")
      return (made, token)
    } catch {
      // Without its token the link is of no use, and its name would be taken.
      _ = try? removeUser(name, now: now)
      throw error
    }
  }

  /// Records that from a revision of the graph on, all sessions of a user have the grants of a generation. Does nothing
  /// if the grants have changed since: the newer generation is recorded later.
  /// - Parameter principal: the id of the principal, with its prefix.
  public func recordAccess(of principal: String, generation: Int64, at revision: Revision) throws {
    // Principals without an account have no row.
    let id = principal.hasPrefix(Principal.accountPrefix) ? principal.dropFirst(Principal.accountPrefix.count) : ""
    try write { database in
      try database.execute(
        sql: "UPDATE user SET seen = ?, since = ? WHERE id = ? AND generation = ?",
        arguments: [generation, revision, String(id), generation])
    }
  }

  /// The prefix of the names of share links.
  public static let linkPrefix = "link: "

  // MARK: - Rows

  static func insert(
    _ role: Role, of user: AccessUser, on scope: UniqueID?, _ now: Timestamp, _ database: Database
  ) throws {
    let isKnown = user.grants.contains { $0.scope == scope }
    guard isKnown || user.grants.count < AccessUser.maximumGrants else {
      throw Refusal(
        .limit, "a user has at most \(AccessUser.maximumGrants) roles; grant one on the complete store, or remove some")
    }
    try database.execute(
      sql: """
        INSERT INTO access_grant (user, scope, role, created) VALUES (?, ?, ?, ?)
        ON CONFLICT (user, scope) DO UPDATE SET role = excluded.role, created = excluded.created
        """, arguments: [user.id, text(scope), role.rawValue, now])
    let place = if let scope { " on \(scope)" } else { "" }
    try log("grant", user: user.id, role.rawValue + place, now, database)
    try changeGeneration(of: user.id, database)
  }

  /// Gives the user's rights a new generation: the number of the newest line of the log, which never repeats.
  private static func changeGeneration(of user: String, _ database: Database) throws {
    try database.execute(
      sql: "UPDATE user SET generation = (SELECT max(number) FROM log) WHERE id = ?", arguments: [user])
  }

  /// The grants of a user. A grant on the complete store comes first.
  func grants(of user: String, _ database: Database) throws -> [AccessGrant] {
    try Row.fetchAll(
      database, sql: "SELECT scope, role, created FROM access_grant WHERE user = ? ORDER BY scope", arguments: [user]
    ).map { row in
      let text = row[0] as String
      let scope = UniqueID(text)
      guard text.isEmpty || scope != nil else { throw Self.damage(path, "a grant has the scope \(text)") }
      return AccessGrant(scope: scope, role: try role(row[1]), created: row[2])
    }
  }

  /// The scope as the file stores it: empty for the complete store.
  private static func text(_ scope: UniqueID?) -> String { if let scope { scope.description } else { "" } }
}
