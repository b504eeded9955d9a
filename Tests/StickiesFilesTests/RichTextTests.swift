import GraphTesting
import StickiesFiles
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
    (#"\u55357 alone"#, "\u{FFFD}lone"),
    (#"\u55357 ?\u55357 ?\u56832 ?{\u55357 ?}b"#, "\u{FFFD}😀\u{FFFD}b"),
    (#"first line\uc0\u8232 second\u8233 third"#, "first line\nsecond\nthird"),
    (#"\u-8704 x"#, "\u{FFFD}"),
    (#"\f1\b bold\f0\b0  plain\fs36 large"#, "bold plainlarge"),
    (
      #"{\field{\*\fldinst{HYPERLINK "http://example.com"}}{\fldrslt a link}} and on"#,
      "a link and on\n\nhttp://example.com"
    ),
    (#"{\*\unknown hidden {deep} words}seen{\pict 0102}{\info{\author nobody}}"#, "seen"),
    (#"a\bin5 }{\}}b"#, "ab"),
    (#"soft\-hyphen\~space\_hyphen"#, "softhyphen\u{A0}space\u{2011}hyphen"),
    ("{\\listtext\t\\uc0\\u8226 \t}milk\\\n{\\listtext\t2.\t}bread", "- milk\n2. bread"),
    ("\\ilvl1{\\listtext\t\\'95\t}inner", "  - inner"),
    ("", ""),
  ])
  func bodyDecodesToItsText(body: String, text: String) throws {
    #expect(try Self.read(Self.cocoa(body)).text == text)
  }

  /// The address of a link follows the text, unless the text has it.
  @Test(arguments: [
    (#"HYPERLINK "https://example.org/a""#, "see it\n", "see it\n\nhttps://example.org/a"),
    (#"HYPERLINK "https://example.org/a""#, "https://example.org/a", "https://example.org/a"),
    (#"HYPERLINK "https://example.org/a""#, "", "https://example.org/a"),
    (#"HYPERLINK https://example.org/a"#, "x", "x\n\nhttps://example.org/a"),
    (#"hyperlink "https://example.org/\uc0\u228 \'fc" \\o "tip""#, "x", "x\n\nhttps://example.org/äü"),
    (#"HYPERLINK \\l "mark""#, "x", "x"), (#"HYPERLINK "#, "x", "x"), (#"PAGE"#, "x", "x"),
  ])
  func linkHasItsAddress(instruction: String, shown: String, text: String) throws {
    let body = shown.replacing("\n", with: "\\\n")
    let field = "{\\field{\\*\\fldinst{\(instruction)}}{\\fldrslt \(body)}}"
    #expect(try Self.read(Self.cocoa(field)).text == text)
  }

  @Test func addressIsListedOnceAndThoseOfHiddenGroupsNot() throws {
    let field = #"{\field{\*\fldinst{HYPERLINK "https://example.org/a"}}{\fldrslt a}}"#
    let hidden = #"{\*\unknown {\field{\*\fldinst{HYPERLINK "https://example.org/b"}}{\fldrslt b}}}"#
    #expect(try Self.read(Self.cocoa(field + hidden + field)).text == "aa\n\nhttps://example.org/a")
  }

  @Test func macRomanIsDecodedWhereDeclared() throws {
    #expect(try Self.read(#"{\rtf1\mac\ansicpg10000 \'8a\'a5\'ca}"#).text == "ä•\u{A0}")
    #expect(
      try Self.read(#"{\rtf1\ansi{\fonttbl{\f0\fcharset77 Geneva;}{\f1\fcharset0 Arial;}}\f0\'8a\f1\'e4}"#).text == "ää"
    )
    #expect(try RichText(parsing: Array(#"{\rtf1\ansi "#.utf8) + [0xE4, 0x7D]).text == "ä")
  }

  // MARK: - Code pages

  /// `body` in font 1, which has this character set.
  private static func charset(_ number: Int, _ body: String, font: String = "Font", page: Int = 1252) -> String {
    "{\\rtf1\\ansi\\ansicpg\(page)\\cocoartf2639{\\fonttbl\\f0\\fswiss\\fcharset0 Helvetica;"
      + "\\f1\\fnil\\fcharset\(number) \(font);}\\f1 \(body)}"
  }

  @Test(arguments: [
    (128, #"\'8c\'8b\'89\'ca\'81\'41\'83R\'81\'5b\'83h"#, "結果、コード"),
    (128, #"\'83\\\'83\{\'83\}"#, "ソボマ"),
    (129, #"\'c7\'d1\'b1\'db"#, "한글"),
    (134, #"\'c4\'e3\'d5\'fd\'d4\'da \'a1\'aa \'80"#, "你正在 — €"),
    (136, #"\'c1\'63\'c5\'e9"#, "繁體"),
    (161, #"\'e1\'e2\'e3"#, "αβγ"),
    (162, #"\'fe\'f0\'dd"#, "şğİ"),
    (163, #"\'f5\'ea\'cc"#, "\u{1A1}\u{1EC1}"),
    (177, #"\'f9\'ec\'e5\'ed"#, "שלום"),
    (178, #"\'d3\'e1\'c7\'e3"#, "سلام"),
    (186, #"\'e0\'e8\'f0"#, "ąčš"),
    (204, #"\'ef\'f0\'e8\'e2\'e5\'f2"#, "привет"),
    (222, #"\'ca\'c7\'d1\'ca\'b4\'d5"#, "สวัสดี"),
    (238, #"\'9c\'b9\'ea"#, "śąę"),
    (0, #"don\'92t \'97 caf\'e9"#, "don’t — café"),
    (77, #"\'8a\'a5"#, "ä•"),
    (78, #"\'93\'fa\'96\'7b\'fd"#, "日本©"),
    (81, #"\'c1\'63\'c5\'e9\'fe"#, "繁體™"),
    (83, #"\'f9\'ec\'e5\'ed\'a6 \'de\'c0"#, "\u{5E9}\u{5DC}\u{5D5}\u{5DD}₪ \u{5C7}\u{5DC}\u{5B9}"),
    (84, #"\'d3\'e4\'c7\'e5\'bf \'b1\'f3"#, "\u{633}\u{644}\u{627}\u{645}\u{61F} \u{661}\u{67E}"),
    (85, #"\'a1\'e1\'e2\'e7 \'f7 \'9c"#, "Γαβγ ς €"),
    (86, #"\'dc\'dd\'de\'df\'da\'db \'9f"#, "İıŞşĞğ ü"),
    (87, #"\'ca\'c7\'d1\'ca\'b4\'d5"#, "สวัสดี"),
    (88, #"\'e6\'88\'ab"#, "śąę"),
    (89, #"\'8f\'f0\'a2\'ff"#, "П\u{440}\u{490}€"),
    (254, #"\'81"#, "ü"),
  ])
  func fontCharsetDeterminesDecoding(charset: Int, body: String, text: String) throws {
    for page in [1252, 932, 1255] {
      let read = try Self.read(Self.charset(charset, body, page: page))
      #expect(Array(read.text.utf8) == Array(text.utf8), "\(read.text)")
      #expect(read.unreadable == 0)
    }
  }

  @Test(arguments: [
    (10_010, #"\'ae\'df"#, "Ăț"), (10_079, #"\'de\'dd"#, "Þð"), (10_082, #"\'c8\'b9"#, "Čš"),
    (10_081, #"\'da"#, "Ğ"), (737, #"\'80"#, "Α"), (819, #"\'e4"#, "ä"), (21_866, #"\'a4"#, "є"),
    (932, #"\'93\'fa"#, "日"), (1251, #"\'e4"#, "д"), (10_007, #"\'e4"#, "д"), (65_001, #"\'c3\'a4"#, "ä"),
  ])
  func fontWithoutCharsetUsesDocumentCodePage(page: Int, body: String, text: String) throws {
    #expect(try Self.read(#"{\rtf1\ansi\ansicpg\#(page) a\#(body)b}"#).text == "a\(text)b")
    #expect(try Self.read(Self.charset(1, body, page: page)).text == text)
  }

  @Test(arguments: [
    ("Symbol", #"ab \'b7\u-3999 ?\'ae"#, "αβ •α→", 0),
    ("ZapfDingbatsITC", #"3\'48\'d5"#, "✓★→", 0),
    ("Wingdings", #"\'fc \'a7 \'01\'80"#, "✓ ▪ \u{1}\u{FFFD}", 1),
    ("Webdings", #"a\'fc"#, "a\u{FFFD}", 1),
  ])
  func symbolFontMapsToUnicode(font: String, body: String, text: String, unreadable: Int) throws {
    let read = try Self.read(Self.charset(2, body, font: font))
    #expect(read.text == text)
    #expect(read.unreadable == unreadable)
  }

  @Test(arguments: [
    (128, #"a\'81\'ad\'93\'fab"#, "a\u{FFFD}日b"),
    (128, #"a\'85\'52b"#, "a\u{FFFD}b"),
    (128, #"\'93\'fa\'93"#, "日\u{FFFD}"),
    (134, #"\'ff\'c4\'e3"#, "\u{FFFD}你"),
    (222, #"\'ca\'fe\'c7"#, "ส\u{FFFD}ว"),
    (86, #"\'dd\'f5\'df"#, "ı\u{FFFD}ş"),
    (83, #"\'c2b"#, "\u{FFFD}b"),
  ])
  func undecodableByteBecomesOneReplacementCharacter(charset: Int, body: String, text: String) throws {
    let read = try Self.read(Self.charset(charset, body))
    #expect(read.text == text)
    #expect(read.unreadable == 1)
  }

  /// `\u` names a character. Readers without Unicode use the text after it instead: one character or, after `\uc`,
  /// another number of characters.
  @Test(arguments: [
    (128, #"\uc2\u32080\'8c\'8b\u26524\'89\'ca\uc1\'83R"#, "結果コ", 0),
    (128, #"\'8c\'8b\uc0\u26524 \'83R\u12540 \'83h"#, "結果コード", 0),
    (128, #"\'8c\u26524?\'8b"#, "\u{FFFD}果\u{FFFD}", 2),
    (128, #"\uc1\u-10179 ?\u-8704 ?\'8c\'8b"#, "😀結", 0),
    (128, #"\uc1\u-10179\'3f\'8c\'8b\u-8704\'3f"#, "\u{FFFD}結\u{FFFD}", 2),
    (0, #"\u8212\'97\u8217\'92\'e9"#, "—’é", 0),
    (0, #"\u8212\emdash\u8226\bullet\'e9"#, "—•é", 0),
    (0, #"\uc1\u20320\u22909\'e9x"#, "你好x", 0),
    (0, #"\uc1\u20320\par\u22909\line x\tab\'e9"#, "你\n好\nx\té", 0),
    (0, "\\uc1\\u20320\\\nx", "你\nx", 0),
    (0, #"\uc1\u20320\f0\'e9\uc0\u22909\'e9"#, "你é好é", 0),
    (0, #"\uc0\u128512 \u70000 \u1114112 \u-40000 \u55296 x"#, "😀\u{11170}\u{FFFD}\u{FFFD}\u{FFFD}x", 3),
    (0, #"a\'4b\'+4c\'zz"#, "aK\u{FFFD}+4c\u{FFFD}zz", 2),
    (2, #"\u8226 \'b7\uc0\u-3999 \'61"#, "•αα", 0),
  ])
  func unicodeEscapesMixWithBytes(charset: Int, body: String, text: String, unreadable: Int) throws {
    let read = try Self.read(Self.charset(charset, body, font: charset == 2 ? "Symbol" : "Font"))
    #expect(Array(read.text.utf8) == Array(text.utf8), "\(read.text)")
    #expect(read.unreadable == unreadable)
  }

  @Test(.timeLimit(.minutes(5))) func longUndecodableTextIsParsedInLinearTime() throws {
    let body = String(repeating: #"\'ff"#, count: 50_000)
    #expect(try Self.read(Self.charset(134, body)).unreadable == 50_000)
  }

  @Test func attachmentIsReportedOnce() {
    #expect(RichText.attachments(["a.png", "a.png"], beside: ["a.png", "b.pdf"]) == ["a.png", "b.pdf"])
    #expect(
      RichText.attachments(["caf\u{FFFD}.png", "two words.png"], beside: ["café.png", "two  words.png"]).count == 2)
    #expect(RichText.attachments(["Ã¼.png", "lost.png"], beside: ["ü.png"]) == ["lost.png", "ü.png"])
    #expect(RichText.attachments(["\u{FFFD}.png", "日.png"], beside: ["日.png", "本.png"]).count == 2)
  }

  /// One name in the text means one file, in either spelling; two files with canonically equivalent names are two.
  @Test func attachmentNamesAreComparedByBytes() {
    let (one, two) = ("caf\u{E9}.png", "cafe\u{301}.png")
    #expect(RichText.attachments([one], beside: [two]).map { Array($0.utf8) } == [Array(two.utf8)])
    #expect(RichText.attachments([two], beside: [one]).map { Array($0.utf8) } == [Array(one.utf8)])
    #expect(RichText.attachments([one, two], beside: [one, two]).count == 2)
    #expect(RichText.attachments([one], beside: [one, two]).count == 2)
  }

  @Test func attachmentsAreReportedAndOmitted() throws {
    let body =
      "see {{\\NeXTGraphic Pasted Graphic.png \\width640 \\height480 \\appleattachmentpadding0\n}\\'ac} and "
      + "{{\\NeXTGraphic caf\\'e9.pdf \\width1\n}\\uc0\\u8203 }that"
    let text = try Self.read(Self.cocoa(body))
    #expect(text.text == "see  and that")
    #expect(text.attachments == ["Pasted Graphic.png", "café.pdf"])
    #expect(try Self.read(#"{\rtf1{\NeXTGraphic a.png \width1}after}"#).text == "after")
  }

  @Test func firstBackgroundColorIsReported() throws {
    #expect(try Self.read(Self.cocoa("plain")).background == nil)
    let text = try Self.read(Self.cocoa(#"a {\cb2 red} {\cb1 white}"#))
    #expect(text.background == .init(red: 1, green: 0, blue: 0))
    #expect(try Self.read(Self.cocoa(#"\cb99 none"#)).background == nil)
  }

  @Test(arguments: [
    ("hello", "line 1: this is not rich text: it does not begin with {\\rtf"),
    ("{\\rtf1\n\n{a", "line 3: the text ends too early: 2 of its groups are not closed"),
    ("{\\rtf1 a}\nb", "line 2: there is extra text after the end"),
    ("{\\rtf1 \\", "line 1: the text ends after a backslash"),
    ("{\\rtf1 \\bin99 }", "line 1: the text ends within \\bin99"),
    ("{\\rtf1 \\bin-1 }", "line 1: the text ends within \\bin-1"),
    ("{\\rtf1 \\fs12345678901 }", "line 1: a number with 11 digits is too long"),
  ])
  func errorReportsItsLine(text: String, message: String) {
    #expect {
      try Self.read(text)
    } throws: { error in
      "\(error)" == message
    }
  }

  @Test func exceededLimitsAreReported() {
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
    #expect(message(deep) == "groups are nested more than 128 deep")
    #expect(message("{\\rtf1" + String(repeating: "{", count: 127) + String(repeating: "}", count: 128)) == "taken")
    let word = "{\\rtf1 \\" + String(repeating: "a", count: 33) + "}"
    #expect(message(word) == "a control word with 33 letters is too long")
    let start = Array("{\\rtf1 ".utf8)
    let large = start + [UInt8](repeating: 0x61, count: RichText.maximumTextSize)
    #expect(message(large + Array("}".utf8)) == "taken")
    #expect(message(large + Array("a}".utf8)) == "the text has more than 4194304 bytes")
    let colors = "{\\rtf1{\\colortbl" + String(repeating: ";", count: 10_001) + "}}"
    #expect(message(colors) == "the text has more than 10000 colors")
    let fonts = (0...10_000).map { "\\f\($0)\\fcharset77" }.joined()
    #expect(message("{\\rtf1{\\fonttbl\(fonts)}}") == "the text has more than 10000 fonts")
    let huge = [UInt8](repeating: 0x20, count: RichText.maximumSize + 1)
    #expect(message(huge) == "the text has 16777217 bytes; at most 16777216 are allowed")
  }

  /// Any text is read or refused; nothing hangs and nothing traps.
  @Test func randomTextsAreParsedOrRefused() throws {
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
        #expect(error is RichText.ParseError, "seed \(seed)")
      }
    }
    #expect(read > 100 && refused > 100, "read \(read), refused \(refused)")
  }
}
