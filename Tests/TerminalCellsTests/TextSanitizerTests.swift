import TerminalCells
import Testing

/// Output of programs that draws nothing.
@Suite struct TextSanitizerTests {
  private static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

  @Test func printedLineKeepsColumns() {
    let table = [
      ("plain", "plain"), ("a\tb", "a b"), ("a\r\nb", "a\u{FFFD}\u{FFFD}b"), ("\u{1B}[31mred", "\u{FFFD}[31mred"),
      ("\u{9B}31m", "\u{FFFD}31m"), ("abc\u{202E}cba", "abccba"), ("\u{2066}x\u{2069}\u{200F}", "x"),
      ("no\u{200B}te\u{AD}s\u{FEFF}\u{2060}", "notes"), ("a\u{2028}b", "a\u{FFFD}b"), ("👨‍👩‍👧 ❤️", "👨‍👩‍👧 ❤️"),
      ("می‌خواهم", "می‌خواهم"),
      ("🏴\u{E0067}\u{E0062}\u{E007F}x\u{E0041}", "🏴\u{E0067}\u{E0062}\u{E007F}x"), ("שלום", "שלום"),
      ("e\u{301}", "e\u{301}"),
    ]
    for (text, line) in table {
      #expect(Self.bytes(TextSanitizer.line(text)) == Self.bytes(line), "\(text.debugDescription)")
    }
  }

  @Test func printedTextIsCompleteInFileAndEscapedOnTerminal() {
    let table = [
      ("a\tb\nc", "a\tb\nc", "a\tb\nc"),
      ("a\r\nb\r\n\r\n", "a\nb\n\n", "a\r\nb\r\n\r\n"),
      ("a\rb", "a\nb", "a\rb"),
      ("\u{1B}[2J\u{7}\u{9B}1m\u{7F}", "\\u{1B}[2J\\u{7}\\u{9B}1m\\u{7F}", "\\u{1B}[2J\\u{7}\\u{9B}1m\\u{7F}"),
      ("abc\u{202E}x\u{200B}", "abc\\u{202E}x\\u{200B}", "abc\u{202E}x\u{200B}"),
      ("a\u{2028}b", "a\\u{2028}b", "a\u{2028}b"), ("👨‍👩‍👧 ❤️ e\u{301}", "👨‍👩‍👧 ❤️ e\u{301}", "👨‍👩‍👧 ❤️ e\u{301}"),
    ]
    for (text, terminal, file) in table {
      #expect(
        Self.bytes(TextSanitizer.whole(text, for: .terminal)) == Self.bytes(terminal), "\(text.debugDescription)")
      #expect(Self.bytes(TextSanitizer.whole(text, for: .file)) == Self.bytes(file), "\(text.debugDescription)")
    }
  }
}
