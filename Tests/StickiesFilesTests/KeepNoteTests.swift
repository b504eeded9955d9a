import GraphModel
import StickiesFiles
import Testing

@Suite struct KeepNoteTests {
  private static func read(_ members: String, created: String = "1600000000000000") throws -> KeepNote {
    let more = members.isEmpty ? "" : "," + members
    return try KeepNote(JSON(parsing: #"{"createdTimestampUsec":\#(created)\#(more)}"#))
  }

  // MARK: - Links

  @Test(arguments: [
    (#""title":"","textContent":"""#, "Example Domain\nhttps://example.org/a\nA page"),
    (#""textContent":"see https://example.org/a""#, "see https://example.org/a\n\nExample Domain\nA page"),
    (
      #""textContent":"see https://example.org/a/b""#,
      "see https://example.org/a/b\n\nExample Domain\nhttps://example.org/a\nA page"
    ),
    (#""title":"Example Domain""#, "Example Domain\n\nhttps://example.org/a\nA page"),
  ])
  func savedLinkAppearsOnce(members: String, text: String) throws {
    let link = #"{"description":"A page","source":"WEBLINK","title":"Example Domain","url":"https://example.org/a"}"#
    let note = try Self.read(members + #","annotations":[\#(link),\#(link)]"#)
    #expect(note.text == text)
    #expect(note.remarks == [])
  }

  @Test(arguments: [
    ("aab ab", "ab", true), ("aab ab", "b", false), ("(https://a.b/c)", "https://a.b/c", true),
    ("https://a.b/c?d", "https://a.b/c", false), ("caf\u{E9}", "caf", false), ("cafe\u{301}", "cafe", false),
    ("日本語", "本", false), ("本、日本", "本", true), ("ababac", "abac", false), ("abab abac.", "abac", true),
  ])
  func pieceOfALinkIsMentionedOnlyAsAWhole(text: String, piece: String, isMentioned: Bool) throws {
    let note = try Self.read(#""textContent":"\#(text)","annotations":[{"url":"\#(piece)"}]"#)
    #expect(note.text == (isMentioned ? text : text + "\n\n" + piece))
  }

  /// The text repeats what the links begin with; from some link on it is no longer searched.
  @Test(.timeLimit(.minutes(5))) func manyLinksOfALongTextAreReadInLinearTime() throws {
    let text = String(repeating: "https://a.example/", count: 1_000)
    let links = (0..<5_000).map { #"{"url":"https://a.example/\#($0)"}"# }.joined(separator: ",")
    let note = try Self.read(#""textContent":"\#(text)","annotations":[\#(links)]"#)
    #expect(note.text.hasPrefix(text + "\n\nhttps://a.example/0\n\nhttps://a.example/1\n\n"))
    #expect(note.text.hasSuffix("https://a.example/4999"))
  }

  // MARK: - HTML

  @Test func noteWithOnlyHTMLIsConverted() throws {
    let note = try Self.read(#""title":"T","textContentHtml":"<p>one &amp; two<\/p><p>three<\/p>""#)
    #expect(note.text == "T\n\none & two\nthree")
    #expect(note.remarks == [])
    let list = try Self.read(#""listContent":[{"textHtml":"<p>milk<\/p>","isChecked":true},{"text":"eggs"}]"#)
    #expect(list.text == "- [x] milk\n- [ ] eggs")
  }

  @Test func imageWithoutDescriptionIsReported() throws {
    let html = #"<p>one <img src=\"x.png\"><img src=\"y.png\" alt=\"\"><\/p>"#
    let note = try Self.read(#""textContent":"one","textContentHtml":"\#(html)""#)
    #expect(
      note.remarks == ["the note was imported without the images of its text that have no description: x.png, y.png"])
  }

  @Test func plainTextIsPreferredToHTML() throws {
    let html = #"<p>one <b>two<\/b> <a href=\"https://example.org/x\">three<\/a><\/p>"#
    let note = try Self.read(#""textContent":"one two three","textContentHtml":"\#(html)""#)
    #expect(note.text == "one two three\n\nhttps://example.org/x")
    #expect(note.remarks == ["the note was imported without its formatting: bold"])
  }

  @Test func formattedTextWithOtherLettersIsReported() throws {
    let note = try Self.read(#""textContent":"one two","textContentHtml":"<ol><li>one<\/ol><p>two, three<\/p>""#)
    #expect(note.text == "one two")
    #expect(
      note.remarks == [
        "the note was imported without its textContentHtml, which is not its textContent: 1. one\ntwo, three"
      ])
    let list = try Self.read(#""listContent":[{"text":"eggs","textHtml":"<p>ham<\/p>"},{"text":"a 1","textHtml":"a"}]"#)
    #expect(list.text == "- [ ] eggs\n- [ ] a 1")
    #expect(
      list.remarks == ["the note was imported without the textHtml of its listContent, which is not its text: ham"])
  }

  /// Digits and emoji are content as well.
  @Test(arguments: [
    ("call", "<p>call 0123<\\/p>", true), ("call 0123", "<p>call 0123<\\/p>", false),
    ("call 0123", "<p>call<\\/p>", false),
    ("milk", "<p>milk 🥛<\\/p>", true), ("🥛 milk", "<p>milk 🥛<\\/p>", false), ("12", "<p>21<\\/p>", true),
    ("one two", "<ol><li>one<li>two<\\/ol>", false), ("⅓ a", "<p>½ a<\\/p>", true),
  ])
  func formattedTextWithOtherDigitsIsReported(plain: String, html: String, isReported: Bool) throws {
    let note = try Self.read(#""textContent":"\#(plain)","textContentHtml":"\#(html)""#)
    #expect(note.text == plain)
    #expect(note.remarks.contains { $0.contains("which is not its textContent") } == isReported, "\(note.remarks)")
  }

  @Test func textAndListAreBothImported() throws {
    #expect(try Self.read(#""textContent":"words","listContent":[{"text":"item"}]"#).text == "words\n\n- [ ] item")
  }

  // MARK: - Times

  @Test(arguments: ["0", "-1", "-9223372036854775808", "9223372036854775807", "null"])
  func invalidEditTimeBecomesCreationTime(edited: String) throws {
    let note = try Self.read(#""userEditedTimestampUsec":\#(edited)"#)
    #expect(note.created == 1_600_000_000_000_000)
    #expect(note.updated == 1_600_000_000_000_000)
  }

  @Test func invalidCreationTimeBecomesEditTimeWithRemark() throws {
    let note = try Self.read(#""userEditedTimestampUsec":1600000000000000"#, created: "0")
    #expect(note.created == 1_600_000_000_000_000 && note.updated == note.created)
    #expect(note.remarks == ["the note was imported without its creation time: 0 is invalid"])
    let none = try Self.read("", created: "-5")
    #expect(none.created == nil && none.updated == nil)
  }

  // MARK: - Types

  @Test(arguments: [
    ("[1]", "this is not a Google Keep note: it is an array, not an object"),
    ("{}", "this is not a Google Keep note: createdTimestampUsec is missing"),
    (
      #"{"createdTimestampUsec":"2020"}"#,
      "createdTimestampUsec is \"2020\", a string; a whole number of microseconds is needed"
    ),
    (
      #"{"createdTimestampUsec":1.5}"#,
      "createdTimestampUsec is 1.5, a number; a whole number of microseconds is needed"
    ),
    (#"{"createdTimestampUsec":null}"#, "createdTimestampUsec is null, null; a whole number of microseconds is needed"),
  ])
  func fileThatIsNotANoteIsReported(text: String, message: String) throws {
    let json = try JSON(parsing: text)
    #expect {
      try KeepNote(json)
    } throws: { error in
      "\(error)" == message
    }
  }

  @Test(arguments: [
    (#""title":5"#, "its title: 5 is a number, not a string"),
    (#""isPinned":"true""#, "its isPinned: \"true\" is a string, not a Boolean"),
    (#""userEditedTimestampUsec":"now""#, "its userEditedTimestampUsec: \"now\" is a string, not a whole number"),
    (#""labels":{"name":"a"}"#, "its labels: {\"name\":\"a\"} is an object, not an array"),
    (#""labels":["a"]"#, "its labels: \"a\" is a string, not an object"),
    (#""labels":[{"name":7}]"#, "its name in labels: 7 is a number, not a string"),
    (#""listContent":[{"text":["a"]}]"#, "its text in listContent: [\"a\"] is an array, not a string"),
    (
      #""sharees":[{"isOwner":true,"type":"WRITER","email":"a@b.c"},{"email":"d@e.f"}]"#,
      "the people it is shared with: a@b.c (owner), d@e.f"
    ),
    (#""tasks":[{"id":"x1"}]"#, #"its tasks: [{"id":"x1"}]"#),
    (#""attachments":[{"filePath":"a.png","mimetype":"image/png"},{}]"#, "its attachment a.png, without a name"),
    (#""listContent":[{"text":"a","due":"today"}]"#, "the due of its listContent: \"today\""),
  ])
  func missingPartOfNoteIsReportedAndNoteImported(member: String, remark: String) throws {
    let note = try Self.read(#""textContent":"words",\#(member)"#)
    #expect(note.remarks == ["the note was imported without " + remark])
    #expect(note.text.hasPrefix("words"))
  }

  @Test func emptyMembersAreNotReported() throws {
    let note = try Self.read(#""tasks":[],"sharees":[],"annotations":[],"future":null,"other":false,"third":"""#)
    #expect(note.remarks == [])
  }

  // MARK: - Notes of earlier imports

  private static func stored(
    _ number: UInt64, _ origin: String, _ text: String, updated: Timestamp = 1
  ) -> KeepOrigins.Stored {
    .init(id: ObjectID(key: UniqueID(high: 1, low: number), entity: 1), origin: origin, text: text, updated: updated)
  }

  private static func file(_ text: String, edited: Int = 1) throws -> KeepNote {
    try read(#""textContent":"\#(text)","userEditedTimestampUsec":\#(edited)"#)
  }

  @Test func noteOfEarlierReleaseMatchesOneFileOfItsTime() throws {
    let (one, two) = (try Self.file("one"), try Self.file("two"))
    let old = Self.stored(1, "keep:1600000000000000", "two")
    #expect(KeepOrigins.claims([one, two], [old]) == [1: old.id], "the text decides")
    #expect(KeepOrigins.claims([one], [old]) == [:], "the same edit with another text is another note")
    let edited = Self.stored(1, "keep:1600000000000000", "written over here", updated: 9)
    #expect(KeepOrigins.claims([one], [edited]) == [0: edited.id])
    #expect(KeepOrigins.claims([one, two], [edited]) == [0: edited.id], "one note is one file")
    #expect(KeepOrigins.claims([try Self.file("two", edited: 7)], [old]) == [0: old.id])
    let empty = Self.stored(1, "keep:1600000000000000", "")
    #expect(KeepOrigins.claims([one], [empty]) == [0: empty.id], "what earlier releases read is less")
  }

  @Test func noteWithInvalidTimeIsIdentifiedByOrigin() throws {
    let old = Self.stored(1, "keep:0", "words", updated: 0)
    let file = try Self.read(#""textContent":"words, edited","userEditedTimestampUsec":7"#, created: "0")
    #expect(KeepOrigins.claims([file], [old]) == [0: old.id])
  }

  @Test func renamedFileIsIdentifiedByText() throws {
    let known = Self.stored(1, "keep:1600000000000000:a.json", "one", updated: 9)
    #expect(KeepOrigins.claims([try Self.file("one")], [known]) == [0: known.id])
    #expect(KeepOrigins.claims([try Self.file("two")], [known]) == [:])
    let later = Self.stored(1, "keep:1600000000000001:a.json", "one")
    #expect(KeepOrigins.claims([try Self.file("one")], [later]) == [:])
  }
}
