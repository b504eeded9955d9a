import Foundation
import Testing

/// `stickies edit` with an editor that is a command of the test.
@Suite struct EditorTests {
  /// The path that a message names.
  private static func file(_ errors: String) -> String? {
    errors.split(whereSeparator: { " ;\n".contains($0) }).map(String.init).first { $0.hasSuffix("/note.md") }
  }

  @Test func editorThatReturnsImmediatelyKeepsItsFile() throws {
    let daemon = try Daemon()
    try daemon.start()
    try daemon.run("add", "hello")
    let edited = try daemon.run("edit", "1", environment: ["VISUAL": "true"])
    #expect(edited.status == 1)
    #expect(edited.output.isEmpty)
    #expect(edited.errors.contains("the editor (true) returned at once"))
    #expect(edited.errors.contains("\"code --wait\""))
    let file = try #require(Self.file(edited.errors))
    defer { try? FileManager.default.removeItem(atPath: (file as NSString).deletingLastPathComponent) }
    // The window that is still open saves now.
    try "hello later".write(toFile: file, atomically: false, encoding: .utf8)
    #expect(
      try daemon.run("edit", "1", "--text", "-", input: String(contentsOfFile: file, encoding: .utf8)).status == 0)
    #expect(try daemon.run("show", "1", "--json").json()["text"] == .string("hello later"))
    #expect(daemon.stop() == 0)
  }

  /// A window may also be open behind an editor that returns after some seconds.
  @Test func editorThatReturnsWithoutSavingKeepsItsFile() throws {
    let daemon = try Daemon()
    try daemon.start()
    try daemon.run("add", "hello")
    let script = daemon.home.path + "/editor"
    try "sleep 2.4".write(toFile: script, atomically: false, encoding: .utf8)
    let edited = try daemon.run("edit", "1", environment: ["VISUAL": "sh \(script)"])
    #expect(edited.status == 0 && edited.output == "#1 hello\n", "\(edited.errors)")
    #expect(edited.errors.contains("the editor saved nothing; a text that it saves later stays in "))
    let file = try #require(Self.file(edited.errors))
    defer { try? FileManager.default.removeItem(atPath: (file as NSString).deletingLastPathComponent) }
    // The window that is still open saves now.
    try "later\n".write(toFile: file, atomically: false, encoding: .utf8)
    #expect(
      try daemon.run("edit", "1", "--text", "-", input: String(contentsOfFile: file, encoding: .utf8)).status == 0)
    #expect(try daemon.run("edit", "1", "--text", "hello").status == 0)
    // A text that was committed needs no file.
    let saved = try daemon.run("edit", "1", environment: ["VISUAL": "sed -i s/hello/bye/", "TMPDIR": daemon.home.path])
    #expect(saved.status == 0 && saved.output == "#1 bye\n", "\(saved.errors)")
    let names = try FileManager.default.contentsOfDirectory(atPath: daemon.home.path)
    #expect(!names.contains { $0.hasPrefix("stickies-") }, "\(names)")
    #expect(daemon.stop() == 0)
  }

  @Test func missingEditorIsReportedWithoutAFile() throws {
    let daemon = try Daemon()
    try daemon.start()
    try daemon.run("add", "hello")
    let edited = try daemon.run("edit", "1", environment: ["VISUAL": "no-such-editor"])
    #expect(edited.status == 1)
    #expect(edited.errors.contains("there is no editor no-such-editor, and the note is unchanged: set VISUAL"))
    #expect(Self.file(edited.errors) == nil)
    #expect(daemon.stop() == 0)
  }

  private static func edit(_ daemon: Daemon, _ editor: String) async throws -> Daemon.Result {
    try daemon.run("edit", "1", environment: ["VISUAL": editor])
  }

  /// An editor with its own window may touch the file, or write the same text again, before it returns.
  @Test(arguments: ["touch \"$1\"", "cat \"$1\" > \"$1.new\"; mv \"$1.new\" \"$1\"", "echo >> \"$1\""])
  func editorThatOnlyTouchesItsFileKeepsIt(opening: String) throws {
    let daemon = try Daemon()
    try daemon.start()
    try daemon.run("add", "hello")
    let script = daemon.home.path + "/editor"
    try opening.write(toFile: script, atomically: false, encoding: .utf8)
    let edited = try daemon.run("edit", "1", environment: ["VISUAL": "sh \(script)"])
    #expect(edited.status == 1)
    #expect(edited.errors.contains("the editor (sh \(script)) returned at once"), "\(edited.errors)")
    let file = try #require(Self.file(edited.errors))
    defer { try? FileManager.default.removeItem(atPath: (file as NSString).deletingLastPathComponent) }
    #expect(FileManager.default.fileExists(atPath: file))
    #expect(try daemon.run("show", "1", "--json").json()["text"] == .string("hello"))
    #expect(daemon.stop() == 0)
  }

  @Test func unchangedTextFromEditorIsAccepted() throws {
    let daemon = try Daemon()
    try daemon.start()
    try daemon.run("add", "hello")
    let script = daemon.home.path + "/editor"
    try "sleep 2.4; touch \"$1\"".write(toFile: script, atomically: false, encoding: .utf8)
    let edited = try daemon.run(
      "edit", "1", environment: ["VISUAL": "sh \(script)", "TMPDIR": daemon.home.path])
    #expect(edited.status == 0 && edited.errors.isEmpty, "\(edited.errors)")
    let names = try FileManager.default.contentsOfDirectory(atPath: daemon.home.path)
    #expect(!names.contains { $0.hasPrefix("stickies-") }, "\(names)")
    #expect(daemon.stop() == 0)
  }

  /// The editor ends the file with a line ending, and begins it with a byte order mark, which the user did not type.
  @Test func lineEndingsAndMarksOfOtherSystemsAreNoText() throws {
    let daemon = try Daemon()
    try daemon.start()
    try daemon.run("add", "hello")
    let script = daemon.home.path + "/editor"
    for (written, text) in [
      (#"one\r\ntwo\r\n"#, "one\r\ntwo"), (#"\357\273\277bye\n"#, "bye"), (#"a\r\n\r\n"#, "a\r\n"),
      (#"a\r\n\r\n"#, "a\r\n\r\n"),
    ] {
      try "printf '\(written)' > \"$1\"".write(toFile: script, atomically: false, encoding: .utf8)
      let edited = try daemon.run("edit", "1", environment: ["VISUAL": "sh \(script)"])
      #expect(edited.status == 0, "\(edited.errors)")
      #expect(try daemon.run("show", "1", "--json").json()["text"] == .string(text), "\(written)")
    }
    #expect(try daemon.run("edit", "1", "--text", "-", input: "\u{FEFF}a\r\nb\r\n").status == 0)
    #expect(try daemon.run("show", "1", "--json").json()["text"] == .string("a\r\nb"))
    #expect(daemon.stop() == 0)
  }

  @Test(arguments: ["", " "])
  func emptyVisualVariableIsIgnored(visual: String) throws {
    let daemon = try Daemon()
    try daemon.start()
    try daemon.run("add", "hello")
    let edited = try daemon.run("edit", "1", environment: ["VISUAL": visual, "EDITOR": "sed -i s/hello/bye/"])
    #expect(edited.status == 0)
    #expect(edited.output.contains("bye"))
    #expect(daemon.stop() == 0)
  }

  @Test func editWaitsForReconnectAfterEditorCloses() async throws {
    let daemon = try Daemon()
    try daemon.start()
    try daemon.run("add", "hello")
    let script = daemon.home.path + "/editor"
    try "kill -9 \(daemon.process.processIdentifier); echo bye > \"$1\"".write(
      toFile: script, atomically: false, encoding: .utf8)
    async let edited = Self.edit(daemon, "sh \(script)")
    daemon.process.waitUntilExit()
    try daemon.start()
    let result = try await edited
    #expect(result.status == 0, "\(result.errors)")
    #expect(try daemon.run("show", "1", "--json").json()["text"] == .string("bye"))
    #expect(daemon.stop() == 0)
  }
}
