import Testing

@testable import GraphShell

@Suite struct TextTableTests {
  @Test func columnsAreAligned() {
    var table = TextTable(["ID", "NAME"])
    table.append(["1", "Ann"])
    table.append(["100", "Bob"])
    #expect(table.text(width: .max) == "ID   NAME\n1    Ann\n100  Bob")
  }

  @Test func tableWithoutRowsIsEmpty() { #expect(TextTable(["ID"]).text(width: 80).isEmpty) }

  @Test func lastColumnIsCutAtTerminalWidth() {
    var table = TextTable(["ID", "NAME"])
    table.append(["1", "Annabelle"])
    #expect(table.text(width: 10) == "ID  NAME\n1   Annab…")
  }

  @Test func headerIsPrintedWithFirstPartOnly() {
    var table = TextTable(["ID", "NAME"])
    table.append(["1", "Ann"])
    #expect(table.newRowsText(width: .max) == "ID  NAME\n1   Ann")
    table.append(["2", "Bob"])
    #expect(table.newRowsText(width: .max) == "2   Bob")
    #expect(table.newRowsText(width: .max).isEmpty)
  }

  @Test func cellHasFirstNonblankLineWithoutControlCharacters() {
    #expect(TextTable.firstLine("\n\nHello\nWorld") == "Hello")
    #expect(!TextTable.firstLine("a\u{1B}[31mb").unicodeScalars.contains("\u{1B}"))
    #expect(TextTable.firstLine(String(repeating: "x", count: 500)).count == TextTable.longestLine)
    let longest = String(repeating: "x", count: TextTable.longestLine)
    #expect(TextTable.firstLine(longest + "\nnext") == longest)
    #expect(TextTable.firstLine(longest + "x\nnext") == longest.dropLast() + "…")
    #expect(TextTable.firstLine("a b\r\nc") == "a b" && TextTable.firstLine("a\u{301}\nb") == "a\u{301}")
    #expect(TextTable.firstLine("").isEmpty)
  }

  @Test func cellLimitsMarksOfCharacter() {
    let marked = "a" + String(repeating: "\u{301}", count: 100_000)
    #expect(TextTable.firstLine(marked).unicodeScalars.count == 4 * TextTable.longestLine + 1)
    #expect(TextTable.firstLine("abc\n" + marked) == "abc")
    #expect(TextTable.firstLine("abc" + marked) == "abc…")
    #expect(TextChange.quoted("abc" + marked) == "\"abc…\"")
    let whole = String(repeating: "x", count: 4 * TextTable.longestLine)
    #expect(TextTable.firstLine(whole + "\nnext").count == TextTable.longestLine)
  }

  @Test func wideCharactersTakeTwoCells() {
    #expect(TextTable.width("abc") == 3)
    #expect(TextTable.width("日本") == 4)
    #expect(TextTable.width("e\u{301}") == 1)
  }

  @Test func namesOfColumnsCannotControlTheTerminal() {
    var table = TextTable(["A\u{1B}[2JB", "C\nD"])
    table.append(["1", "2"])
    #expect(table.text(width: 80).split(separator: "\n").first == "A\u{FFFD}[2JB  C\u{FFFD}D")
  }

  @Test func linesOfMessageCannotControlTheTerminal() {
    #expect(TextTable.visibleLines("a\u{1B}[2J\nb\rc") == "a\u{FFFD}[2J\nb\u{FFFD}c")
  }
}
