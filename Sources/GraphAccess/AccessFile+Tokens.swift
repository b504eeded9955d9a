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
    SELECT t.selector, t.digest, t.label, t.created, t.expires, t.used, t.revoked, t.browser, \(userColumns) \
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
  ///   - expires: the time at which it expires.
  /// - Throws: `Refusal` if the user was removed.
  public func createBrowserToken(
    ofUser user: String, expires: Timestamp, now: Timestamp, random: () -> UInt64
  ) throws -> AccessToken {
    let token = AccessToken(random: random)
    try write { database in
      let found = try String.fetchOne(
        database, sql: "SELECT id FROM user WHERE id = ? AND removed IS NULL", arguments: [user])
      guard found != nil else { throw Refusal(.notAllowed, "the user of this login was removed") }
      try database.execute(
        sql: """
          INSERT INTO token (selector, digest, user, label, created, expires, browser)
          VALUES (?, ?, ?, 'browser', ?, ?, 1)
          """,
        arguments: [token.selector.description, Data(token.digest), user, now, expires])
      try Self.log("token create", user: user, token.selector.description, now, database)
    }
    return token
  }

  /// Revokes the token of a browser that logs out. The token of a program stays valid.
  /// - Throws: `Refusal` if it is not valid.
  public func revokeBrowserToken(_ token: AccessToken, now: Timestamp) throws {
    let record = try authenticate(token, now: now)
    if record.isBrowser { _ = try revokeToken(token.selector, now: now) }
  }

  /// Revokes a token; sessions that use it end within a second.
  /// - Returns: false if it could no longer be used.
  public func revokeToken(_ selector: TokenSelector, now: Timestamp) throws -> Bool {
    try write { database in
      guard let token = try find(selector, database) else {
        throw Refusal(.notFound, "there is no token \(selector); stickiesd token list shows the tokens")
      }
      guard token.revoked == nil else { return false }
      try database.execute(
        sql: "UPDATE token SET revoked = ? WHERE selector = ?", arguments: [now, selector.description])
      try Self.log("token revoke", user: token.user.id, selector.description, now, database)
      return true
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
      var known = known.withLock { $0.version == version ? $0.records : [:] }
      var states = [TokenSelector: Result<TokenRecord, Refusal>]()
      for selector in tokens {
        if known[selector] == nil { known[selector] = try find(selector, database) }
        guard let record = known[selector] else {
          states[selector] = .failure(Refusal(.notAllowed, "the token no longer exists; log in with a new one"))
          continue
        }
        states[selector] = if let end = record.end(at: now) { .failure(end) } else { .success(record) }
      }
      self.known.withLock { $0 = (version, known.filter { states[$0.key] != nil }) }
      return states
    }
  }

  private func find(_ selector: TokenSelector, _ database: Database) throws -> TokenRecord? {
    try Row.fetchOne(database, sql: Self.columns + " WHERE t.selector = ?", arguments: [selector.description])
      .map { try record($0, database) }
  }

  func record(_ row: Row, _ database: Database) throws -> TokenRecord {
    guard let selector = TokenSelector(row[0] as String) else {
      throw StoreFailure(
        .corrupt, "\(path) is damaged", cause: "a token has the selector \(row[0] as String)",
        advice: "Restore it from a copy, or move it away and make users and tokens again.")
    }
    return TokenRecord(
      selector: selector, digest: Array(row[1] as Data),
      user: try user(row, at: 8, database),
      label: row[2], isBrowser: row[7], created: row[3], expires: row[4], lastUsed: row[5], revoked: row[6])
  }
}
