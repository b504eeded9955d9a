import GraphAccess
import GraphModel
import GraphServer

/// Share links that owners make on the web board.
extension AccountAuthenticator: ShareLinks {
  func makeLink(_ request: ShareRequest, by credential: String) -> Result<ShareLink, Refusal> {
    result {
      let (file, sharer) = try sharer(credential)
      let now = now
      let made = try file.shareScope(
        request.scope, role: request.role, label: request.label, expires: request.seconds.map { now + $0 * 1_000_000 },
        by: sharer, now: now, random: AccountCommand.random)
      return try Self.link(
        made.link, to: request.scope, secret: made.token.secretText, makers: [sharer.id: sharer.name])
    }
  }

  func links(to scope: UniqueID, for credential: String) -> Result<[ShareLink], Refusal> {
    result {
      let (file, sharer) = try sharer(credential)
      let makers = try file.names()
      return try file.links(to: scope, for: sharer, now: now).map {
        try Self.link($0, to: scope, secret: nil, makers: makers)
      }
    }
  }

  func removeLink(_ id: String, by credential: String) -> Result<Void, Refusal> {
    result {
      let (file, sharer) = try sharer(credential)
      try file.removeLink(id, by: sharer, now: now)
    }
  }

  private func sharer(_ credential: String) throws -> (AccessFile, AccessUser) {
    guard let file = try file(), try file.hasUsers() else {
      // The first link would be the first account, and would lock out everyone who has none.
      throw Refusal(
        .invalid,
        "this server has no accounts, and a share link is one: make an account for yourself first, with stickiesd user "
          + "add NAME --role owner")
    }
    return (file, try file.authenticate(AccessToken(parsing: credential), now: now).user)
  }

  /// - Parameter makers: the names of users by their ids.
  private static func link(
    _ record: TokenRecord, to scope: UniqueID, secret: String?, makers: [String: String]
  ) throws -> ShareLink {
    let grant = try invariant(
      record.user.grants.first { $0.scope == scope }, "a link to a scope has a role there")
    return ShareLink(
      id: record.user.id, name: record.user.name, maker: record.user.maker.flatMap { makers[$0] }, role: grant.role,
      created: record.created, expires: record.expires, used: record.lastUsed, secret: secret)
  }
}
