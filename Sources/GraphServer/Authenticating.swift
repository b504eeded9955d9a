import GraphHub
import GraphModel

/// Verifies the credentials of clients. The server calls it on a thread that may wait for a disk.
public protocol Authenticating: Sendable {
  /// The identity for a credential.
  /// - Parameter credential: nil for a client of the network that sends none. As long as such clients are connected,
  ///   the server asks for nil again twice a second, and ends their sessions when it is refused.
  func authenticate(_ credential: String?) -> Result<ClientIdentity, Refusal>

  /// The tokens among these that can no longer be used, with the reasons. The server asks twice a second, and ends the
  /// sessions of these tokens.
  /// - Parameter tokens: the numbers of the tokens in use, with the generations of their users' rights.
  func ended(among tokens: [UInt64: Int64]) -> [UInt64: Refusal]

  /// The access of the users of these tokens whose rights are of another generation than the given one, by the ids of
  /// the principals. The server calls this twice a second, and the sessions continue with these rights.
  func changedAccess(among tokens: [UInt64: Int64]) -> [String: GrantedAccess]

  /// The ids of the principals whose names were erased. The server asks twice a second, and its store forgets the
  /// names.
  func erasedPrincipals() -> [String]

  /// Keeps the revision from which on no session of a principal has rights older than this generation, so that later
  /// logins know it.
  /// - Parameter principal: the principal's id.
  func record(generation: Int64, of principal: String, at revision: Revision)

  /// Writes a line to the audit log.
  /// - Parameters:
  ///   - address: the network address of the client; `local` for a Unix-domain socket.
  ///   - omitted: the number of further events of this kind since the last line.
  func record(_ event: AuditEvent, from address: String, omitted: Int)
}

extension Authenticating {
  /// No rights change while they are in use.
  public func changedAccess(among tokens: [UInt64: Int64]) -> [String: GrantedAccess] { [:] }
}
