import Foundation
import Testing

@testable import TerminalCells

@Suite struct TerminalSequencesTests {
  @Test func clipboardIsWrittenInBase64() throws {
    for count in 0..<20 {
      let text = String("a clipboard, é日".prefix(count))
      let bytes = try #require(TerminalSequences.clipboard(text))
      let said = String(decoding: bytes, as: UTF8.self)
      #expect(said == "\u{1B}]52;c;\(Data(text.utf8).base64EncodedString())\u{1B}\\")
    }
    #expect(TerminalSequences.clipboard(String(repeating: "x", count: TerminalSequences.maximumClipboard + 1)) == nil)
  }

  @Test func titleCannotEndItsSequence() {
    let bytes = TerminalSequences.title("a\u{7}\u{1B}\\b\u{9C}c")
    #expect(String(decoding: bytes, as: UTF8.self) == "\u{1B}]2;a\\bc\u{1B}\\")
  }

  @Test func everyEnabledModeIsDisabledAgain() throws {
    let enter = String(decoding: TerminalSequences.enter, as: UTF8.self)
    let leave = String(decoding: TerminalSequences.leave, as: UTF8.self)
    for match in enter.matches(of: #/\x{1B}\[\?(\d+)([hl])/#) {
      #expect(leave.contains("\u{1B}[?\(match.output.1)\(match.output.2 == "h" ? "l" : "h")"))
    }
    #expect(enter.contains("\u{1B}[>5u") && leave.contains("\u{1B}[<u"))
    #expect(leave.hasSuffix("\u{1B}[?1049l"))
  }
}
