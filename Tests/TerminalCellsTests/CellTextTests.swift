import Foundation
import GraphTesting
import Testing

@testable import TerminalCells

@Suite struct CellTextTests {
  /// Comparing such a character with another one would sort its marks by insertion, for minutes.
  @Test(.timeLimit(.minutes(1))) func letterWithManyMarksIsLaidOutAtOnce() {
    let marked = "a" + String(repeating: "\u{301}\u{323}", count: 200_000)
    #expect(CellText.width(of: marked) == 1)
    #expect(TextLayout("\(marked) b", width: 10).rows.count == 1)
  }

  private func drawn(_ text: String) -> [String] { text.flatMap(CellText.glyphs).map(\.text) }

  @Test(arguments: [
    ("abc", 3, ["a", "b", "c"]), ("日本", 4, ["日", "本"]), ("é", 1, ["é"]), ("e\u{301}", 1, ["e\u{301}"]),
    // A family, a skin tone, a flag, a heart made an emoji, a key cap.
    ("👨‍👩‍👧", 2, ["👨"]), ("👍🏽", 2, ["👍"]), ("🇩🇪", 2, ["D", "E"]), ("❤️", 1, ["❤"]), ("1️⃣", 1, ["1"]),
    // A third mark is left out.
    ("o\u{301}\u{302}\u{303}", 1, ["o\u{301}\u{302}"]),
    // Jamo, and a vowel of Devanagari that has a cell of its own.
    ("\u{1112}\u{1161}\u{11AB}", 2, ["\u{1112}\u{1161}\u{11AB}"]), ("नि", 2, ["न", "ि"]),
    ("a\u{200B}\u{FEFF}\u{AD}b", 2, ["a", "b"]), ("\u{202E}abc\u{2066}", 3, ["a", "b", "c"]),
    ("שלום", 4, ["ש", "ל", "ו", "ם"]),
    ("\u{1B}[2J", 4, ["␛", "[", "2", "J"]), ("\u{9B}1m", 3, ["\u{FFFD}", "1", "m"]), ("\u{7F}\0", 2, ["␡", "␀"]),
    ("\n", 1, ["␊"]), ("\r\n", 1, ["␊"]), ("\u{2028}", 1, ["␤"]), ("\t", 4, [" ", " ", " ", " "]), ("", 0, []),
    ("\u{301}", 1, [" \u{301}"]),
  ])
  func charactersHaveExpectedGlyphs(text: String, width: Int, glyphs: [String]) {
    #expect(CellText.width(of: text) == width)
    #expect(drawn(text).map { Array($0.unicodeScalars) } == glyphs.map { Array($0.unicodeScalars) })
  }

  @Test func controlCharactersNeverReachTerminal() {
    for value in UInt32(0)...0x2FFF {
      guard let scalar = Unicode.Scalar(value) else { continue }
      for text in drawn(String(Character(scalar))) + drawn("a" + String(Character(scalar))) {
        #expect(text.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) })
        #expect(text.unicodeScalars.allSatisfy { ![0x200E, 0x200F, 0x202E, 0x2067].contains($0.value) })
      }
    }
  }

  @Test func glyphWidthEqualsCharacterWidth() {
    for seed in UInt64(0)..<100 {
      var random = SeededGenerator(seed: seed)
      for character in random.text(30) {
        #expect(CellText.glyphs(of: character).reduce(0) { $0 + $1.width } == CellText.width(of: character))
      }
    }
  }

  @Test func emojiTableIsSortedAndComplete() {
    for (range, next) in zip(wideRanges, wideRanges.dropFirst()) { #expect(range.high + 1 < next.low) }
    for value in UInt32(0x100)...0x1FAFF {
      guard let scalar = Unicode.Scalar(value), scalar.properties.isEmojiPresentation else { continue }
      // Letters of flags are drawn as letters.
      if (0x1F1E6...0x1F1FF).contains(value) { continue }
      // Newer than the terminals of today.
      if let age = scalar.properties.age, age.major > 16 { continue }
      #expect(CellText.width(of: scalar) == 2, "\(String(value, radix: 16))")
    }
  }

  /// `scripts/width-table` knows Unicode's data from python3; without one there is nothing to compare with.
  @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/env")))
  func emojiTableMatchesUnicode() throws {
    let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appendingPathComponent("scripts/width-table")
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["python3", script.path, "--list"]
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    let lines = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self).split(
      separator: "\n")
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { return }
    #expect(lines.count > 100)
    for line in lines.dropFirst() {
      let ends = line.split(separator: " ").compactMap { UInt32($0, radix: 16) }
      for value in ends[0]...ends[1] {
        let isInside = wideRanges.contains { $0.low <= value && value <= $0.high }
        #expect(isInside, "\(String(value, radix: 16)) is wide")
      }
    }
  }
}
