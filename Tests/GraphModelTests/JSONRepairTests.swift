import GraphModel
import Testing

/// Reading of documents of programs that cut strings in the middle of a letter.
@Suite struct JSONRepairTests {
  private static func read(_ bytes: [UInt8]) throws -> (json: JSON, replaced: Int) {
    var replaced = 0
    let json = try JSON(repairing: bytes, replaced: &replaced)
    return (json, replaced)
  }

  @Test(arguments: [
    (#"a\ud83d"#, "a\u{FFFD}", 1), (#"\ude00b"#, "\u{FFFD}b", 1), (#"\ud83d\ude00"#, "😀", 0),
    (#"\ud83d\ud83d\ude00"#, "\u{FFFD}😀", 1), (#"\ud83d\n"#, "\u{FFFD}\n", 1), (#"\ud83d\u0041"#, "\u{FFFD}A", 1),
    (#"\ude00\ud83d"#, "\u{FFFD}\u{FFFD}", 2), ("\u{FFFD}", "\u{FFFD}", 0), (#"\ufffd"#, "\u{FFFD}", 0),
  ])
  func loneSurrogateBecomesOneCharacter(escapes: String, text: String, count: Int) throws {
    let read = try Self.read(Array(#"{"t":"\#(escapes)"}"#.utf8))
    #expect(read.json["t"] == .string(text))
    #expect(read.replaced == count)
    if count > 0 {
      #expect(throws: JSON.ParseError.self, "elsewhere it is a mistake") { try JSON(parsing: "\"\(escapes)\"") }
    }
  }

  @Test(arguments: [
    ([0x61, 0xFF, 0x62] as [UInt8], "a\u{FFFD}b", 1), ([0xC3, 0xA4, 0xE2, 0x82], "ä\u{FFFD}", 1),
    ([0x80, 0x80], "\u{FFFD}\u{FFFD}", 2),
  ])
  func invalidUTF8ByteBecomesOneCharacter(bytes: [UInt8], text: String, count: Int) throws {
    let read = try Self.read([0x22] + bytes + [0x22])
    #expect(read.json == .string(text))
    #expect(read.replaced == count)
  }

  @Test(arguments: ["\"\\ud83", "\"\\uzzzz\"", "\"\\ud83d\\u12\"", "\"\\ud83d", "{\"a\":1,\"a\":2}", "\"\t\""])
  func otherSyntaxRemainsStrict(text: String) {
    #expect(throws: JSON.ParseError.self) { try Self.read(Array(text.utf8)) }
  }
}
