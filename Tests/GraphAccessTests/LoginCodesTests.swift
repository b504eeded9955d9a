import GraphTesting
import Testing

@testable import GraphAccess

@Suite struct LoginCodesTests {
  private static let ann = LoginCodes.Login(user: "a", token: TokenSelector(1), expires: 5)

  private func code(_ codes: inout LoginCodes, _ login: LoginCodes.Login, now: Int64) throws -> String {
    let made = codes.add(login, now: now) { UInt64.random(in: 0...UInt64.max) }
    return try #require(made)
  }

  @Test func codeIsUsedOnceBeforeItsEnd() throws {
    var codes = LoginCodes()
    let first = try code(&codes, Self.ann, now: 0)
    let second = try code(&codes, Self.ann, now: 0)
    #expect(first != second && first.utf8.count == 26)
    let used = codes.remove(first, now: 59_999)
    let again = codes.remove(first, now: 59_999)
    let expired = codes.remove(second, now: 60_000)
    let empty = codes.remove("", now: 0)
    #expect(used == Self.ann && again == nil && expired == nil && empty == nil)
  }

  @Test func userReplacesItsOldestCode() throws {
    var codes = LoginCodes()
    let other = try code(&codes, .init(user: "b", token: nil, expires: nil), now: 0)
    let made = try (0...Int64(LoginCodes.maximumOfUser)).map { try code(&codes, Self.ann, now: $0) }
    let logins = made.map { codes.remove($0, now: 100) }
    #expect(logins == [nil] + logins.dropFirst().map { _ in Self.ann })
    let kept = codes.remove(other, now: 100)
    #expect(kept?.user == "b")
  }

  @Test func numberOfCodesHasALimitUntilTheyExpire() throws {
    var codes = LoginCodes()
    for user in 0..<LoginCodes.maximum {
      _ = try code(&codes, .init(user: "\(user)", token: nil, expires: nil), now: 0)
    }
    let refused = codes.add(Self.ann, now: 59_999) { 1 }
    let made = codes.add(Self.ann, now: 60_000) { 1 }
    #expect(refused == nil && made != nil)
  }
}
