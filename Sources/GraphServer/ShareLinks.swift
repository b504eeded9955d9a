// Tests: ShareTests.swift
import GraphModel
import NIOCore

/// Makes, lists and removes share links for users. The server calls it on a thread that may wait for a disk.
public protocol ShareLinks: Sendable {
  /// Makes a link.
  /// - Parameter credential: the token of the user who shares; the same in the other methods.
  /// - Returns: a refusal unless the user is an owner of the scope.
  func makeLink(_ request: ShareRequest, by credential: String) -> Result<ShareLink, Refusal>

  /// The links to a scope that can be used, the newest first, without their secrets.
  func links(to scope: UniqueID, for credential: String) -> Result<[ShareLink], Refusal>

  /// Removes a link, whose holders lose their access within a second.
  func removeLink(_ id: String, by credential: String) -> Result<Void, Refusal>
}

/// A wish for a share link.
public struct ShareRequest: Sendable, Equatable {
  /// The key of the container that is shared.
  public let scope: UniqueID
  /// The role of those who have the link: at most an editor.
  public let role: Role
  /// The name under which they act; nil for random digits.
  public let label: String?
  /// The time until the link ends, in seconds; nil for never.
  public let seconds: Int64?

  /// The wish for this link.
  public init(scope: UniqueID, role: Role, label: String?, seconds: Int64?) {
    (self.scope, self.role, self.label, self.seconds) = (scope, role, label, seconds)
  }
}

/// A share link: a token for people without an account.
public struct ShareLink: Sendable {
  /// The id of the principal that stands for the link, without its prefix.
  public let id: String
  /// The name under which its holders act.
  public let name: String
  /// The name of the user who made it; nil for the machine's owner, and for a name that was erased.
  public let maker: String?
  /// The role that it gives.
  public let role: Role
  /// When it was made.
  public let created: Timestamp
  /// When it ends; nil for never.
  public let expires: Timestamp?
  /// When it was opened last, to about a minute; nil for never.
  public let used: Timestamp?
  /// The token, which only the answer to its creation has.
  public let secret: String?

  /// A link with these properties.
  public init(
    id: String, name: String, maker: String?, role: Role, created: Timestamp, expires: Timestamp?, used: Timestamp?,
    secret: String?
  ) {
    (self.id, self.name, self.maker, self.role, self.created) = (id, name, maker, role, created)
    (self.expires, self.used, self.secret) = (expires, used, secret)
  }
}

extension HubSessions {
  /// Makes a share link.
  /// - Throws: `Refusal`; the same in the other methods.
  package func makeLink(_ request: ShareRequest, by credential: String) async throws -> ShareLink {
    try await withLinks { $0.makeLink(request, by: credential) }
  }

  /// Lists the share links to a scope.
  package func links(to scope: UniqueID, for credential: String) async throws -> [ShareLink] {
    try await withLinks { $0.links(to: scope, for: credential) }
  }

  /// Removes a share link.
  package func removeLink(_ id: String, by credential: String) async throws {
    try await withLinks { $0.removeLink(id, by: credential) }
  }

  /// Calls the accounts on the reader of the hub.
  private func withLinks<Value: Sendable>(
    _ body: @escaping @Sendable (any ShareLinks) -> Result<Value, Refusal>
  ) async throws -> Value {
    let promise = runner.loop.makePromise(of: Value.self)
    runner.loop.execute { [runner] in
      guard let links = runner.accounts.shareLinks else {
        return promise.fail(Refusal(.invalid, "this server has no accounts, and therefore no share links"))
      }
      runner.internalReaders.enqueue { promise.completeWith(body(links).mapError { $0 as any Error }) }
    }
    return try await promise.futureResult.get()
  }
}
