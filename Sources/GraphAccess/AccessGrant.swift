// Tests: AccessGrantTests.swift
import GraphModel

/// A role of a user: on the complete store, or on one scope.
public struct AccessGrant: Hashable, Sendable {
  /// The object that is the scope; nil for the complete store.
  public var scope: UniqueID?
  /// The role of the user in the scope.
  public var role: Role
  /// The time at which it was granted.
  public var created: Timestamp
}

/// A person or a program with an account, or a share link.
public struct AccessUser: Hashable, Sendable {
  /// The id, sixteen hexadecimal digits, which never changes and is never used twice.
  public var id: String
  /// The shown name; unique among the users that were not removed. Empty if it was erased.
  public var name: String
  /// The time at which the account was made.
  public var created: Timestamp
  /// Whether the account was removed. Its id stays, because history has it.
  public var isRemoved: Bool
  /// Whether it is a share link, whose holders act under its name.
  public var isLink = false
  /// The id of the user who made the share link; nil for a link of the machine's owner, and for an account.
  public var maker: String?
  /// The roles of the user: first the one on the complete store, then those on scopes, by scope.
  public var grants = [AccessGrant]()
  /// The number of the last change of the grants, which never repeats.
  public var generation: Int64 = 0
  /// The revision of the graph from which on all sessions of the user have these grants; nil if it is not known.
  public var since: Revision?

  /// The rights of the user, from its grants.
  public var rights: Rights {
    Rights(user: principal.id, grants: grants.map { Grant($0.role, on: $0.scope) })
  }

  /// The role on the complete store; nil for none.
  public var role: Role? { grants.first { $0.scope == nil }?.role }

  /// The principal for whom this user's sessions act.
  public var principal: Principal { Principal(id: Principal.accountPrefix + id, name: name) }

  /// The most bytes of a name.
  public static let maximumNameSize = 256
  /// The most grants of a user.
  public static let maximumGrants = 1_000

  /// Checks a name for a new account.
  /// - Throws: `Refusal` that says what is wrong.
  public static func check(name: String) throws(Refusal) {
    let scalars = name.unicodeScalars
    guard !name.isEmpty, name.utf8.count <= maximumNameSize else {
      throw Refusal(.invalid, "a user's name has 1 to \(maximumNameSize) bytes; this one has \(name.utf8.count)")
    }
    guard !scalars.contains(where: { $0.value < 32 || (127..<160).contains($0.value) }) else {
      throw Refusal(.invalid, "a user's name has no control characters")
    }
    // Names that look equal would be two users. A joiner is part of the words of some scripts, but of no ASCII name.
    let isASCII = scalars.allSatisfy { $0.isASCII || $0.properties.generalCategory == .format }
    let hidden = scalars.first {
      $0.properties.generalCategory == .format && (isASCII || !["\u{200C}", "\u{200D}"].contains($0))
    }
    if let hidden {
      let code = String(hidden.value, radix: 16, uppercase: true)
      throw Refusal(.invalid, "a user's name has no invisible characters such as U+\(code)")
    }
    guard scalars.first != " ", scalars.last != " " else {
      throw Refusal(.invalid, "a user's name has no space at its beginning or end")
    }
    guard !name.hasPrefix(AccessToken.prefix) else {
      throw Refusal(.invalid, "a user's name can't begin with \(AccessToken.prefix), the prefix of tokens")
    }
    guard !Principal.isReserved(name) else {
      throw Refusal(
        .invalid, "a user's name can't begin with \(Principal.accountPrefix) or \(Principal.localUserPrefix)")
    }
  }
}
