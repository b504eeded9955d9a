// Tests: AccessFileTests.swift
import GRDB
import GraphModel

/// The users of the file.
extension AccessFile {
  /// The users, sorted by name. Removed users can be included, because history contains their ids.
  public func users(withRemoved: Bool = false) throws -> [AccessUser] {
    try read { database in
      try Row.fetchAll(database, sql: "SELECT \(Self.userColumns) FROM user AS u ORDER BY u.name, u.id")
        .map { try user($0, database) }.filter { withRemoved || !$0.isRemoved }
    }
  }

  /// The user with this name.
  /// - Throws: `Refusal(.notFound)` if there is none.
  public func user(named name: String) throws -> AccessUser { try read { try user(named: name, $0) } }

  /// Whether there has ever been a user. A removed one counts.
  public func hasUsers() throws -> Bool {
    try read { try Row.fetchOne($0, sql: "SELECT 1 FROM user LIMIT 1") != nil }
  }

  /// Adds a user.
  /// - Parameters:
  ///   - role: the role on the complete store; nil for none, so that the user sees only what is granted later.
  ///   - random: returns random bits of a cryptographic generator.
  /// - Throws: `Refusal` for an unusable name, and for one that another user has.
  public func addUser(
    _ name: String, role: Role? = .editor, now: Timestamp, random: () -> UInt64
  ) throws -> AccessUser {
    guard !name.hasPrefix(Self.linkPrefix) else {
      throw Refusal(.invalid, "a user's name can't begin with \"\(Self.linkPrefix)\", the prefix of share links")
    }
    return try addUser(name, role: role, isLink: false, now: now, random: random)
  }

  func addUser(
    _ name: String, role: Role?, isLink: Bool, maker: AccessUser? = nil, now: Timestamp, random: () -> UInt64
  ) throws -> AccessUser {
    try AccessUser.check(name: name)
    let id = TokenSelector(random()).description
    return try write { database in
      try Self.refuseDuplicate(name, database)
      try database.execute(
        sql: "INSERT INTO user (id, name, created, link, maker) VALUES (?, ?, ?, ?, ?)",
        arguments: [id, name, now, isLink, maker?.id])
      try Self.log(isLink ? "share" : "user add", user: id, name, now, database)
      if let maker { try Self.log("share by", user: id, maker.principal.id, now, database) }
      if let role {
        try Self.insert(role, of: try self.user(named: name, database), on: nil, now, database)
      }
      return try self.user(named: name, database)
    }
  }

  /// Gives a user another name. History shows it for all of the user's commits.
  public func renameUser(_ name: String, to newName: String, now: Timestamp) throws -> AccessUser {
    try AccessUser.check(name: newName)
    guard !newName.hasPrefix(Self.linkPrefix) else {
      throw Refusal(.invalid, "a user's name can't begin with \"\(Self.linkPrefix)\", the prefix of share links")
    }
    return try write { database in
      var user = try self.user(named: name, database)
      try Self.refuseDuplicate(newName, database)
      try database.execute(sql: "UPDATE user SET name = ? WHERE id = ?", arguments: [newName, user.id])
      try Self.log("user rename", user: user.id, newName, now, database)
      user.name = newName
      return user
    }
  }

  /// Removes a user, whose tokens become invalid at once, and the share links that the user made: the user may know
  /// their secrets.
  /// - Parameter keepsLinks: whether the links stay.
  /// - Returns: the links that were removed.
  @discardableResult
  public func removeUser(_ name: String, keepsLinks: Bool = false, now: Timestamp) throws -> [AccessUser] {
    try write { database in
      try remove(try user(named: name, database), keepsLinks: keepsLinks, now, database)
    }
  }

  /// Removes a user and erases the name from this file. A daemon erases it from the names that history shows, at its
  /// next check of the file or at its next start. History keeps the id, because its fingerprints cover it.
  /// - Parameters:
  ///   - user: a name, or the id of a user that was removed before, with its prefix.
  ///   - keepsLinks: as in `removeUser`.
  /// - Returns: the links that were removed.
  @discardableResult
  public func eraseUser(_ user: String, keepsLinks: Bool = false, now: Timestamp) throws -> [AccessUser] {
    try write { database in
      let found = try self.user(named: user, orID: user, database)
      let links = try found.isRemoved ? [] : remove(found, keepsLinks: keepsLinks, now, database)
      try database.execute(sql: "UPDATE user SET name = '' WHERE id = ?", arguments: [found.id])
      try database.execute(sql: "UPDATE token SET label = '' WHERE user = ?", arguments: [found.id])
      // The lines of other actions contain selectors and roles, but no names.
      try database.execute(
        sql: "UPDATE log SET subject = '' WHERE user = ? AND (action LIKE 'user %' OR action = 'share')",
        arguments: [found.id])
      try Self.log("user erase", user: found.id, "", now, database)
      return links
    }
  }

  /// The ids of the principals whose names were erased, with their prefix.
  public func erasedPrincipals() throws -> [String] {
    try read { try String.fetchAll($0, sql: "SELECT id FROM user WHERE name = '' ORDER BY id") }
      .map { Principal.accountPrefix + $0 }
  }

  private func remove(
    _ user: AccessUser, keepsLinks: Bool, _ now: Timestamp, _ database: Database
  ) throws -> [AccessUser] {
    try remove(user, now, database)
    if keepsLinks { return [] }
    let links = try Row.fetchAll(
      database,
      sql: "SELECT \(Self.userColumns) FROM user AS u WHERE u.maker = ? AND u.removed IS NULL ORDER BY u.name",
      arguments: [user.id]
    ).map { try self.user($0, database) }
    for link in links {
      assert(link.isLink, "only a link has a maker")
      try remove(link, now, database)
    }
    return links
  }

  private func remove(_ user: AccessUser, _ now: Timestamp, _ database: Database) throws {
    try database.execute(
      sql: "UPDATE token SET revoked = ? WHERE user = ? AND revoked IS NULL", arguments: [now, user.id])
    try database.execute(sql: "UPDATE user SET removed = ? WHERE id = ?", arguments: [now, user.id])
    try Self.log("user remove", user: user.id, user.name, now, database)
  }

  private func user(named name: String, orID id: String, _ database: Database) throws -> AccessUser {
    guard id.hasPrefix(Principal.accountPrefix) else { return try user(named: name, database) }
    let key = String(id.dropFirst(Principal.accountPrefix.count))
    let row = try Row.fetchOne(
      database, sql: "SELECT \(Self.userColumns) FROM user AS u WHERE u.id = ?", arguments: [key])
    guard let row else { throw Refusal(.notFound, "there is no user \(id); stickiesd user list --all shows the users") }
    return try user(row, database)
  }

  /// The columns of a user named `u` in a statement, for `user(_:_:)`.
  static let userColumns =
    "u.id, u.name, u.created, u.removed, u.link, u.generation, iif(u.seen = u.generation, u.since, NULL), u.maker"

  func user(named name: String, _ database: Database) throws -> AccessUser {
    let row = try Row.fetchOne(
      database, sql: "SELECT \(Self.userColumns) FROM user AS u WHERE u.name = ? AND u.removed IS NULL",
      arguments: [name])
    guard let row else {
      throw Refusal(.notFound, "there is no user \"\(name)\"; stickiesd user list shows the users")
    }
    return try user(row, database)
  }

  private static func refuseDuplicate(_ name: String, _ database: Database) throws {
    let other = try Row.fetchOne(
      database, sql: "SELECT 1 FROM user WHERE name = ? AND removed IS NULL", arguments: [name])
    if other != nil { throw Refusal(.conflict, "there is a user \"\(name)\" already; choose another name") }
  }

  /// - Parameter first: the place of the first of `userColumns` in the row.
  func user(_ row: Row, at first: Int = 0, _ database: Database) throws -> AccessUser {
    AccessUser(
      id: row[first], name: row[first + 1], created: row[first + 2], isRemoved: (row[first + 3] as Int64?) != nil,
      isLink: row[first + 4], maker: row[first + 7], grants: try grants(of: row[first], database),
      generation: row[first + 5], since: row[first + 6])
  }

  /// - Throws: `StoreFailure` for an unknown role. A newer program that adds a role also raises the version of the
  ///   file, so the file is damaged.
  func role(_ text: String) throws -> Role {
    guard let role = Role(rawValue: text) else { throw Self.damage(path, "a user has the role \(text)") }
    return role
  }

  /// Adds a line to the log, in the transaction of the change.
  static func log(
    _ action: String, user: String, _ subject: String, _ now: Timestamp, _ database: Database
  ) throws {
    try database.execute(
      sql: "INSERT INTO log (time, action, user, subject) VALUES (?, ?, ?, ?)", arguments: [now, action, user, subject])
  }
}

/// The log of the changes of users, tokens and grants.
extension AccessFile {
  /// The changes, the oldest first, without erased names.
  public func changes() throws -> [AuditEntry] {
    try read { database in
      try Row.fetchAll(database, sql: "SELECT time, action, user, subject FROM log ORDER BY number").map { row in
        let (action, user, subject) = (row[1] as String, row[2] as String, row[3] as String)
        var entry = AuditEntry(action, at: row[0], user: Principal.accountPrefix + user)
        if action.hasPrefix("token ") { entry.token = subject } else { entry.text = subject }
        return entry
      }
    }
  }
}
