import GraphModel
import Testing

@testable import GraphAccess

/// The text form of tokens.
@Suite struct AccessTokenTests {
  /// Random bits that are the same in each run.
  private struct Bits {
    var state: UInt64 = 42

    mutating func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return state ^ state >> 29
    }
  }

  private static func token() -> AccessToken {
    var bits = Bits()
    return AccessToken { bits.next() }
  }

  private func reason(_ text: String) -> String? {
    do {
      _ = try AccessToken(parsing: text)
      return nil
    } catch {
      return error.message
    }
  }

  @Test func textFormIsReadBack() throws {
    let token = Self.token()
    let text = token.secretText
    #expect(text.hasPrefix("stk_") && text.utf8.count == AccessToken.length)
    for form in [text, "  \(text)\n", "\(text)\r\n"] {
      let read = try AccessToken(parsing: form)
      #expect(read.selector == token.selector && read.digest == token.digest && read.secretText == text)
    }
  }

  /// Each change of one character is noticed, and each missing one.
  @Test func damagedTokenIsRefusedWithoutItsText() throws {
    let text = Self.token().secretText
    let characters = Array(text)
    for index in characters.indices {
      var changed = characters
      changed[index] = changed[index] == "a" ? "b" : "a"
      let message = try #require(reason(String(changed)), "character \(index)")
      #expect(!message.contains(text.dropFirst(8).prefix(8)))
      #expect(reason(String(text.prefix(index))) != nil, "\(index) characters")
    }
    #expect(reason(text + "a")?.contains("was it cut?") == true)
    #expect(reason(text.uppercased())?.contains("begins with stk_") == true)
    #expect(reason("stk_" + text.dropFirst(4).uppercased())?.contains("a character that no token has") == true)
    #expect(reason("")?.contains("begins with stk_") == true)
    #expect(reason(String(repeating: "é", count: 40))?.contains("begins with stk_") == true)
    #expect(reason("stk_" + String(repeating: "é", count: 35) + "a") != nil)
  }

  @Test func descriptionsShowNoSecret() {
    let token = Self.token()
    var dumped = ""
    dump(token, to: &dumped)
    for text in ["\(token)", String(reflecting: token), dumped] {
      #expect(text.contains(token.selector.description))
      #expect(!text.contains(token.secretText.dropFirst(17).prefix(10)))
    }
  }

  @Test func base32ReadsOnlyItsOwnTexts() {
    var bits = Bits()
    for count in 0...50 {
      let bytes = (0..<count).map { _ in UInt8(truncatingIfNeeded: bits.next()) }
      let text = Base32.text(bytes)
      #expect(text.utf8.count == Base32.length(ofBytes: count))
      #expect(Base32.bytes(Substring(text).utf8) == bytes)
    }
    // The bits beyond the last byte must be zero, so that a token has one text only.
    #expect(Base32.bytes(Substring("ab").utf8) == nil)
    #expect(Base32.bytes(Substring("a").utf8) == nil)
  }

  @Test(arguments: ["", "0", "00000000000000zz", "0000000000000001f", "+000000000000001", "-000000000000001"])
  func selectorHasSixteenDigits(text: String) { #expect(TokenSelector(text) == nil) }

  @Test func selectorIsReadBack() {
    for number in [0, 1, 0xFF00, UInt64.max] {
      let text = TokenSelector(number).description
      #expect(text.utf8.count == 16 && TokenSelector(text) == TokenSelector(number))
    }
  }
}
