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
  }

  @Test func wideCharactersTakeTwoCells() {
    #expect(TextTable.width("abc") == 3)
    #expect(TextTable.width("日本") == 4)
    #expect(TextTable.width("e\u{301}") == 1)
  }
}
