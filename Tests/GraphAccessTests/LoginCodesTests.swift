import GraphTesting
import Testing

@testable import GraphAccess

@Suite struct LoginCodesTests {
  private static let ann = LoginCodes.Login(user: "a", expires: 5)

  private func bits() -> UInt64 { UInt64.random(in: 0...UInt64.max) }

  @Test func codeIsUsedOnceBeforeItsEnd() throws {
    var codes = LoginCodes()
    let first = try #require(codes.add(Self.ann, now: 0, random: bits))
    let second = try #require(codes.add(Self.ann, now: 0, random: bits))
    #expect(first != second && first.utf8.count == 26)
    #expect(codes.remove(first, now: 59_999) == Self.ann)
    #expect(codes.remove(first, now: 59_999) == nil)
    #expect(codes.remove(second, now: 60_000) == nil)
    #expect(codes.remove("", now: 0) == nil)
  }

  @Test func userReplacesItsOldestCode() throws {
    var codes = LoginCodes()
    let other = try #require(codes.add(.init(user: "b", expires: nil), now: 0, random: bits))
    var made = [String]()
    for now in 0...Int64(LoginCodes.maximumOfUser) {
      made.append(try #require(codes.add(Self.ann, now: now, random: bits)))
    }
    #expect(codes.remove(made[0], now: 100) == nil)
    for code in made.dropFirst() { #expect(codes.remove(code, now: 100) == Self.ann) }
    #expect(codes.remove(other, now: 100)?.user == "b")
  }

  @Test func numberOfCodesHasALimitUntilTheyExpire() throws {
    var codes = LoginCodes()
    for user in 0..<LoginCodes.maximum {
      #expect(codes.add(.init(user: "\(user)", expires: nil), now: 0, random: bits) != nil)
    }
    #expect(codes.add(Self.ann, now: 59_999, random: bits) == nil)
    #expect(codes.add(Self.ann, now: 60_000, random: bits) != nil)
  }
}
