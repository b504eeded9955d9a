import GraphModel
import Testing

@testable import GraphAccess

/// Which tokens are valid.
@Suite struct TokenRecordTests {
  private let token = AccessToken { 7 }
  private let user = AccessUser(id: "000000000000000a", name: "ann", created: 0, isRemoved: false)

  private func record(_ change: (inout TokenRecord) -> Void = { _ in }) -> TokenRecord {
    var record = TokenRecord(
      selector: token.selector, digest: token.digest, user: user, label: "", isBrowser: false, created: 0,
      expires: nil, lastUsed: nil, revoked: nil)
    change(&record)
    return record
  }

  private func refusal(_ token: AccessToken, _ record: TokenRecord?, now: Timestamp = 10) -> String? {
    do {
      _ = try TokenRecord.verify(token, record, now: now)
      return nil
    } catch {
      #expect(error.code == .notAllowed)
      return error.message
    }
  }

  @Test func tokenIsValidForItsUser() throws {
    let found = try TokenRecord.verify(token, record(), now: 10)
    #expect(found.user.principal == Principal(id: "user:000000000000000a", name: "ann"))
  }

  /// Both have the same answer, so that it shows no selector of another user.
  @Test func unknownSelectorAndWrongVerifierAreNotDistinguished() {
    let unknown = refusal(token, nil)
    #expect(unknown == "the token is not valid here; was it made for another server?")
    #expect(refusal(AccessToken { 8 }, record()) == unknown)
    // The holder of a wrong verifier learns nothing of the token's state.
    #expect(refusal(AccessToken { 8 }, record { $0.revoked = 1 }) == unknown)
    #expect(refusal(token, record { $0.digest = [] }) == unknown)
  }

  @Test func endedTokenIsRefusedWithTheReason() {
    #expect(refusal(token, record { $0.revoked = 5 })?.contains("was revoked") == true)
    #expect(refusal(token, record { $0.expires = 10 })?.contains("expired at 1970-01-01T00:00:00") == true)
    #expect(refusal(token, record { $0.expires = 11 }) == nil)
    #expect(refusal(token, record { $0.user.isRemoved = true })?.contains("user of this token was removed") == true)
  }

  @Test(arguments: [
    "", " ann", "ann ", "a\nb", "a\u{7F}b", "a\u{9B}b", "user:ann", "uid:0", String(repeating: "a", count: 257),
  ]) func unusableNameIsRefused(name: String) {
    #expect(throws: Refusal.self) { try AccessUser.check(name: name) }
  }

  /// Names that look equal would be two users.
  @Test(arguments: ["ann\u{200B}", "a\u{200D}nn", "\u{202E}nna", "ann\u{AD}", "ann\u{2060}", "میثم\u{200B}"])
  func nameWithAnInvisibleCharacterIsRefused(name: String) {
    #expect(throws: Refusal.self) { try AccessUser.check(name: name) }
  }

  @Test(arguments: ["ann", "Ann Łuczak", "a", "علی\u{200C}رضا", String(repeating: "é", count: 128)])
  func nameIsAccepted(name: String) throws {
    try AccessUser.check(name: name)
  }
}
