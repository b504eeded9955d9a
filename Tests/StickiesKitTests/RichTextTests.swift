import GraphTesting
import StickiesKit
import Testing

@Suite struct RichTextTests {
  private static func read(_ text: String) throws -> RichText { try RichText(parsing: Array(text.utf8)) }

  /// A text as macOS writes it, around `body`.
  private static func cocoa(_ body: String) -> String {
    #"""
    {\rtf1\ansi\ansicpg1252\cocoartf2639
    \cocoatextscaling0\cocoaplatform0{\fonttbl\f0\fswiss\fcharset0 Helvetica;\f1\fnil\fcharset0 Menlo-Bold;}
    {\colortbl;\red255\green255\blue255;\red255\green0\blue0;}
    {\*\expandedcolortbl;;\csgenericrgb\c100000\c0\c0;}
    {\*\listtable{\list\listtemplateid1{\listlevel\levelnfc23{\leveltext\leveltemplateid1\'01\uc0\u8226 ;}}}}
    \pard\tx560\tx1120\pardirnatural\partightenfactor0

    \f0\fs24 \cf0 
    """# + body + "}"
  }

  @Test(arguments: [
    (#"Hello"#, "Hello"),
    ("one\\\ntwo\\\n", "one\ntwo\n"),
    ("one\\\r\ntwo\\\rthree", "one\ntwo\nthree"),
    (#"one\par two\line three\tab four"#, "one\ntwo\nthree\tfour"),
    ("no\nend of\r\na line", "noend ofa line"),
    (#"\{braces\} and \\ back"#, "{braces} and \\ back"),
    (#"caf\'e9 \'93quoted\'94 \'80"#, "café “quoted” €"),
    (#"\uc0\u8226  item \u-10179 \u-8704 "#, "• item 😀"),
    (#"\u228a\u246?\u252\'fc!"#, "äöü!"),
    (#"{\uc2\u228ab\u246\'61\'62}\u252xy"#, "äöüy"),
    (#"\u55357 alone"#, "lone"),
    (#"\u-8704 x"#, "\u{FFFD}"),
    (#"\f1\b bold\f0\b0  plain\fs36 large"#, "bold plainlarge"),
    (#"{\field{\*\fldinst{HYPERLINK "http://example.com"}}{\fldrslt a link}} and on"#, "a link and on"),
    (#"{\*\unknown hidden {deep} words}seen{\pict 0102}{\info{\author nobody}}"#, "seen"),
    (#"a\bin5 }{\}}b"#, "ab"),
    (#"soft\-hyphen\~space\_hyphen"#, "softhyphen\u{A0}space\u{2011}hyphen"),
    ("{\\listtext\t\\uc0\\u8226 \t}milk\\\n{\\listtext\t2.\t}bread", "- milk\n2. bread"),
    ("\\ilvl1{\\listtext\t\\'95\t}inner", "  - inner"),
    ("", ""),
  ])
  func aBodyIsReadAsItsLetters(body: String, text: String) throws {
    #expect(try Self.read(Self.cocoa(body)).text == text)
  }

  @Test func theMacintoshsLettersAreReadWhereTheTextSaysSo() throws {
    #expect(try Self.read(#"{\rtf1\mac\ansicpg10000 \'8a\'a5\'ca}"#).text == "ä•\u{A0}")
    #expect(
      try Self.read(#"{\rtf1\ansi{\fonttbl{\f0\fcharset77 Geneva;}{\f1\fcharset0 Arial;}}\f0\'8a\f1\'e4}"#).text == "ää"
    )
    #expect(try RichText(parsing: Array(#"{\rtf1\ansi "#.utf8) + [0xE4, 0x7D]).text == "ä")
  }

  @Test func attachmentsAreNamedAndTheirPlacesAreEmpty() throws {
    let body =
      "see {{\\NeXTGraphic Pasted Graphic.png \\width640 \\height480 \\appleattachmentpadding0\n}\\'ac} and "
      + "{{\\NeXTGraphic caf\\'e9.pdf \\width1\n}\\uc0\\u8203 }that"
    let text = try Self.read(Self.cocoa(body))
    #expect(text.text == "see  and that")
    #expect(text.attachments == ["Pasted Graphic.png", "café.pdf"])
    #expect(try Self.read(#"{\rtf1{\NeXTGraphic a.png \width1}after}"#).text == "after")
  }

  @Test func theBackgroundOfTheFirstLettersThatHaveOneIsTold() throws {
    #expect(try Self.read(Self.cocoa("plain")).background == nil)
    let text = try Self.read(Self.cocoa(#"a {\cb2 red} {\cb1 white}"#))
    #expect(text.background == .init(red: 1, green: 0, blue: 0))
    #expect(try Self.read(Self.cocoa(#"\cb99 none"#)).background == nil)
  }

  @Test(arguments: [
    ("hello", "line 1: this is no rich text: it does not begin with {\\rtf"),
    ("{\\rtf1\n\n{a", "line 3: the text breaks off: 2 of its groups have no end"),
    ("{\\rtf1 a}\nb", "line 2: something stands behind the text"),
    ("{\\rtf1 \\'4}", "line 1: two hexadecimal digits are missing behind \\'"),
    ("{\\rtf1 \\'+4}", "line 1: two hexadecimal digits are missing behind \\'"),
    ("{\\rtf1 \\", "line 1: the text breaks off behind a backslash"),
    ("{\\rtf1 \\bin99 }", "line 1: the text breaks off within \\bin99"),
    ("{\\rtf1 \\bin-1 }", "line 1: the text breaks off within \\bin-1"),
    ("{\\rtf1 \\u70000 }", "line 1: \\u70000 is no letter"),
    ("{\\rtf1 \\fs12345678901 }", "line 1: a number has 11 digits"),
    (
      "{\\rtf1{\\fonttbl\\f0\\fcharset128 Osaka;}\\f0\n\\'93\\'fa}",
      "line 2: a letter stands in the character set 128, which is not read"
    ),
    ("{\\rtf1\\ansicpg1251 \\'e4}", "line 1: a letter stands in the character set 1251, which is not read"),
  ])
  func aMistakeIsNamedWithItsLine(text: String, message: String) {
    #expect {
      try Self.read(text)
    } throws: { error in
      "\(error)" == message
    }
  }

  @Test func limitsAreNamed() {
    func message(_ bytes: [UInt8]) -> String {
      do {
        _ = try RichText(parsing: bytes)
        return "taken"
      } catch {
        return error.reason
      }
    }
    func message(_ text: String) -> String { message(Array(text.utf8)) }
    let deep = "{\\rtf1" + String(repeating: "{", count: 1_000_000)
    #expect(message(deep) == "groups stand within groups more than 128 deep")
    #expect(message("{\\rtf1" + String(repeating: "{", count: 127) + String(repeating: "}", count: 128)) == "taken")
    let word = "{\\rtf1 \\" + String(repeating: "a", count: 33) + "}"
    #expect(message(word) == "a control word has 33 letters")
    let start = Array("{\\rtf1 ".utf8)
    let large = start + [UInt8](repeating: 0x61, count: RichText.maximumTextSize)
    #expect(message(large + Array("}".utf8)) == "taken")
    #expect(message(large + Array("a}".utf8)) == "the text has more than 4194304 bytes")
    let colors = "{\\rtf1{\\colortbl" + String(repeating: ";", count: 10_001) + "}}"
    #expect(message(colors) == "the text has more than 10000 colors")
    let fonts = (0...10_000).map { "\\f\($0)\\fcharset77" }.joined()
    #expect(message("{\\rtf1{\\fonttbl\(fonts)}}") == "the text has more than 10000 fonts")
    let huge = [UInt8](repeating: 0x20, count: RichText.maximumSize + 1)
    #expect(message(huge) == "the text has 16777217 bytes; at most 16777216 are taken")
  }

  /// Whatever stands in a text, it is read or refused; nothing hangs and nothing traps.
  @Test func strangeTextsAreReadOrRefused() throws {
    let pieces = [
      "{", "}", "\\", "\\'", "\\'e4", "\\u-10179 ", "\\u56832?", "\\uc9 ", "\\bin3 ", "\\*", "\\par", "\n", "a", "é",
      "\\NeXTGraphic x.png ", "\\listtext ", "\\colortbl", ";", "\\red300", "\\fonttbl", "\\f1", "\\fcharset128",
      "\\mac",
      "\\cb1 ", "\u{0}", "-1", "\\ilvl-7", "\\~",
    ]
    var (read, refused) = (0, 0)
    for seed: UInt64 in 1...3_000 {
      var random = SeededGenerator(seed: seed)
      var text = "{\\rtf1"
      for _ in 0..<Int.random(in: 0..<40, using: &random) { text += random.pick(pieces) ?? "" }
      // Half of them end as they should.
      if seed % 2 == 0 {
        text += String(repeating: "}", count: max(0, text.count { $0 == "{" } - text.count { $0 == "}" }))
      }
      do {
        _ = try Self.read(text)
        read += 1
      } catch {
        refused += 1
        #expect(error is RichText.Mistake, "seed \(seed)")
      }
    }
    #expect(read > 100 && refused > 100, "read \(read), refused \(refused)")
  }
}
