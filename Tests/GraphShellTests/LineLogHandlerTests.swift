import CommandLineIO
import GraphModel
import Logging
import Synchronization
import Testing

/// The log lines of a daemon whose clients choose their texts.
@Suite struct LineLogHandlerTests {
  private final class Output: TextOutputStream, Sendable {
    let text = Mutex("")

    func write(_ string: String) { text.withLock { $0 += string } }
  }

  private let output = Output()

  private func handler() -> LineLogHandler {
    LineLogHandler(StreamLogHandler(label: "daemon", stream: output, metadataProvider: nil))
  }

  /// The log's lines without their times.
  private func lines() throws -> [String] {
    let text = output.text.withLock { $0 }
    try #require(text.hasSuffix("\n"))
    return text.dropLast().split(separator: "\n", omittingEmptySubsequences: false).map { line in
      String(line.drop { $0 != " " }.dropFirst())
    }
  }

  private func log(_ message: Logger.Message, _ metadata: Logger.Metadata) throws -> [String] {
    let log = Logger(label: "daemon") { _ in handler() }
    log.warning(message, metadata: metadata, source: "Tests")
    return try lines()
  }

  @Test(arguments: [
    ("ann", "ann"), ("Zoë 猫", "Zoë 猫"), ("a\nb", "a\\u{a}b"), ("\u{1B}[2J", "\\u{1b}[2J"),
    ("a\u{202E}b", "a\\u{202e}b"), ("a\u{2028}b\r", "a\\u{2028}b\\u{d}"), ("a\u{200B}b", "a\\u{200b}b"),
    ("\u{9B}m", "\\u{9b}m"), ("a\r\nb", "a\\u{d}\\u{a}b"), ("a\u{2066}b\u{2069}", "a\\u{2066}b\\u{2069}"),
    ("a\u{E0041}", "a\\u{e0041}"), ("a\u{3164}b", "a\\u{3164}b"), ("❤\u{FE0F}", "❤\u{FE0F}"),
  ])
  func textStaysOnItsLine(text: String, line: String) {
    #expect(text.escapedForLine == line)
  }

  @Test func fieldsOfEventAreOneLine() throws {
    let forged = "ann\n2026-11-21T13:51:57+0000 critical daemon: [Server] the store is lost"
    let lines = try log("refused", ["author": "\(forged)"])
    #expect(
      lines == [
        #"warning daemon: author="ann\u{a}2026-11-21T13:51:57+0000 critical daemon: [Server] the store is lost" "#
          + "[Tests] refused"
      ])
  }

  @Test func messageIsEscaped() throws {
    #expect(try log("no\r\nlf \u{202E}x", [:]) == ["warning daemon: [Tests] no\\u{d}\\u{a}lf \\u{202e}x"])
  }

  @Test(arguments: [
    ("ann", "ann"), ("", #""""#), ("a b", #""a b""#), ("a=b", #""a=b""#), (#"a" b="c"#, #""a\" b=\"c""#),
    ("user:ann", "user:ann"), ("a \u{301}b", "\"a \u{301}b\""), ("a\"\u{301} b", "\"a\\\"\u{301} b\""),
    ("a\u{2003}b", "\"a\u{2003}b\""), (#"a\b"#, #""a\\b""#),
    (#"a\" role=owner x=""#, #""a\\\" role=owner x=\"""#),
  ])
  func valueCannotImitateField(value: String, written: String) throws {
    #expect(try log("m", ["author": "\(value)", "z": "1"]) == ["warning daemon: author=\(written) z=1 [Tests] m"])
  }

  @Test func nestedValuesAndErrorsAreEscaped() throws {
    struct Failure: Error, CustomStringConvertible {
      let description = "x\ny"
    }
    let log = Logger(label: "daemon") { _ in handler() }
    log.info("m", metadata: ["list": ["a\nb", ["c": "d\u{1B}"]]], source: "Tests")
    log.info("m", error: Failure(), source: "Tests")
    let lines = try lines()
    #expect(lines.count == 2 && !lines.joined().contains("\u{1B}"), "\(lines)")
    #expect(lines[1].contains(#"error.message=x\u{a}y error.type="#), "\(lines)")
  }

  @Test func metadataOfLoggerIsEscaped() throws {
    var log = Logger(label: "daemon") { _ in handler() }
    log[metadataKey: "author"] = "a\nb"
    #expect(log[metadataKey: "author"] == "a\nb")
    log.info("first", source: "Tests")
    log.info("second", metadata: ["n": "1"], source: "Tests")
    #expect(
      try lines() == [
        #"info daemon: author=a\u{a}b [Tests] first"#, #"info daemon: author=a\u{a}b n=1 [Tests] second"#,
      ]
    )
  }

  @Test func longTextLeavesSpaceForMessage() throws {
    let limit = LineLogHandler.maximumScalars
    // One character of any number of marks.
    for letter in ["x", "\u{301}"] {
      output.text.withLock { $0 = "" }
      let fitting = String(repeating: letter, count: limit)
      _ = try log("m", ["author": "\(fitting)"])
      let lines = try log("m", ["author": "\(fitting)\(letter)"])
      let written = lines.map { line in line.unicodeScalars.count { String($0) == letter } }
      #expect(written == [limit, limit], "\(letter)")
      #expect(Array(lines[1].unicodeScalars.suffix(12)) == Array("\(letter)… [Tests] m".unicodeScalars), "\(letter)")
    }
  }

  @Test func secretOfTokenIsNotLogged() throws {
    let secret = "stk_th3jfd4mgg5xtspzhpu36oljyjnw3sucgfvkpybij25m2y5xr6pckh5zlsdx2feuq5hvp6a"
    #expect(try log("m \(secret)", ["author": "\(secret)"]) == ["warning daemon: author=stk_th3j… [Tests] m stk_th3j…"])
  }
}
