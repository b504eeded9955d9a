import GraphTesting
import Testing

@testable import TerminalCells

@Suite struct TerminalDecoderTests {
  /// The events of the decoder for a text that is fed byte by byte: cuts never matter.
  private func events(_ text: String) -> [TerminalEvent] {
    var whole = TerminalDecoder()
    var pieces = TerminalDecoder()
    let events = whole.feed(Array(text.utf8))
    #expect(text.utf8.flatMap { pieces.feed(CollectionOfOne($0)) } == events)
    return events
  }

  private func keys(_ text: String) -> [KeyEvent] {
    events(text).compactMap { if case .key(let key) = $0 { key } else { nil } }
  }

  @Test func lettersAndControlKeysAreDecoded() {
    #expect(keys("aÄ日") == [KeyEvent(.character("a")), KeyEvent(.character("Ä")), KeyEvent(.character("日"))])
    #expect(keys("\r\t\u{7F}\u{8}") == [.init(.enter), .init(.tab), .init(.backspace), .init(.backspace)])
    #expect(keys("\u{3}\u{0}\u{1F}").map(\.key) == [.character("c"), .character(" "), .character("_")])
    #expect(keys("\u{3}\u{0}\u{1F}").allSatisfy { $0.modifiers == .control })
    #expect(
      keys("\u{1B}f\u{1B}F\u{1B}é\u{1B}\u{7F}") == [
        .init(.character("f"), .alt), .init(.character("f"), [.alt, .shift]), .init(.character("é"), .alt),
        .init(.backspace, .alt),
      ])
  }

  private static let sequences: [(bytes: String, key: Key, modifiers: Modifiers)] = [
    ("\u{1B}[A", .up, []), ("\u{1B}OA", .up, []), ("\u{1B}[1;5C", .right, .control),
    ("\u{1B}[1;4D", .left, [.alt, .shift]), ("\u{1B}[1;9H", .home, .command), ("\u{1B}[F", .end, []),
    ("\u{1B}[3~", .delete, []), ("\u{1B}[3;5~", .delete, .control), ("\u{1B}[5~", .pageUp, []),
    ("\u{1B}[Z", .tab, .shift), ("\u{1B}OP", .function(1), []), ("\u{1B}[15;2~", .function(5), .shift),
    ("\u{1B}[24~", .function(12), []), ("\u{1B}[1;2R", .function(3), .shift), ("\u{1B}[[A", .function(1), []),
    ("\u{1B}[29~", .menu, []), ("\u{1B}[a", .up, .shift), ("\u{1B}O5D", .left, .control), ("\u{1B}OM", .enter, []),
    ("\u{1B}Oq", .character("1"), []),
    // modifyOtherKeys.
    ("\u{1B}[27;5;105~", .character("i"), .control), ("\u{1B}[27;2;13~", .enter, .shift),
    // Kitty's protocol.
    ("\u{1B}[27u", .escape, []), ("\u{1B}[97;5u", .character("a"), .control), ("\u{1B}[97;2u", .character("A"), []),
    // Cyrillic and Greek layouts say what the key is on a Latin one; Dvorak's letter is what counts on Dvorak.
    ("\u{1B}[1089::99;5u", .character("c"), .control),
    ("\u{1B}[1103:1071:122;6u", .character("z"), [.shift, .control]),
    ("\u{1B}[968::99;5u", .character("c"), .control), ("\u{1B}[1089::99;3u", .character("c"), .alt),
    ("\u{1B}[106::99;5u", .character("j"), .control), ("\u{1B}[1089;5u", .character("с"), .control),
    ("\u{1B}[1089:1057:99;2u", .character("С"), []), ("\u{1B}[57399::99;5u", .character("0"), .control),
    ("\u{1B}[97:65;6u", .character("a"), [.shift, .control]), ("\u{1B}[49:33;2u", .character("!"), []),
    ("\u{1B}[13;2u", .enter, .shift), ("\u{1B}[97;69u", .character("a"), .control), ("\u{1B}[1;1:2A", .up, []),
    ("\u{1B}[57419u", .up, []), ("\u{1B}[57404u", .character("5"), []), ("\u{1B}[57376u", .function(13), []),
    ("\u{1B}[57415;5u", .character("="), .control),
  ]

  @Test(arguments: sequences)
  func keysOfKnownTerminalsAreDecoded(bytes: String, key: Key, modifiers: Modifiers) {
    #expect(events(bytes) == [.key(KeyEvent(key, modifiers))])
    #expect(events("x" + bytes + "y").count == 3)
  }

  @Test(arguments: [
    // A release, a lock key, unknown finals, a number beyond Unicode, a foreign prefix, a foreign string.
    "\u{1B}[97;1:3u", "\u{1B}[57358u", "\u{1B}[5E", "\u{1B}[99999999999999999999u", "\u{1B}[>0;276;0c",
    "\u{1B}P1$r0m\u{1B}\\", "\u{1B}]4;1;rgb:0/0/0\u{7}", "\u{1B}[200;5x", "\u{1B}[201~", "\u{1B}[<0;1M",
    "\u{1B}[;;;;;;;~", "\u{1B}[:::u", "\u{1B}_Gi=1;OK\u{1B}\\",
  ])
  func unknownSequencesAreIgnored(bytes: String) {
    #expect(events("a" + bytes + "b") == [.key(KeyEvent(.character("a"))), .key(KeyEvent(.character("b")))])
  }

  @Test func loneEscapeIsReportedAfterTimeout() {
    var decoder = TerminalDecoder()
    #expect(decoder.feed([0x1B]) == [])
    #expect(decoder.deadlineMilliseconds == TerminalDecoder.sequenceMilliseconds)
    #expect(decoder.deadline() == [.key(KeyEvent(.escape))])
    #expect(decoder.deadlineMilliseconds == nil)
    #expect(decoder.deadline() == [])
    #expect(decoder.feed([0x1B, 0x1B]) == [.key(KeyEvent(.escape))])
    #expect(decoder.feed([0x5B, 0x41]) == [.key(KeyEvent(.up))])
    #expect(decoder.feed([0x1B, 0x5B]) == [])
    #expect(decoder.deadline() == [.key(KeyEvent(.character("["), .alt))])
    #expect(decoder.feed([0x1B, 0x5B, 0x31, 0x3B]) == [])
    #expect(decoder.deadline() == [])
    #expect(decoder.feed([0x41]) == [.key(KeyEvent(.character("A")))])
  }

  @Test func mouseEventsAreDecoded() {
    #expect(
      events("\u{1B}[<0;3;5M\u{1B}[<32;4;5M\u{1B}[<0;4;5m\u{1B}[<35;9;9M") == [
        .mouse(MouseEvent(.press(.left), at: Point(x: 2, y: 4))),
        .mouse(MouseEvent(.drag(.left), at: Point(x: 3, y: 4))),
        .mouse(MouseEvent(.release(.left), at: Point(x: 3, y: 4))), .mouse(MouseEvent(.move, at: Point(x: 8, y: 8))),
      ])
    #expect(
      events("\u{1B}[<64;1;1M\u{1B}[<69;1;1M\u{1B}[<18;200;99M\u{1B}[<128;1;1M") == [
        .mouse(MouseEvent(.wheel(.up), at: Point(x: 0, y: 0))),
        .mouse(MouseEvent(.wheel(.down), at: Point(x: 0, y: 0), .shift)),
        .mouse(MouseEvent(.press(.right), at: Point(x: 199, y: 98), .control)),
        .mouse(MouseEvent(.press(.other(8)), at: Point(x: 0, y: 0))),
      ])
    // Terminals without the newer form don't say which button came up.
    #expect(
      events("\u{1B}[M\"!!\u{1B}[M#&%") == [
        .mouse(MouseEvent(.press(.right), at: Point(x: 0, y: 0))),
        .mouse(MouseEvent(.release(.right), at: Point(x: 5, y: 4))),
      ])
  }

  @Test func pasteContainsSequencesAsText() {
    #expect(
      events("\u{1B}[200~one\rtwo\r\nthree\t\u{1B}[A\u{3}\u{1B}\u{1B}[201~x") == [
        .paste(PasteEvent(text: "one\ntwo\nthree\t[A")), .key(KeyEvent(.character("x"))),
      ])
    #expect(events("\u{1B}[200~\u{1B}[201~") == [.paste(PasteEvent(text: ""))])
  }

  @Test func unterminatedPasteIsLimitedAndEnded() {
    var decoder = TerminalDecoder()
    _ = decoder.feed(Array("\u{1B}[200~a".utf8))
    for _ in 0..<80 {
      _ = decoder.feed(Array(repeating: "é", count: 32_768).joined().utf8)
      #expect(decoder.keptBytes <= TerminalDecoder.maximumPaste)
    }
    let events = decoder.feed(Array("\u{1B}[201~".utf8))
    // Nothing of a character is left that the bound cut in two.
    #expect(
      events == [
        .paste(PasteEvent(text: "a" + String(repeating: "é", count: TerminalDecoder.maximumPaste / 2 - 1), isCut: true))
      ])
    _ = decoder.feed(Array("\u{1B}[200~half".utf8))
    #expect(decoder.deadlineMilliseconds == TerminalDecoder.pasteMilliseconds)
    #expect(decoder.deadline() == [.paste(PasteEvent(text: "half", isOpen: true))])
  }

  /// Half a letter is no key, nor is a sequence of which digits have come: a slow line may bring the rest.
  @Test func incompleteSequenceWaitsForItsRest() {
    var decoder = TerminalDecoder()
    #expect(decoder.feed([0xE6]) == [])
    #expect(decoder.deadlineMilliseconds == TerminalDecoder.restMilliseconds)
    #expect(decoder.feed([0xBC, 0xA2]) == [.key(KeyEvent(.character("漢")))])
    #expect(decoder.feed([0x1B, 0x5B]) == [])
    #expect(decoder.deadlineMilliseconds == TerminalDecoder.sequenceMilliseconds)
    #expect(decoder.feed([0x32, 0x30]) == [])
    #expect(decoder.deadlineMilliseconds == TerminalDecoder.restMilliseconds)
    #expect(decoder.feed(Array("0~q\u{1B}[201~".utf8)) == [.paste(PasteEvent(text: "q"))])
  }

  @Test func partialPasteIsDeliveredAtEnd() {
    var decoder = TerminalDecoder()
    #expect(decoder.endPaste() == [])
    #expect(decoder.feed(Array("\u{1B}[200~half".utf8)) == [])
    #expect(decoder.endPaste() == [.paste(PasteEvent(text: "half", isOpen: true))])
  }

  /// Late bytes would be decoded as commands.
  @Test func pasteContinuesAfterPause() {
    var decoder = TerminalDecoder()
    #expect(decoder.feed(Array("\u{1B}[200~Dear \u{C3}".utf8.dropLast())) == [])
    #expect(decoder.deadline() == [.paste(PasteEvent(text: "Dear ", isOpen: true))])
    #expect(decoder.deadlineMilliseconds == TerminalDecoder.sequenceMilliseconds)
    #expect(decoder.feed([0xA9] + Array(" quit".utf8)) == [])
    #expect(decoder.deadline() == [.paste(PasteEvent(text: "é quit", isOpen: true))])
    #expect(decoder.deadlineMilliseconds == nil)
    // The end in two pieces.
    #expect(decoder.feed(Array("q\u{1B}[20".utf8)) == [])
    #expect(decoder.deadlineMilliseconds == TerminalDecoder.sequenceMilliseconds)
    #expect(decoder.deadline() == [.paste(PasteEvent(text: "q", isOpen: true))])
    #expect(decoder.deadlineMilliseconds == nil)
    #expect(decoder.feed(Array("1~q".utf8)) == [.paste(PasteEvent(text: "")), .key(KeyEvent(.character("q")))])
    // A key press ends a sequence without an end.
    _ = decoder.feed(Array("\u{1B}[200~half".utf8))
    #expect(decoder.deadline() == [.paste(PasteEvent(text: "half", isOpen: true))])
    #expect(decoder.feed([0x1B]) == [])
    #expect(decoder.deadlineMilliseconds == TerminalDecoder.escapeMilliseconds)
    #expect(decoder.deadline() == [.key(KeyEvent(.escape))])
    #expect(decoder.feed(Array("q".utf8)) == [.key(KeyEvent(.character("q")))])
  }

  @Test func repliesAndFocusAreDecoded() {
    #expect(
      events("\u{1B}]11;rgb:ffff/8080/0000\u{1B}\\\u{1B}]11;rgb:f/8/0\u{7}\u{1B}[?2026;2$y\u{1B}[?62;22c\u{1B}[?1u")
        == [
          .answer(.background(red: 255, green: 128, blue: 0)), .answer(.background(red: 255, green: 136, blue: 0)),
          .answer(.mode(2026, value: 2)), .answer(.attributes), .answer(.keyboard(flags: 1)),
        ])
    #expect(
      events("\u{1B}[?5;9R\u{1B}[12;40R\u{1B}[I\u{1B}[O") == [
        .answer(.cursor(Point(x: 8, y: 4))), .answer(.cursor(Point(x: 39, y: 11))), .focus(isGained: true),
        .focus(isGained: false),
      ])
    #expect(events("\u{1B}]11;rgb:zz/0/0\u{7}\u{1B}]11;red\u{7}") == [])
  }

  @Test func invalidUTF8IsReplacedAsUnicodeRecommends() {
    for seed in UInt64(0)..<400 {
      var random = SeededGenerator(seed: seed)
      let bytes = (0..<random.below(30)).map { _ in UInt8(random.below(3) == 0 ? 0x41 : 0x80 + random.below(0x80)) }
      var decoder = TerminalDecoder()
      let events = decoder.feed(bytes) + decoder.deadline()
      let said = events.flatMap { event -> [Unicode.Scalar] in
        guard case .key(let key) = event, case .character(let one) = key.key else { return [] }
        return Array(one.unicodeScalars)
      }
      #expect(
        said == Array(String(decoding: bytes, as: UTF8.self).unicodeScalars), "seed \(seed)")
    }
  }

  @Test func decoderStaysBoundedAndDecodesNextKey() {
    let pieces: [[UInt8]] = [
      [0x1B], [0x5B], [0x4F], [0x5D], [0x50], [0x3B], [0x3A], [0x3C], [0x3F], [0x4D], [0x6D], [0x7E], [0x75], [0x18],
      Array("200~".utf8), Array("99999999999".utf8), Array("11;rgb:".utf8), Array(repeating: 0x31, count: 999),
    ]
    for seed in UInt64(0)..<2000 {
      var random = SeededGenerator(seed: seed)
      var decoder = TerminalDecoder()
      for _ in 0..<random.below(60) {
        let piece = random.below(2) == 0 ? random.one(of: pieces) : [UInt8(random.below(256))]
        _ = decoder.feed(piece)
        #expect(decoder.keptBytes <= TerminalDecoder.maximumPaste)
        if random.below(9) == 0 { _ = decoder.deadline() }
      }
      while decoder.deadlineMilliseconds != nil { _ = decoder.deadline() }
      // It may be in a paste without an end.
      _ = decoder.feed([0x1B])
      _ = decoder.deadline()
      #expect(decoder.deadlineMilliseconds == nil)
      #expect(decoder.feed(Array("k".utf8)) == [.key(KeyEvent(.character("k")))], "seed \(seed)")
    }
  }
}
