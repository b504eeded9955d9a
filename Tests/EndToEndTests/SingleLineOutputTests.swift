import Testing

/// Answers of one line.
@Suite struct SingleLineOutputTests {
  @Test func oneLineAnswerIsTruncated() throws {
    let daemon = try Daemon()
    try daemon.start()
    let text = String(repeating: "long ", count: 20_000)
    let added = try daemon.run("add", "-", input: text)
    #expect(added.output.hasSuffix("…\n") && added.output.count < 250)
    for words in [["color", "1", "pink"], ["list"], ["search", "long"], ["log"], ["delete", "1"]] {
      let answer = try Daemon.run(words, server: daemon.socket.description, author: "ann@test", input: nil)
      #expect(answer.status == 0 && answer.output.count < 2_000, "\(words): \(answer.output.count)")
    }
    #expect(try daemon.run("undo").status == 0)
    // Asked for whole, it is whole.
    #expect(try daemon.run("show", "1").output.count > 100_000 - 1)
    #expect(try daemon.run("list", "--json").json()[0]?["text"]?.stringValue?.count == 100_000)
    #expect(daemon.stop() == 0)
  }

  @Test func textIsCompleteInFileAndOneLineInList() throws {
    let daemon = try Daemon()
    try daemon.start()
    let text = "one\r\n\ttwo\u{1B}[31m\u{202E}x\u{200B}y"
    #expect(try daemon.run("add", "-", input: text).output.hasSuffix(" one\n"))
    let shown = Array("\n\none\r\n\ttwo\\u{1B}[31m\u{202E}x\u{200B}y\n".utf8)
    #expect(try Array(daemon.run("show", "1").output.utf8.suffix(shown.count)) == shown)
    #expect(try daemon.run("list", "--json").json()[0]?["text"]?.stringValue.map { Array($0.utf8) } == Array(text.utf8))
    // Two texts that differ only in the composition of a letter are different texts.
    #expect(try daemon.run("edit", "1", "--text", "caf\u{E9}").status == 0)
    #expect(try daemon.run("edit", "1", "--text", "cafe\u{301}").status == 0)
    let stored = try daemon.run("list", "--json").json()[0]?["text"]?.stringValue
    #expect(stored.map { Array($0.utf8) } == Array("cafe\u{301}".utf8))
    #expect(daemon.stop() == 0)
  }
}
