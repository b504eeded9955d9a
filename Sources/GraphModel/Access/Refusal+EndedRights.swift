// Tests: RightsPairTests.swift

/// The refusals of a login whose user may no longer see anything. A replica then removes its copy.
extension Refusal {
  /// The refusal for a user without a role.
  package static let noRole = Refusal(.notAllowed, "you have no role here: ask an owner of the store for one")
  /// The refusal for a token whose user was removed.
  package static let userRemoved = Refusal(.notAllowed, "the user of this token was removed")
  /// The refusal for a token that was revoked.
  package static let tokenRevoked = Refusal(.notAllowed, "the token was revoked; log in with a new one")

  /// Whether an owner has ended the rights of the user. A token that has expired is none of these: its user logs in
  /// again.
  package var endsRights: Bool { [.noRole, .userRemoved, .tokenRevoked].contains(self) }
}
