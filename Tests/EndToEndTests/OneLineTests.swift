import Testing

/// Answers of one line.
@Suite struct OneLineTests {
  @Test func anAnswerOfOneLineIsCut() throws {
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
}
