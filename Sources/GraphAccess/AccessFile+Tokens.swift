// Tests: AccessFileTests.swift
import Foundation
import GRDB
import GraphModel

/// The tokens of the file.
extension AccessFile {
  /// The precision of a token's time of last use, in microseconds. A login writes to the file at most once in this
  /// time.
  private static let useInterval: Timestamp = 60_000_000

  static let columns = """
    SELECT t.selector, t.digest, t.label, t.created, t.expires, t.used, t.revoked, t.browser, t.parent, \
    \(userColumns) \
    FROM token AS t JOIN user AS u ON u.id = t.user
    """

  /// The tokens, the newest first; those that can no longer be used are included on request.
  /// - Parameter user: the name of their user; nil for all users.
  public func tokens(of user: String? = nil, withEnded: Bool = false, now: Timestamp) throws -> [TokenRecord] {
    try read { database in
      if let user { _ = try self.user(named: user, database) }
      return try Row.fetchAll(database, sql: Self.columns + " ORDER BY t.created DESC, t.selector")
        .map { try record($0, database) }
        .filter { token in
          (withEnded || token.end(at: now) == nil)
            && user.map { UTF8Comparison.equal($0, token.user.name) && !token.user.isRemoved } != false
        }
    }
  }

  /// Makes a token, whose secret is not stored.
  /// - Parameters:
  ///   - user: the name of its user.
  ///   - label: what it is for; at most 256 bytes.
  ///   - expires: the time at which it expires; nil for never.
  ///   - random: returns random bits of a cryptographic generator.
  public func createToken(
    of user: String, label: String, expires: Timestamp?, now: Timestamp, random: () -> UInt64
  ) throws -> AccessToken {
    guard label.utf8.count <= AccessUser.maximumNameSize else {
      throw Refusal(
        .invalid, "the label has \(label.utf8.count) bytes; at most \(AccessUser.maximumNameSize) are allowed")
    }
    guard !label.contains(AccessToken.prefix) else {
      throw Refusal(.invalid, "a label can't contain \(AccessToken.prefix), the prefix of tokens: labels are shown")
    }
    let token = AccessToken(random: random)
    try write { database in
      let user = try self.user(named: user, database)
      try database.execute(
        sql: "INSERT INTO token (selector, digest, user, label, created, expires) VALUES (?, ?, ?, ?, ?, ?)",
        arguments: [token.selector.description, Data(token.digest), user.id, label, now, expires])
      try Self.log("token create", user: user.id, token.selector.description, now, database)
    }
    return token
  }

  /// Makes a token for a browser, which keeps it as a cookie.
  /// - Parameters:
  ///   - user: the id of its user.
  ///   - parent: the token that allowed the login; its revocation revokes the new one, too. Nil for none.
  ///   - expires: the time at which it expires.
  /// - Throws: `Refusal` if the user was removed, or if the parent can no longer be used.
  public func createBrowserToken(
    ofUser user: String, parent: TokenSelector?, expires: Timestamp, now: Timestamp, random: () -> UInt64
  ) throws -> AccessToken {
    let token = AccessToken(random: random)
    try write { database in
      // It may have been revoked since it allowed the login.
      if let parent, let end = try find(parent, database)?.end(at: now) { throw end }
      let found = try String.fetchOne(
        database, sql: "SELECT id FROM user WHERE id = ? AND removed IS NULL", arguments: [user])
      guard found != nil else { throw Refusal(.notAllowed, "the user of this login was removed") }
      try database.execute(
        sql: """
          INSERT INTO token (selector, digest, user, label, created, expires, browser, parent)
          VALUES (?, ?, ?, 'browser', ?, ?, 1, ?)
          """,
        arguments: [token.selector.description, Data(token.digest), user, now, expires, parent?.description])
      try Self.log("token create", user: user, token.selector.description, now, database)
      try Self.removeSurplusBrowsers(of: user, besides: token.selector, now, database)
    }
    return token
  }

  /// The maximum number of browsers of one user or link. Otherwise a link could fill the disk.
  public static let maximumBrowsers = 256

  /// Removes tokens of browsers above the maximum with their lines of the log: first those that can no longer be used,
  /// then those that were not used for the longest time.
  ///
  /// - Parameter newest: the token that was made just now. It stays, as does its line, the newest one of the log,
  ///   because the numbers of lines are never used again.
  private static func removeSurplusBrowsers(
    of user: String, besides newest: TokenSelector, _ now: Timestamp, _ database: Database
  ) throws {
    let surplus = try Row.fetchAll(
      database,
      sql: """
        SELECT selector, parent FROM token WHERE user = ? AND browser = 1
        ORDER BY selector = ? DESC, revoked IS NULL AND ifnull(expires > ?, 1) DESC,
          max(created, ifnull(used, 0)) DESC, rowid DESC
        LIMIT -1 OFFSET ?
        """, arguments: [user, newest.description, now, maximumBrowsers])
    for row in surplus {
      let (selector, parent): (String, String?) = (row[0], row[1])
      // A revocation of the parent still reaches the browsers that have logged in with the removed token.
      try database.execute(sql: "UPDATE token SET parent = ? WHERE parent = ?", arguments: [parent, selector])
      try database.execute(sql: "DELETE FROM token WHERE selector = ?", arguments: [selector])
      try database.execute(sql: "DELETE FROM log WHERE user = ? AND subject = ?", arguments: [user, selector])
    }
  }

  /// Revokes the token of a browser that logs out. The token of a program stays valid, and so do those of other
  /// browsers.
  /// - Throws: `Refusal` if it is not valid.
  public func revokeBrowserToken(_ token: AccessToken, now: Timestamp) throws {
    let record = try authenticate(token, now: now)
    if record.isBrowser {
      try write { try Self.revoke([token.selector.description], of: record.user, now, $0) }
    }
  }

  /// Revokes a token, and the tokens of all browsers that logged in with it, directly or through another browser: a
  /// stolen token may have made them. Sessions that use one of them end within a second.
  /// - Returns: false if none of them could be used.
  public func revokeToken(_ selector: TokenSelector, now: Timestamp) throws -> Bool {
    try write { database in
      guard let token = try find(selector, database) else {
        throw Refusal(.notFound, "there is no token \(selector); stickiesd token list shows the tokens")
      }
      // A browser that has logged out may have logged in another one.
      let valid = try String.fetchAll(
        database,
        sql: """
          WITH RECURSIVE family (selector) AS (
            SELECT ? UNION SELECT t.selector FROM token AS t JOIN family AS f ON t.parent = f.selector)
          SELECT selector FROM token WHERE selector IN family AND revoked IS NULL ORDER BY created, selector
          """, arguments: [selector.description])
      try Self.revoke(valid, of: token.user, now, database)
      return !valid.isEmpty
    }
  }

  private static func revoke(
    _ selectors: [String], of user: AccessUser, _ now: Timestamp, _ database: Database
  ) throws {
    for selector in selectors {
      try database.execute(sql: "UPDATE token SET revoked = ? WHERE selector = ?", arguments: [now, selector])
      assert(database.changesCount == 1, "a token that was found is revoked")
      try log("token revoke", user: user.id, selector, now, database)
    }
  }

  // MARK: - Verifying

  /// Verifies a token that a client has sent, and records the use.
  /// - Throws: `Refusal` if it is not valid, `StoreFailure` if the file can't be read.
  public func authenticate(_ token: AccessToken, now: Timestamp) throws -> TokenRecord {
    let record = try TokenRecord.verify(token, read { try find(token.selector, $0) }, now: now)
    let isRecorded = record.lastUsed.map { now >= $0 && now - $0 < Self.useInterval } == true
    if !isRecorded {
      // A full disk must not keep users out.
      try? write { database in
        try database.execute(
          sql: "UPDATE token SET used = ? WHERE selector = ?", arguments: [now, token.selector.description])
      }
    }
    return record
  }

  /// The present state of tokens in use: the record, or the reason why the token can no longer be used.
  ///
  /// A daemon calls this twice a second, so it reads the rows only if another process has changed the file.
  public func states(
    of tokens: some Collection<TokenSelector>, now: Timestamp
  ) throws -> [TokenSelector: Result<TokenRecord, Refusal>] {
    try read { database in
      guard let version = try Int64.fetchOne(database, sql: "PRAGMA data_version") else {
        preconditionFailure("SQLite has a version of the data of each connection")
      }
      let known = known.withLock { $0.version == version ? $0.records : [:] }
      var used = [TokenSelector: TokenRecord](minimumCapacity: tokens.count)
      var states = [TokenSelector: Result<TokenRecord, Refusal>](minimumCapacity: tokens.count)
      for selector in tokens {
        guard let record = try known[selector] ?? find(selector, database) else {
          states[selector] = .failure(Refusal(.notAllowed, "the token no longer exists; log in with a new one"))
          continue
        }
        used[selector] = record
        states[selector] = if let end = record.end(at: now) { .failure(end) } else { .success(record) }
      }
      self.known.withLock { $0 = (version, used) }
      return states
    }
  }

  private func find(_ selector: TokenSelector, _ database: Database) throws -> TokenRecord? {
    try Row.fetchOne(database, sql: Self.columns + " WHERE t.selector = ?", arguments: [selector.description])
      .map { try record($0, database) }
  }

  private func selector(_ text: String) throws -> TokenSelector {
    if let selector = TokenSelector(text) { return selector }
    throw StoreFailure(
      .corrupt, "\(path) is damaged", cause: "a token has the selector \(text)",
      advice: "Restore it from a copy, or move it away and make users and tokens again.")
  }

  func record(_ row: Row, _ database: Database) throws -> TokenRecord {
    let parent = row[8] as String?
    return TokenRecord(
      selector: try selector(row[0]), digest: Array(row[1] as Data),
      user: try user(row, at: 9, database),
      label: row[2], isBrowser: row[7], parent: try parent.map { try selector($0) }, created: row[3], expires: row[4],
      lastUsed: row[5], revoked: row[6])
  }
}
