import GraphHub
import GraphModel

/// The accounts of a run, which correspond to `access.sqlite`: users, their roles and tokens. They survive a crash of
/// the server.
struct SimulatedAccounts {
  struct User {
    /// The number of the user. A user that was removed and added again keeps it, with another id and another token.
    let number: Int
    private(set) var incarnation = 0
    var grants = [UniqueID?: Role]()
    /// The number of the last change of the grants.
    fileprivate(set) var generation: Int64 = 0
    /// The generation of the newest session, and the revision from which on all sessions have at least that generation.
    fileprivate var seen: (generation: Int64, since: Revision)?
    fileprivate(set) var isRemoved = false

    init(number: Int) { self.number = number }

    var principal: Principal { Principal(id: "user:\(number).\(incarnation)", name: "user \(number).\(incarnation)") }
    var credential: String { "token \(number).\(incarnation)" }
    var token: UInt64 { UInt64(number) << 32 | UInt64(incarnation) }
    var access: NaiveAccess { NaiveAccess(user: principal.id, grants: grants) }
    var rights: Rights { Rights(user: principal.id, grants: grants.map { Grant($0.value, on: $0.key) }) }
    /// Whether the server accepts a client of the user.
    var mayConnect: Bool { !isRemoved && !grants.isEmpty }

    fileprivate mutating func add() { (incarnation, isRemoved, seen) = (incarnation + 1, false, nil) }
  }

  private(set) var users: [User]
  private var lastGeneration: Int64 = 0
  private let bug: AccessBug?

  init(users count: Int, bug: AccessBug?) {
    users = (0..<count).map { User(number: $0) }
    self.bug = bug
  }

  // MARK: - Changes

  private mutating func change(_ number: Int, _ body: (inout User) -> Void) {
    lastGeneration += 1
    body(&users[number])
    users[number].generation = lastGeneration
  }

  /// Grants a role to a user, or removes it.
  mutating func setRole(_ role: Role?, of number: Int, on folder: UniqueID?) {
    change(number) { $0.grants[folder] = role }
  }

  mutating func remove(_ number: Int) {
    change(number) {
      $0.isRemoved = true
      $0.grants = [:]
    }
  }

  /// Adds a user in place of a removed one. The new user has another id and therefore another name.
  mutating func add(_ number: Int) { change(number) { $0.add() } }

  // MARK: - For the server

  func authenticate(_ credential: String?) -> Result<ClientIdentity, Refusal> {
    guard let user = users.first(where: { $0.credential == credential && !$0.isRemoved }) else {
      return .failure(Refusal(.notAllowed, "the token is not valid"))
    }
    return .success(.user(user.principal, token: user.token, access: granted(user)))
  }

  private func granted(_ user: User) -> GrantedAccess {
    var access = GrantedAccess(user.rights, generation: user.generation, since: nil)
    if let seen = user.seen, seen.generation == user.generation { access.since = seen.since }
    if bug == .resumedAfterGrants { access.since = 0 }
    return access
  }

  mutating func record(_ generation: Int64, of principal: String, at revision: Revision) {
    for index in users.indices where users[index].principal.id == principal && users[index].generation == generation {
      users[index].seen = (generation, revision)
    }
  }

  /// The tokens in use that have ended.
  func ended(among tokens: [UInt64: Int64]) -> [UInt64: Refusal] {
    tokens.reduce(into: [:]) { ended, token in
      if user(of: token.key) == nil { ended[token.key] = Refusal(.notAllowed, "the token was revoked") }
    }
  }

  /// The users of tokens in use whose grants have changed, with the new grants, by principal.
  func changed(among tokens: [UInt64: Int64]) -> [String: (user: User, access: GrantedAccess)] {
    tokens.reduce(into: [:]) { changed, token in
      if let user = user(of: token.key), user.generation != token.value {
        changed[user.principal.id] = (user, granted(user))
      }
    }
  }

  private func user(of token: UInt64) -> User? { users.first { $0.token == token && !$0.isRemoved } }
}
