// Tests: AccessFileTests.swift
import GRDB
import GraphModel

/// The users of the file.
extension AccessFile {
  /// The users, by name. Removed ones are included on request, because history has their ids.
  public func users(withRemoved: Bool = false) throws -> [AccessUser] {
    try read { database in
      try Row.fetchAll(database, sql: "SELECT id, name, created, removed, role FROM user ORDER BY name, id")
        .map { try user($0) }.filter { withRemoved || !$0.isRemoved }
    }
  }

  /// Whether there has ever been a user. A removed one counts.
  public func hasUsers() throws -> Bool {
    try read { try Row.fetchOne($0, sql: "SELECT 1 FROM user LIMIT 1") != nil }
  }

  /// Adds a user.
  /// - Parameter random: returns random bits of a cryptographic generator.
  /// - Throws: `Refusal` for an unusable name, and for one that another user has.
  public func addUser(_ name: String, now: Timestamp, random: () -> UInt64) throws -> AccessUser {
    try AccessUser.check(name: name)
    let id = TokenSelector(random()).description
    return try write { database in
      try Self.refuseDuplicate(name, database)
      try database.execute(sql: "INSERT INTO user (id, name, created) VALUES (?, ?, ?)", arguments: [id, name, now])
      try Self.log("user add", user: id, name, now, database)
      return AccessUser(id: id, name: name, created: now, isRemoved: false, role: .editor)
    }
  }

  /// Gives a user another name. History shows it for all of the user's commits.
  public func renameUser(_ name: String, to newName: String, now: Timestamp) throws -> AccessUser {
    try AccessUser.check(name: newName)
    return try write { database in
      var user = try self.user(named: name, database)
      try Self.refuseDuplicate(newName, database)
      try database.execute(sql: "UPDATE user SET name = ? WHERE id = ?", arguments: [newName, user.id])
      try Self.log("user rename", user: user.id, newName, now, database)
      user.name = newName
      return user
    }
  }

  /// Removes a user, whose tokens become invalid at once.
  public func removeUser(_ name: String, now: Timestamp) throws {
    try write { database in
      let user = try self.user(named: name, database)
      try database.execute(
        sql: "UPDATE token SET revoked = ? WHERE user = ? AND revoked IS NULL", arguments: [now, user.id])
      try database.execute(sql: "UPDATE user SET removed = ? WHERE id = ?", arguments: [now, user.id])
      try Self.log("user remove", user: user.id, name, now, database)
    }
  }

  /// Gives a user another role. The user's sessions end within a second, and continue with the new rights when their
  /// clients connect again.
  public func grant(_ role: Role, to name: String, now: Timestamp) throws -> AccessUser {
    try write { database in
      var user = try self.user(named: name, database)
      try database.execute(sql: "UPDATE user SET role = ? WHERE id = ?", arguments: [role.rawValue, user.id])
      try Self.log("grant", user: user.id, role.rawValue, now, database)
      user.role = role
      return user
    }
  }

  func user(named name: String, _ database: Database) throws -> AccessUser {
    let row = try Row.fetchOne(
      database, sql: "SELECT id, name, created, removed, role FROM user WHERE name = ? AND removed IS NULL",
      arguments: [name])
    guard let row else {
      throw Refusal(.notFound, "there is no user \"\(name)\"; stickiesd user list shows the users")
    }
    return try user(row)
  }

  private static func refuseDuplicate(_ name: String, _ database: Database) throws {
    let other = try Row.fetchOne(
      database, sql: "SELECT 1 FROM user WHERE name = ? AND removed IS NULL", arguments: [name])
    if other != nil { throw Refusal(.conflict, "there is a user \"\(name)\" already; choose another name") }
  }

  private func user(_ row: Row) throws -> AccessUser {
    AccessUser(
      id: row[0], name: row[1], created: row[2], isRemoved: (row[3] as Int64?) != nil, role: try role(row[4]))
  }

  /// - Throws: `StoreFailure` for a text that is no role: a later program would have raised the version.
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
