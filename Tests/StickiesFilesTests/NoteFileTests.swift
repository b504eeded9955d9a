import GraphModel
import GraphTesting
import StickiesFiles
import Testing

@Suite struct NoteFileTests {
  private static func read(_ text: String) throws -> NoteFile { try NoteFile(parsing: Array(text.utf8)) }

  @Test func fileIsFrontMatterAndText() throws {
    var file = NoteFile(text: "Call Ann\n---\nsoon")
    file.id = UniqueID(high: 0x0123_4567_89ab_cdef, low: 0xfedc_ba98_7654_3210)
    (file.revision, file.number, file.created, file.updated) = (12, 2, 0, 1_500_000)
    file.values = [
      .color: .word("pink"), .tags: .words(["home", "to do", "yes", "été"]), .x: .number(-40), .y: .number(0.5),
      .pinned: .flag(true),
    ]
    file.held = [.color: .word("blue")]
    let text = """
      ---
      id: sxq5tk1v58cgg04hmasw9nf6yy
      revision: 12
      color: pink
      server-color: blue
      tags: [home, "to do", "yes", été]
      x: -40
      y: 0.5
      pinned: true
      number: 2
      created: 1970-01-01T00:00:00.000000Z
      updated: 1970-01-01T00:00:01.500000Z
      ---
      Call Ann
      ---
      soon

      """
    #expect(String(decoding: file.bytes, as: UTF8.self) == text)
    let back = try Self.read(text)
    #expect(back.text == file.text)
    #expect(back.values == file.values)
    #expect(back.held == file.held)
    #expect(back.id == file.id)
  }

  @Test func everyTextRoundTripsByteForByte() throws {
    for seed: UInt64 in 1...300 {
      var texts = RandomTexts(seed: seed)
      var file = NoteFile(text: texts.text())
      file.id = texts.id()
      file.values[.tags] = .words(of: (0..<4).map { _ in texts.text(5) }.filter { !$0.isEmpty })
      file.values[.x] = .number(.random(in: -1e6...1e6, using: &texts.random))
      let back = try NoteFile(parsing: file.bytes)
      #expect(UTF8Comparison.equal(back.text, file.text), "seed \(seed)")
      #expect(back.values == file.values, "seed \(seed)")
      #expect(back.bytes == file.bytes, "seed \(seed)")
    }
  }

  @Test(arguments: [
    ("", ""), ("\n", ""), ("a", "a"), ("a\n", "a"), ("a\n\n", "a\n"), ("\u{FEFF}a\n", "a"), ("a\r\n", "a"),
    ("a\r\nb\r\n", "a\r\nb"), ("\r\n", ""), ("a\r\n\r\n", "a\r\n"), ("a\r", "a\r"),
    ("----\na\n", "----\na"), ("--- \na\n", "--- \na"), ("a\n---\nb\n", "a\n---\nb"),
  ])
  func fileWithoutFrontMatterIsText(file: String, text: String) throws {
    let read = try Self.read(file)
    #expect(UTF8Comparison.equal(read.text, text))
    #expect(read.id == nil)
    #expect(read.values.isEmpty)
  }

  @Test func filesOfOtherEditorsAreParsed() throws {
    let file = try Self.read("\u{FEFF}---\r\ntags:\r\n  - home\r\n  - \"to do\"\r\n\r\nx:   4e1 \r\n---\r\na\r\nb\r\n")
    #expect(file.values == [.tags: .words(["home", "to do"]), .x: .number(40)])
    #expect(file.text == "a\r\nb")
    #expect(file.hasCarriageReturns)
    #expect(file.text(over: "a\nb") == "a\nb")
    #expect(UTF8Comparison.equal(file.text(over: "a\r\nb"), "a\r\nb"))
  }

  @Test(arguments: [
    ("---\ncolor: pink\n", "line 1: the front matter is not closed: a second line --- is missing"),
    ("---\nid: zz\n---\n", "line 2: this is not an id; remove it to make a new note"),
    ("---\nrevision: -1\n---\n", "line 2: \"revision\" is not a whole number"),
    (
      "---\ncolor: mauve\n---\n",
      "line 2: \"color\" is not one of yellow, blue, green, pink, purple, gray, orange, red, teal, brown, white"
    ),
    ("---\n\n# hello\n---\n", "line 3: this line is not \"name: value\""),
    ("---\nx: 1\nx: 2\n---\n", "line 3: \"x\" appears here twice"),
    ("---\nalias: a\n---\n", "line 2: \"alias\" is not a property of a note"),
    ("---\nx: nan\n---\n", "line 2: \"x\" is not a number"),
    ("---\nx: 0x10\n---\n", "line 2: \"x\" is not a number"),
    ("---\nx: 1e999\n---\n", "line 2: \"x\" is not a number"),
    ("---\nwidth: 0\n---\n", "line 2: \"width\" is outside 1 to 100000"),
    ("---\nx: [1]\n---\n", "line 2: \"x\" is a list; a single value is expected"),
    ("---\nx:\n---\n", "line 2: a value is missing"),
    ("---\nx:1\n---\n", "line 2: a space is missing after \"x:\""),
    ("---\ntags: home\n---\n", "line 2: \"tags\" is not a list such as [home, phone]"),
    ("---\ntags: [a\n---\n", "line 2: the list is not closed: ] is missing"),
    ("---\ntags: [a] b\n---\n", "line 2: there is extra text after the list"),
    ("---\ntags: [a, , b]\n---\n", "line 2: a value is missing"),
    ("---\ntags: [\"a]\n---\n", "line 2: the list is not closed: ] is missing"),
    ("---\ntags: [\"\\q\"]\n---\n", "line 2: the quoted word can't be read"),
    ("---\ntags: [{a}]\n---\n", "line 2: a word with these characters needs double quotes"),
    ("---\ntags: [\"\"]\n---\n", "line 2: \"tags\" has a word of 0 bytes; each must have 1 to 200"),
    ("---\npinned: yes\n---\n", "line 2: \"pinned\" is neither true nor false"),
    ("---\ncreated: yesterday\n---\n", "line 2: \"created\" is not a date such as 2026-11-21T09:30:00Z"),
    ("---\ncolor: \u{1}\n---\n", "line 2: the front matter contains a control character"),
  ])
  func errorReportsItsLine(file: String, message: String) {
    #expect {
      try Self.read(file)
    } throws: { error in
      "\(error)" == message
    }
  }

  @Test func invalidUTF8AndTooLargeFilesAreReported() throws {
    func message(_ bytes: [UInt8]) -> String {
      do {
        _ = try NoteFile(parsing: bytes)
        return "taken"
      } catch {
        return "\(error)"
      }
    }
    #expect(message(Array("---\nx: 1\n---\none\ntwo ".utf8) + [0xFF]) == "line 5: this is not UTF-8")
    #expect(message(Array("---\nx: ".utf8) + [0xC3, 0x0A] + Array("---\n".utf8)) == "line 2: this is not UTF-8")
    let large = [UInt8](repeating: 0x61, count: NoteFile.maximumTextSize + 1)
    #expect(message(large) == "line 1: the text has 4194305 bytes; a note can have at most 4194304")
    #expect(message(Array(large.dropLast()) + [0x0A]) == "taken")
    #expect(message(large + large).hasPrefix("line 1: the file has 8388610 bytes; at most "))
    let tags = "---\ntags: [\(String(repeating: "a, ", count: 800_000))b]\n---\n"
    #expect(message(Array(tags.utf8)) == "line 2: the front matter has more than 2097152 bytes")
    let thousand = (1...1_000).map { "t\($0)" }.joined(separator: ", ")
    #expect(message(Array("---\ntags: [\(thousand)]\n---\n".utf8)) == "taken")
    let more = "---\ntags: [\(thousand), more]\n---\n"
    #expect(message(Array(more.utf8)) == "line 2: \"tags\" has 1001 words; at most 1000 are allowed")
  }

  @Test(arguments: [
    ("# Call Ann!!\nsoon", "call-ann-a0000000.md"), ("\n\n 1. x\n", "1-x-a0000000.md"), ("日本", "note-a0000000.md"),
    ("", "note-a0000000.md"), ("../../etc/passwd", "etc-passwd-a0000000.md"),
    (String(repeating: "ab ", count: 50), "ab-ab-ab-ab-ab-ab-ab-ab-ab-ab-ab-ab-ab-a-a0000000.md"),
  ])
  func fileNameBeginsWithText(text: String, name: String) {
    #expect(NoteFileName.name(of: text, id: UniqueID(high: 1, low: 2)) == name)
    #expect(NoteFileName.isPlain(name))
  }

  @Test(arguments: ["../a.md", "a/b.md", ".hidden.md", "a.txt", "a\u{0}.md"])
  func listRefusesFilesOutsideItsFolder(name: String) { #expect(!NoteFileName.isPlain(name)) }
}
