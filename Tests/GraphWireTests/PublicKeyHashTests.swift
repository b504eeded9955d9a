import GraphTesting
import Testing

@testable import GraphWire

@Suite struct PublicKeyHashTests {
  /// The vectors of FIPS 180-4, and lengths around the padding's limit.
  @Test(arguments: [
    ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
    (
      String(repeating: "a", count: 1_000_000), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
    ),
  ])
  func hashEqualsVector(text: String, digits: String) {
    #expect(PublicKeyHash(ofKeyInfo: Array(text.utf8)).description == "sha256:" + digits)
  }

  @Test func textIsReadBackInAnyCase() throws {
    let hash = PublicKeyHash(ofKeyInfo: [1, 2, 3])
    #expect(try PublicKeyHash(parsing: hash.description) == hash)
    #expect(try PublicKeyHash(parsing: hash.description.uppercased()) == hash)
    #expect(PublicKeyHash(ofKeyInfo: [1, 2, 4]) != hash)
  }

  @Test(arguments: [
    ("", "it begins with sha256:"), ("ba7816bf", "it begins with sha256:"),
    ("sha256:ba78", "it has 64 digits after sha256:, this one has 4"),
    ("sha256:" + String(repeating: "g", count: 64), "its digits are 0 to 9 and a to f"),
  ])
  func malformedTextReportsReason(text: String, reason: String) {
    #expect {
      try PublicKeyHash(parsing: text)
    } throws: { error in
      "\(error)" == "\"\(text)\" is not the hash of a key: \(reason); stickiesd certificate --show prints it"
    }
  }
}
