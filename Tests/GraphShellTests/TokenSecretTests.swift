import CommandLineIO
import Testing

private let token = "stk_th3jfd4mgg5xtspzhpu36oljyjnw3sucgfvkpybij25m2y5xr6pckh5zlsdx2feuq5hvp6a"

/// The secrets of tokens in messages.
@Suite struct TokenSecretTests {
  @Test(arguments: [
    (token, "stk_th3j…"), ("'\(token)'", "'stk_th3j…'"), ("a \(token) b \(token)", "a stk_th3j… b stk_th3j…"),
    // One that was cut or written in capitals is a secret, too.
    (String(token.prefix(40)), "stk_th3j…"), ("stk_" + token.dropFirst(4).uppercased(), "stk_TH3J…"),
    ("stk_\(token)", "stk_stk_th3j…"), ("ü\(token)é", "üstk_th3j…é"),
  ])
  func secretIsReplaced(text: String, expected: String) {
    #expect(TokenSecret.redacted(text) == expected)
  }

  @Test(arguments: ["", "stk_", "a token begins with stk_", "stk_abc.sqlite is not a regular file", "a\u{0}b"])
  func otherTextStays(text: String) {
    #expect(TokenSecret.redacted(text) == text)
  }
}
